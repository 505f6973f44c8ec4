# SPDX-License-Identifier: Apache-2.0
"""One function for each kind of scenario. It fills the rows, one for each peer."""
import contextlib
import subprocess
import threading
import time

from . import figures, load
from .lab import await_ready
from .peers import java
from .processes import Failed, Process, end_all
from .scenarios import Scenario


@contextlib.contextmanager
def troubles(row):
    """A driver that fails voids only its own row."""
    try:
        yield
    except (Failed, figures.BadAnswer) as error:
        row.give_up(str(error))


@contextlib.contextmanager
def ready(lab, rows):
    """Starts the drivers of all rows together. Yields those that could be started, and ends them."""
    running = {}
    try:
        for row in rows:
            with troubles(row):
                running[row] = lab.start(row.peer, row.scenario)
        for row, drivers in running.items():
            with troubles(row):
                await_ready(drivers)
        yield {row: drivers for row, drivers in running.items() if not row.void}
    finally:
        end_all(driver for drivers in running.values() for driver in drivers)


def in_turn(lab, rows, count, once):
    """Runs this many rounds of each row, in random order across the peers."""
    for number in range(count):
        order = [row for row in rows if not row.void]
        lab.random.shuffle(order)
        for row in order:
            if number > 0 and lab.time_is_up():
                row.notes.append(f"{number} of {count} rounds, for lack of time")
                continue
            with troubles(row):
                once(row)


def compared(rows):
    """Returns the rows that have a target, and ours. They get more rounds."""
    targets = rows[0].scenario.targets if rows else {}
    return [row for row in rows if targets and (row.peer.key == "zkr" or row.peer.key in targets)]


def warm_up(lab, running):
    for row, drivers in running.items():
        with troubles(row):
            lab.round(row, drivers, row.peer.warm_for(len(drivers)))


def warm_servers(lab, zkr, seconds):
    """Warms up ZooKeeper, whose virtual machine compiles while it runs. Otherwise the first peer would be slower."""
    crowd = Scenario("warm", "", sessions=8, hold_us=0)
    drivers = lab.drivers(zkr, crowd)
    try:
        drivers[0].ask(f"cycle {seconds}", seconds + 30)
    finally:
        end_all(drivers)


def placed(lab, row, drivers):
    """Runs servers and clients on the processors that the scenario requires."""
    if not row.scenario.apart:
        return contextlib.nullcontext()
    servers = lab.servers[row.peer.servers].processes
    return load.apart([process.pid for process in servers], [driver.pid for driver in drivers])


def cycle(lab, rows):
    with ready(lab, rows) as running:
        warm_up(lab, running)

        def once(row):
            servers = lab.servers[row.peer.servers]

            def try_it():
                with placed(lab, row, running[row]):
                    before = servers.traffic()
                    told = lab.round(row, running[row], lab.seconds)
                    return *told, before, servers.traffic()
            result, cpu, answers, before, after = lab.undisturbed(row, running[row], try_it)
            row.rounds.append(result)
            row.cpu.append(cpu)
            if before:
                holds = max(1, figures.holds_in(answers))
                row.to.append((after[0] - before[0]) / holds)
                row.back.append((after[1] - before[1]) / holds)
        in_turn(lab, list(running), lab.rounds, once)
        in_turn(lab, compared(list(running)), lab.rounds, once)


def stock(lab, rows):
    """Measures the milliseconds until the last unit is sold."""
    with ready(lab, rows) as running:
        warm_up(lab, running)

        def once(row):
            result, cpu, answers = lab.round(row, running[row], lab.seconds)
            row.rounds.append(result)
            row.cpu.append(cpu)
            holds = figures.holds_of(answers, 1)[0]
            if len(holds) < row.scenario.count:
                row.notes.append(f"only {len(holds)} in {lab.seconds} s")
            else:
                last = holds[row.scenario.count - 1][1]
                row.values.setdefault("sold", []).append(
                    (last - min(answer["from"] for answer in answers)) / 1e6)
        in_turn(lab, list(running), lab.rounds, once)


def settle(lab, row, waiters):
    """Waits until all contenders wait. Returns the milliseconds until all were queued, or None if unknown."""
    servers = lab.servers[row.peer.servers]
    if row.peer.servers != "zookeeper":
        time.sleep(1)
        return None
    begin = time.monotonic()
    while int(servers.monitor(servers.ports[0])["zk_ephemerals_count"]) <= waiters:
        if time.monotonic() > begin + 60:
            raise Failed(f"{waiters} waiters are not in the queue after a minute")
        time.sleep(0.02)
    joined = time.monotonic() - begin
    packets = -1000
    while servers.packets() - packets > 40:
        packets = servers.packets()
        time.sleep(0.3)
    return joined * 1e3


def drain_once(lab, row, counted):
    scenario, peer = row.scenario, row.peer
    path = lab.path(peer, scenario)
    holder = lab.drivers(peer, scenario, path, 1, sessions=1, threads=1)
    crowd = []
    try:
        crowd = lab.drivers(peer, scenario, path, counted=counted)
        before = sum(load.resident_of(driver.pid) for driver in crowd)
        holder[0].ask("hold", 30)
        for driver in crowd:
            driver.say("once")
        joined = settle(lab, row, scenario.count)
        after = sum(load.resident_of(driver.pid) for driver in crowd)
        proxied = lab.proxy(peer).bytes() if counted else 0
        gone = holder[0].ask("release", 30)["at"]
        answers = [driver.hear_json(120) for driver in crowd]
        for answer in answers:
            figures.check_answer(answer, scenario.sessions * scenario.threads)
        holds = figures.holds_of(answers, 1)[0]
        if figures.overlaps(holds):
            row.give_up(f"held by too many at once, {figures.overlaps(holds)} times")
        if counted:
            row.values["bytes"] = (lab.proxy(peer).bytes() - proxied) / scenario.count
            return
        row.values.setdefault("drained", []).append((holds[-1][1] - gone) / 1e6)
        row.values.setdefault("handover", []).extend(
            t / 1e3 for t in figures.handovers_of(holds))
        row.values.setdefault("memory", []).append((after - before) / 1024 / scenario.count)
        if joined is not None:
            row.values.setdefault("joined", []).append(joined)
    finally:
        end_all(holder + crowd)


def drain(lab, rows):
    """A long drain runs only once, except for the compared rows."""
    scenario = rows[0].scenario
    in_turn(lab, rows, 1 if scenario.count >= 1000 else lab.rounds,
            lambda row: drain_once(lab, row, False))
    in_turn(lab, compared(rows), lab.rounds - 1, lambda row: drain_once(lab, row, False))
    if scenario.count > 1000:
        return
    countable = [row for row in rows if row.peer.servers in ("zookeeper", "etcd")]
    in_turn(lab, countable, 1, lambda row: drain_once(lab, row, True))


def try_held(lab, rows):
    for row in rows:
        with troubles(row):
            path = lab.path(row.peer, row.scenario)
            both = []
            try:
                for _ in range(2):
                    both += lab.drivers(row.peer, row.scenario, path)
                both[0].ask("hold", 30)
                both[1].ask(f"try {row.peer.warm_for(1)}", 60)

                def once(driver=both[1]):
                    return driver.ask(f"try {lab.seconds}", 60)
                answer = lab.undisturbed(row, both, once)
                figures.check_answer(answer, 1)
                if any(answer["grants"][0][2::3]):
                    row.give_up("a try got what another held")
                row.rounds.append(figures.judge([answer], 1))
            finally:
                end_all(both)


def failover(lab, rows):
    """Measures clean stops one after the other. Kills, which mostly wait, run all at once."""
    guarded = [row for row in rows if "die" in row.peer.works]
    rows = [row for row in rows if row not in guarded]
    waiting = {}
    try:
        for row in rows:
            take = "lead" if "lead" in row.peer.works else "hold"
            with troubles(row):
                for after in ("stop", "kill"):
                    path = lab.path(row.peer, row.scenario)
                    pair = waiting[row, after] = []
                    for _ in range(2):
                        pair += lab.drivers(row.peer, row.scenario, path,
                                            ttl_ms=row.scenario.ttl_ms)
                    pair[0].ask(take, 30)
                    pair[1].say(take)
        time.sleep(1)
        for (row, after), pair in waiting.items():
            with troubles(row):
                if after == "stop" and len(pair) == 2:
                    give = "resign" if "lead" in row.peer.works else "release"
                    gone = pair[0].ask(give, 30)["at"]
                    row.values["stop"] = (pair[1].hear_json(30)["at"] - gone) / 1e6
        killed = {}
        for (row, after), pair in waiting.items():
            if after == "kill" and len(pair) == 2 and not row.void:
                killed[row] = time.monotonic_ns()
                pair[0].kill()
        for row in guarded:  # while the other rows wait
            with troubles(row):
                kill_in_a_row(lab, row)
        for row, gone in killed.items():
            with troubles(row):
                patience = 30 + row.scenario.ttl_ms / 1000
                next_one = waiting[row, "kill"][1].hear_json(patience)["at"]
                row.values["kill"] = (next_one - gone) / 1e6
    finally:
        end_all(driver for pair in waiting.values() for driver in pair)


def start_taker(lab, row, path):
    """Starts a process that requests the lock. Returns it, and a function that waits for the grant time."""
    ttl_ms = row.scenario.ttl_ms
    if row.peer.key != "zkr-lock":
        driver = lab.drivers(row.peer, row.scenario, path, ttl_ms=ttl_ms)[0]
        driver.say("hold")
        return driver, lambda: driver.hear_json(30)["at"]
    words = [*row.peer.argv(lab.build), "-z", lab.address(row.peer), "-t", str(ttl_ms), "lock",
             path, "sh", "-c", "echo has it; exec sleep 600"]
    zkr = Process(words, f"{lab.room}/{row.peer.key}.log")

    def taken():
        zkr.hear(30)
        return time.monotonic_ns()
    return zkr, taken


def kill_in_a_row(lab, row, kills=50, queued=0.2):
    """Kills the holder, so that the next process holds, again and again."""
    path = lab.path(row.peer, row.scenario)
    times = row.values["kill"] = []
    processes = []
    try:
        holder, taken = start_taker(lab, row, path)
        processes.append(holder)
        taken()
        while len(times) < kills and not lab.time_is_up():
            waiter, taken = start_taker(lab, row, path)
            processes.append(waiter)
            time.sleep(queued)
            gone = time.monotonic_ns()
            holder.kill()
            times.append((taken() - gone) / 1e6)
            holder = waiter
    finally:
        end_all(processes)


def idle(lab, rows, seconds=3):
    """Measures the cost of a hold at rest."""
    for row in rows:
        with troubles(row):
            servers = lab.servers["zookeeper"]
            drivers = lab.drivers(row.peer, row.scenario)
            try:
                drivers[0].ask("hold", 30)
                time.sleep(1)
                packets, cpu = servers.packets(), load.cpu_of(drivers[0].pid)
                time.sleep(seconds)
                # The query itself is a packet, too.
                packets = servers.packets() - packets - len(servers.ports)
                row.values["requests"] = packets / seconds
                row.values["cpu"] = (load.cpu_of(drivers[0].pid) - cpu) / seconds * 1e3
            finally:
                end_all(drivers)


def commands(lab, tools):
    """Returns the command that runs a command under a lock, by peer."""
    def at(kind):
        return lab.servers[kind].address if kind in lab.servers else ""
    return {
        "zkr": [tools + "/zkr", "-z", at("zookeeper"), "lock"],
        "curator": [w.format(build=lab.build) for w in java("CuratorLock")] + [at("zookeeper")],
        "etcd": ["env", "ETCDCTL_API=3", "etcdctl", "--endpoints", at("etcd"), "lock"],
        "flock": ["flock"],
    }


def command(lab, rows, tools):
    table = commands(lab, tools)

    def runs(row, path, seconds, count, log):
        """Returns the runs per second of this many loops at the same time."""
        done = [0] * count
        until = time.monotonic() + seconds
        words = [*table[row.peer.key], path, lab.build + "/witness",
                 f"{lab.room}/witness-{row.peer.key}"]
        failed = []

        def loop(number):
            while time.monotonic() < until or not done[number]:
                if subprocess.call(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log):
                    failed.append(number)
                    return
                done[number] += 1
        threads = [threading.Thread(target=loop, args=[i]) for i in range(count)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise Failed("the command failed")
        return sum(done) / (time.monotonic() - begin)

    def once(row):
        path = lab.path(row.peer, row.scenario)
        name = f"{lab.room}/command-{row.peer.key}.log"
        with open(name, "ab") as log:
            try:
                for count, title in ((1, "one"), (8, "eight")):
                    row.values.setdefault(title, []).append(
                        runs(row, path, 2 * lab.seconds, count, log))
            except Failed as error:
                with open(name, encoding="utf-8", errors="replace") as file:
                    said = file.read()
                raise Failed("held by too many at once" if "not alone" in said
                             else f"{error}: {said.strip()[-200:]}") from error
    in_turn(lab, rows, max(1, lab.rounds - 1), once)


KINDS = {"cycle": cycle, "stock": stock, "drain": drain, "try": try_held, "failover": failover,
         "idle": idle, "command": command}
NEEDS = {"cycle": "cycle", "stock": "cycle", "drain": "once", "try": "try", "failover": "hold",
         "idle": "hold", "command": "cycle"}


def why_not(peer, scenario):
    """Returns why a peer does not take part, or None."""
    if "die" in peer.works and scenario.kind != "failover":
        return "because they differ only after a kill of the holder"
    if NEEDS[scenario.kind] not in (*peer.works, "hold" if "die" in peer.works else "") or \
            peer.alone and (scenario.kind != "cycle" or scenario.contenders > 1):
        return "because they have no such operation"
    if scenario.lock not in peer.locks:
        return "because their drivers support only mutexes"
    if scenario.kind == "command" and peer.key not in ("zkr", "curator", "etcd", "flock"):
        return "because they have no command"
    if scenario.delay_ms and peer.servers == "files":
        return "because they need no network"
    if scenario.kind == "idle" and peer.servers != "zookeeper":
        return "because only ZooKeeper counts requests"
    if scenario.count > peer.most_waiters:
        return f"because they are limited to {peer.most_waiters} threads or connections"
    return None


def measure(lab, rows, tools):
    rows = [row for row in rows if not row.left_out]
    kind = rows[0].scenario.kind
    if kind == "command":
        command(lab, rows, tools)
    else:
        KINDS[kind](lab, rows)
