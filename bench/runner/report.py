# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown that are also readable as text, JSON, and plots by gnuplot."""
import json
import os
import shutil
import subprocess

from . import figures
from .peers import PEERS

SHARES = (0.5, 0.9, 0.99)
FAIR = 0.97  # the lowest least / most of a peer that claims to be fair


def number(value, digits=3):
    """Formats a number briefly, without powers of ten."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    if 0 < value < 0.005:
        return "< 0.01"
    return f"{value:.{digits}g}" if value >= 1 else f"{value:.2f}"


def waits(row):
    return [wait / 1e3 for each in row.rounds for wait in each.waits]


def handover(row):
    if "handover" in row.values:
        return figures.median(row.values["handover"])
    all_of_them = [t / 1e3 for each in row.rounds for t in each.handovers]
    return figures.median(all_of_them)


def rate(row):
    return figures.median([each.rate for each in row.rounds])


def fairness(row):
    known = [each.fairness for each in row.rounds if each.fairness is not None]
    return min(known) if known else None


def ratio(row, ours):
    """Returns how much more zkrecipes does in the same time: the median of the rounds' ratios."""
    if row is ours or not ours or ours.void or not ours.rounds:
        return None
    pairs = list(zip(ours.rounds, row.rounds))
    return figures.median([a.rate / b.rate for a, b in pairs if b.rate > 0])


def value(name):
    def read(row, _ours):
        known = row.values.get(name)
        return figures.median(known) if isinstance(known, list) else known
    return read


def worst(name):
    """Returns the 90th percentile of values that were measured repeatedly."""
    def read(row, _ours):
        known = row.values.get(name)
        return figures.at(known, 0.9) if isinstance(known, list) and known else None
    return read


WAIT = [(f"wait, {label} (us)", lambda row, ours, share=share: figures.at(waits(row), share))
        for label, share in zip(("median", "p90", "p99"), SHARES)]
COLUMNS = {
    "cycle": [("per second", lambda row, ours: rate(row)), ("zkrecipes / peer", ratio), *WAIT,
              ("hand-over (us)", lambda row, ours: handover(row)),
              ("least / most", lambda row, ours: fairness(row)),
              ("client CPU (us)", lambda row, ours: figures.median(row.cpu)),
              ("packets to the servers", lambda row, ours: figures.median(row.to)),
              ("from them", lambda row, ours: figures.median(row.back))],
    "stock": [("sold out (ms)", value("sold")), ("per second", lambda row, ours: rate(row)),
              ("least / most", lambda row, ours: fairness(row))],
    "drain": [("drained (ms)", value("drained")),
              ("hand-over (us)", lambda row, ours: handover(row)),
              ("joined (ms)", value("joined")), ("bytes per hand-over", value("bytes")),
              ("KiB per waiter", value("memory"))],
    "try": [("median (us)", lambda row, ours: figures.at(waits(row), 0.5)),
            ("p99 (us)", lambda row, ours: figures.at(waits(row), 0.99))],
    "failover": [("after a clean stop (ms)", value("stop")),
                 ("after a kill (ms)", value("kill")),
                 ("p90 of 50 kills (ms)", worst("kill"))],
    "idle": [("requests per second", value("requests")), ("client CPU (ms per second)", value("cpu"))],
    "command": [("runs per second, one", value("one")), ("eight at once", value("eight"))],
}


def figures_of(row, ours):
    return {title: read(row, ours) for title, read in COLUMNS[row.scenario.kind]}


def remarks(row):
    words = [f"**void**: {row.void}"] if row.void else []
    if row.disturbed:
        words.append(f"disturbed in {row.disturbed} of {max(1, len(row.rounds))} rounds")
    if row.peer.fair == "yes" and not row.void and (fairness(row) or 1) < FAIR:
        words.append(f"least / most below {FAIR}")
    return "; ".join(words + row.notes).replace("|", "/").replace("\n", " ")


def lines_of(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows)]


def ours_of(rows):
    return next((row for row in rows if row.peer.key == "zkr"), None)


def left_out_lines(rows):
    """Explains which peers are not in a table, and why. Peers that are not locks are not mentioned."""
    why = {}
    for row in rows:
        if row.left_out and not row.peer.alone and "die" not in row.peer.works:
            why.setdefault(row.left_out, []).append(row.peer.name)
    return ["", *(f"Omitted, {reason}: {', '.join(names)}." for reason, names in why.items())] \
        if why else []


def scenario_table(rows):
    ours, scenario = ours_of(rows), rows[0].scenario
    head = ["", *(title for title, _ in COLUMNS[scenario.kind]), ""]
    body = [[row.peer.name,
             *("–" if row.void else number(v) for v in figures_of(row, ours).values()),
             remarks(row)] for row in rows if not row.left_out]
    return ["", f"## {scenario.title}", "", *lines_of(head, body), *left_out_lines(rows)]


def gain(ours, other):
    """Returns how many times as fast ours is."""
    if "drained" in ours.values and other.values.get("drained"):
        return figures.median(other.values["drained"]) / figures.median(ours.values["drained"])
    return ratio(other, ours)


def target_lines(results):
    """Returns the table of targets, met or missed."""
    body = []
    for rows in results:
        ours, targets = ours_of(rows), rows[0].scenario.targets
        for row in rows:
            if row.peer.key in targets and ours and not (row.void or row.left_out or ours.void):
                seen, wanted = gain(ours, row), targets[row.peer.key]
                body.append([row.scenario.title, row.peer.name, f"{wanted:g}", number(seen),
                             "met" if seen and seen >= wanted else "**missed**"])
    head = ["scenario", "beside", "times as fast, at least", "measured", ""]
    return ["", "## Targets", "", *lines_of(head, body)] if body else []


def missing_lines(missing):
    return [f"Missing: **{peer.name}**, which needs {why}." for peer, why in missing.items()]


def summary(results, missing):
    """Returns a table with a line for each peer: its promises, and the most important figures."""
    picks = [("free", "free, lock and unlock (us)",
              lambda row: 1e6 / rate(row) if rate(row) else None),
             ("processes8", "8 processes (per second)", rate),
             ("processes8", "8 processes, least / most", fairness),
             ("failover", "after a kill (ms)", lambda row: value("kill")(row, None)),
             ("failover30", "after a kill, leases of 30 s (ms)",
              lambda row: value("kill")(row, None))]
    by_peer = {(row.scenario.key, row.peer.key): row for rows in results for row in rows}
    measured = {row.scenario.key for rows in results for row in rows}
    picks = [pick for pick in picks if pick[0] in measured]
    body = []
    for peer in PEERS:
        cells = []
        for scenario, _, read in picks:
            row = by_peer.get((scenario, peer.key))
            cells.append("void" if row and row.void else number(read(row)) if row else "–")
        if peer in missing:
            cells = ["missing"] * len(picks)
        elif not any(key[1] == peer.key for key in by_peer):
            continue
        body.append([peer.name, *cells, peer.survives, peer.fair, peer.fencing, peer.loss])
    head = ["", *(title for _, title, _ in picks), "survives the loss of a server", "fair", "fencing token",
            "loss is known in time"]
    return lines_of(head, body)


def write_tables(path, results, missing, about):
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# Benchmark", "", *about, "", *summary(results, missing), "",
             *missing_lines(missing)]
    for rows in results:
        lines += scenario_table(rows)
    lines += target_lines(results)
    there = {row.peer.key for rows in results for row in rows}
    notes = [f"- {peer.name}: {peer.note}." for peer in PEERS if peer.note and peer.key in there]
    lines += ["", "## Notes", "", *notes, ""]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return lines


def write_json(path, results, missing, about):
    def row_of(row, ours):
        return {"scenario": row.scenario.key, "peer": row.peer.key, "void": row.void,
                "left_out": row.left_out,
                "disturbed": row.disturbed, "notes": row.notes, **figures_of(row, ours),
                "rounds": [{"rate": each.rate, "fairness": each.fairness, "counts": each.counts}
                           for each in row.rounds]}
    data = {"about": about, "missing": {peer.key: why for peer, why in missing.items()},
            "rows": [row_of(row, ours_of(rows)) for rows in results for row in rows]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)
        file.write("\n")


# ---- plots --------------------------------------------------------------------------

def gnuplot(path, title, labels, more, curves):
    """Plots curves of (name, points). Returns False without gnuplot or without points."""
    curves = [(name, points) for name, points in curves if points]
    if not curves or not shutil.which("gnuplot"):
        return False
    blocks = [f"$d{i} << END\n" + "\n".join(f"{x} {y}" for x, y in points) + "\nEND"
              for i, (_, points) in enumerate(curves)]
    plots = ", ".join(f"$d{i} using 1:2 with linespoints lc {i % 8 + 1} dt {i // 8 + 1} "
                      f"pt {i % 13 + 1} ps 0.6 lw {4 if i == 0 else 2} title '{name}'"
                      for i, (name, _) in enumerate(curves))
    text = "\n".join(["set terminal svg size 860,480 font 'sans,13' background 'white'",
                      f"set output '{path}'", f"set title '{title}'",
                      f"set xlabel '{labels[0]}'", f"set ylabel '{labels[1]}'",
                      "set key outside right", "set grid",
                      "set format y '%.0s%c'", *more, *blocks, "plot " + plots, ""])
    done = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        return False
    with open(path, encoding="utf-8") as file:
        first, *rest = [line.rstrip() for line in file]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([first, "<!-- SPDX-License-Identifier: Apache-2.0 -->", *rest, ""]))
    return True


def by_size(results, sizes, read):
    """Returns curves across scenarios. sizes has the position of each scenario on the axis."""
    curves = {}
    for rows in results:
        for row in rows:
            if row.scenario.key in sizes and not row.void:
                y = read(row)
                if y:
                    curves.setdefault(row.peer.name, []).append((sizes[row.scenario.key], y))
    return [(name, sorted(points)) for name, points in curves.items()]


def distribution(row):
    values = waits(row)
    return [(figures.at(values, i / 100), i) for i in range(1, 100)] if values else []


def write_plots(directory, results):
    """Writes the plots. Returns the names of those that could be made."""
    by_key = {rows[0].scenario.key: rows for rows in results}
    contenders = {"free": 1, "processes2": 2, "processes8": 8, "processes32": 32}
    waiters = {key: rows[0].scenario.count for key, rows in by_key.items()
               if rows[0].scenario.kind == "drain"}
    plots = {
        "latency": ("Free lock: time to get it", ("microseconds", "per cent"),
                    ["set logscale x"],
                    [(row.peer.name, distribution(row)) for row in by_key.get("free", [])
                     if not row.void]),
        "throughput": ("One lock, wanted by many processes", ("processes", "locks per second"),
                       ["set logscale xy", "set xtics (1, 2, 8, 32)", "set xrange [0.8:40]"],
                       by_size(results, contenders, rate)),
        "handover": ("Hand-over, by waiters", ("waiters", "microseconds"),
                     ["set logscale xy"], by_size(results, waiters, handover)),
        "bytes": ("Bytes between clients and servers for a hand-over", ("waiters", "bytes"),
                  ["set logscale xy"],
                  by_size(results, waiters, lambda row: row.values.get("bytes"))),
    }
    return [name for name, plot in plots.items()
            if gnuplot(os.path.join(directory, name + ".svg"), *plot)]


# ---- README.md ----------------------------------------------------------------------

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def put_into_readme(readme, lines):
    """Replaces the text between the two marks."""
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{readme}: no {BEGIN} and {END}")
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, *lines, END + after]))
