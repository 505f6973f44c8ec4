# SPDX-License-Identifier: Apache-2.0
"""picture.py ZKR PROMETHEUS SVG: three panels of the dashboard, drawn by gnuplot from what Prometheus answers about a real run
of a minute: three contenders on one lock, on the server in $ZKR_SERVERS."""
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import lab  # noqa: E402

NAMES = ["db1", "db2", "db3"]
RULES = os.path.abspath(os.path.join(HERE, "..", "..", "tools", "monitoring", "zkrecipes.rules.yml"))
PANELS = [("Who holds", 'sum by (path, instance) (zkr_held{path=~".*"})'),
          ("Waiting", 'sum by (path) (zkr_waiting{path=~".*"})'),
          ("Remaining lease, of the session timeout",
           'zkr_lease_bound_seconds{path=~".*"} / zkr_session_timeout_seconds > 0')]


def run(zkr, room, prometheus):
    """The one that holds lets go after 10 seconds, and queues again."""
    queue = []
    for name in NAMES:
        queue.append(lab.Holder(zkr, "/locks/backup", room, name))
        query = f'zkr_held{{instance="{name}"}} + zkr_waiting{{instance="{name}"}} == 1'
        lab.soon(lambda query=query: prometheus.holds(query))
    names = list(NAMES)
    for _ in range(5):
        queue[0].await_hold()
        time.sleep(10)
        queue.pop(0).let_go()
        names.append(names.pop(0))
        queue.append(lab.Holder(zkr, "/locks/backup", room, names[-1]))
    for each in queue:
        each.end()


def curves(series, since, lane):
    """Plot commands and their data; with lane, each instance has a line of its own."""
    plots, data = [], []
    for i, (labels, points) in enumerate(sorted(series, key=lambda each: each[0].get("instance", ""))):
        name = labels.get("instance", labels.get("path", ""))
        lines = [f"{t - since:.1f} {i + 1 if lane else v}" if v or not lane else "" for t, v in points]
        data.append(f"$d{lane}{i} << END\n" + "\n".join(lines) + "\nEND")
        plots.append(f"$d{lane}{i} using 1:2 with {'lines lw 12' if lane == 1 else 'steps lw 2'} lc {i + 1} title '{name}'")
    return plots, data


def draw(svg, since, answers):
    text = ["set terminal svg size 860,480 font 'sans,13' background 'white'", f"set output '{svg}'",
            "set multiplot layout 3,1", "set key outside right", "set grid", "set lmargin 8", "set rmargin 20",
            f"set xrange [0:{time.time() - since:.0f}]", "set bmargin 2", "set tmargin 2"]
    more = [["set yrange [0.5:3.5]", "unset ytics"], ["set yrange [0:3]", "set ytics 1"],
            ["set yrange [0:1]", "set ytics 0.25", "set xlabel 'seconds' offset 0,0.7", "set bmargin 3"]]
    for number, (title, series) in enumerate(answers):
        lane = 1 if number == 0 else 0
        plots, data = curves(series, since, lane)
        text += [f"set title '{title}' offset 0,-0.6", *more[number], *data, "plot " + ", ".join(plots)]
    subprocess.run(["gnuplot"], input="\n".join(text) + "\n", text=True, check=True)
    with open(svg, encoding="utf-8") as file:
        first, *rest = [line.rstrip() for line in file]
    with open(svg, "w", encoding="utf-8") as file:
        file.write("\n".join([first, "<!-- SPDX-License-Identifier: Apache-2.0 -->", *rest, ""]))


def main(zkr, program, svg):
    with tempfile.TemporaryDirectory() as room:
        since = time.time()
        prometheus = lab.Prometheus(program, room, NAMES, RULES)
        try:
            run(zkr, room, prometheus)
            draw(svg, since, [(title, prometheus.series(query, since, "1")) for title, query in PANELS])
        finally:
            prometheus.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
