#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""./run bench: compares zkrecipes with its peers. See README.md."""
import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time

from runner import measure, processes, report, servers
from runner.lab import Lab, Row, say
from runner.peers import PEERS
from runner.scenarios import SCENARIOS

NUMBERS = {1: "one", 3: "three"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments():
    parser = argparse.ArgumentParser(prog="./run bench")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="two minutes instead of ten")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME",
                        choices=[peer.key for peer in PEERS], help="zkr and these only")
    parser.add_argument("--scenario", action="append", default=[], metavar="NAME",
                        choices=[scenario.key for scenario in SCENARIOS], help="these only")
    parser.add_argument("--list", action="store_true", help="names of peers and scenarios")
    parser.add_argument("--zk", type=int, choices=(1, 3), default=1, metavar="N",
                        help="servers of ZooKeeper and etcd: 1 or 3")
    parser.add_argument("--store", choices=("tmpfs", "disk"), default="tmpfs",
                        help="where servers keep their data")
    parser.add_argument("--delay", type=int, default=0, metavar="MS",
                        help="hold back all that goes to servers, and comes from them")
    parser.add_argument("--rounds", type=int, help="of each peer in each scenario")
    parser.add_argument("--seconds", type=float, help="for each round")
    parser.add_argument("--seed", type=int, help="of the order of rounds")
    parser.add_argument("--out", help="directory for the results; build/bench/results")
    parser.add_argument("--readme", action="store_true",
                        help="put table and plot into README.md and bench/results")
    return parser.parse_args()


def chosen(options):
    peers = [peer for peer in PEERS
             if peer.key in options.peer or peer.key == "zkr"
             or not options.peer and not peer.asked_for]
    if options.scenario:
        return peers, [s for s in SCENARIOS if s.key in options.scenario]
    return peers, [s for s in SCENARIOS if s.quick or not options.quick]


def look_for(peers, programs):
    """Returns the peers that can be measured, and why the others cannot."""
    missing = {}
    for peer in peers:
        why = peer.what_is_missing(programs)
        if why:
            missing[peer] = why
            say(f"missing: {peer.name}, which needs {why}")
    return [peer for peer in peers if peer not in missing], missing


def about(options, seed):
    words = [word for word in sys.argv[1:] if not word.startswith("--build")]
    with open("/proc/loadavg", encoding="ascii") as file:
        load = file.read().split()[0]
    return [f"`{' '.join(['./run bench', *words])}`, seed {seed}, {time.strftime('%Y-%m-%d')}: {os.cpu_count()} processors, "
            f"load {load} at the start; servers: {NUMBERS.get(options.zk, options.zk)} ZooKeeper and "
            f"{NUMBERS.get(options.zk, options.zk)} etcd, with data on {options.store}."]


def measure_all(lab, peers, scenarios, tools, words):
    results = []
    begin = time.monotonic()
    for number, scenario in enumerate(scenarios, 1):
        rows = [Row(scenario, peer) for peer in peers]
        for row in rows:
            row.left_out = measure.why_not(row.peer, scenario) or ""
        if all(row.left_out for row in rows):
            continue
        if lab.time_is_up():
            words.append(f"Omitted for lack of time: {scenario.title}.")
            say(words[-1])
            continue
        say(f"[{number}/{len(scenarios)}, {time.monotonic() - begin:.0f} s] {scenario.title}")
        measure.measure(lab, rows, tools)
        results.append(rows)
    return results


def publish(options, results, missing, words):
    out = options.out or os.path.join(options.build, "results")
    os.makedirs(out, exist_ok=True)
    lines = report.write_tables(os.path.join(out, "table.md"), results, missing, words)
    report.write_json(os.path.join(out, "bench.json"), results, missing, words)
    plots = report.write_plots(out, results)
    print("\n".join(lines))
    say(f"written to {out}: table.md, bench.json" + "".join(f", {p}.svg" for p in plots))
    if options.readme:
        place = os.path.join(ROOT, "bench", "results")
        os.makedirs(place, exist_ok=True)
        shown = ["", *words, "", *report.summary(results, missing), "",
                 *report.missing_lines(missing)]
        if "throughput" in plots:
            shutil.copy(os.path.join(out, "throughput.svg"), place)
            shown += ["![Locks per second by number of processes](bench/results/throughput.svg)",
                      ""]
        shutil.copy(os.path.join(out, "table.md"), place)
        report.put_into_readme(os.path.join(ROOT, "README.md"), shown)


def run(options, room):
    seed = options.seed if options.seed is not None else random.randrange(1_000_000)
    words = about(options, seed)
    say(words[0])
    programs = os.path.join(options.build, "bench")
    os.environ["ZKR_GUARDIAN_PATH"] = os.path.join(options.build, "tools/guardian/zkr-guardian")
    peers, scenarios = chosen(options)
    peers, missing = look_for(peers, programs)
    lab = Lab(programs, room, seed, options.seconds or (0.4 if options.quick else 0.5),
              options.rounds or (2 if options.quick else 3), 100 if options.quick else 560)
    lab.delay_ms = options.delay
    lab.servers = servers.start({peer.servers for peer in peers}, room, options.zk)
    if "zookeeper" in lab.servers:
        measure.warm_servers(lab, peers[0], 4 if options.quick else 12)
    results = measure_all(lab, peers, scenarios, os.path.join(options.build, "tools"), words)
    publish(options, results, missing, words)
    return 1 if any(row.void.startswith("held by") for rows in results for row in rows) else 0


def main():
    options = arguments()
    if options.list:
        for each in [*PEERS, *SCENARIOS]:
            print(f"{each.key:16}{getattr(each, 'title', getattr(each, 'name', ''))}")
        return 0
    os.environ["PATH"] += ":/usr/sbin"  # some servers are installed there
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    place = "/dev/shm" if options.store == "tmpfs" and os.path.isdir("/dev/shm") else None
    room = tempfile.mkdtemp(prefix="zkr-bench-", dir=place)
    begin = time.monotonic()
    try:
        return run(options, room)
    except (processes.Failed, OSError) as error:
        say(f"failed: {error}")
        return 1
    finally:
        processes.end_all(processes.started)
        shutil.rmtree(room, ignore_errors=True)
        say(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
