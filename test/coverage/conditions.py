#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conditions.py BUILD GCOV EXCEPTIONS: MC/DC of the files that only decide.

MC/DC: each condition of a decision was true and was false, and decided its outcome both times. BUILD was compiled
with -fcondition-coverage, and its tests have run; GCOV is the gcov of that compiler, 14 or later. Prints a line a
file, and each condition that has not decided both ways; gcov may name a neighbouring line of a nested ?:. Ends with status 1 when a file is below the least, when a file was
not measured, or when an exception excuses nothing.

EXCEPTIONS has a line for each, "FILE :: TEXT :: REASON": it excuses the decisions in the lines of FILE that contain
TEXT.
"""

import json
import os
import subprocess
import sys

from table import read_exceptions

LEAST = 95.0
FILES = ["lib/base/options.c", "lib/base/path.c", "lib/queue/children.c", "lib/queue/claim_step.c",
         "lib/queue/names.c", "lib/queue/rule.c", "lib/queue/transitions.c", "lib/session/lease.c"]


def measured(build, gcov, name):
    """The lines of this file, as gcov tells them; none if no test ran the file."""
    counts = os.path.join(build, "CMakeFiles/zkr_objects.dir", name + ".gcda")
    if not os.path.exists(counts):
        return []
    told = subprocess.run([gcov, "--conditions", "--json-format", "--stdout", counts],
                          check=True, stdout=subprocess.PIPE)
    files = json.loads(told.stdout)["files"]
    return [line for file in files if file["file"].endswith(name) for line in file["lines"]]


def decisions(lines, source, excuses, used):
    """Line number and decision, of those that no exception excuses."""
    for line in lines:
        for decision in line.get("conditions", []):
            keys = [key for key, text in excuses if text in source[line["line_number"] - 1]]
            if keys and decision["covered"] < decision["count"]:
                used.update(keys)
            else:
                yield line["line_number"], decision


def report(name, found, source):
    """Prints the line of a file and what is missing there; is it enough?"""
    count = sum(decision["count"] for _, decision in found)
    covered = sum(decision["covered"] for _, decision in found)
    share = 100.0 * covered / count if count else 0.0
    print(f"{name:<40} {count:>6} {share:>7.1f} %")
    for number, decision in found:
        missing = decision["not_covered_true"] + decision["not_covered_false"]
        for at in sorted(missing):
            print(f"  {name}:{number}: condition {at + 1} has not decided both ways: "
                  f"{source[number - 1].strip()}")
    return share >= LEAST


def main(build, gcov, exceptions):
    listed, used, enough = read_exceptions(exceptions), set(), True
    print(f"{'file':<40} {'values':>6} {'decided':>9}")
    for name in FILES:
        with open(name, encoding="utf-8") as file:
            source = file.read().splitlines()
        excuses = [(key, text) for key, of, text, _ in listed if of == name]
        found = list(decisions(measured(build, gcov, name), source, excuses, used))
        enough = report(name, found, source) and enough
    for key, name, text, _ in listed:
        if key not in used:
            print(f"{key}: excuses nothing: {name} :: {text}")
            enough = False
    if not enough:
        print(f"MC/DC: a file is below {LEAST:.0f} %, or an exception excuses nothing")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
