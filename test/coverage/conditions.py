#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conditions.py BUILD GCOV EXCEPTIONS: MC/DC of the files that only decide.

MC/DC: each condition of a decision was true and was false, and decided its outcome both times. BUILD was compiled
with -fcondition-coverage, and its tests have run; GCOV is the gcov of that compiler, 14 or later. Prints a line a
file and the total, and each condition that has not decided both ways, counted from 1; gcov may name a neighbouring
line of a nested ?:. Ends with status 1 when a file is below the least, when a file was not measured, or when an
exception excuses nothing.

EXCEPTIONS has a line for each, "FILE :: TEXT :: REASON": it excuses the decisions in the lines of FILE that contain
TEXT.
"""

import glob
import json
import os
import subprocess
import sys

from table import read_exceptions

LEAST = 95.0
FILES = ["lib/base/options.c", "lib/base/path.c", "lib/queue/children.c", "lib/queue/claim_step.c",
         "lib/queue/downgrade.c", "lib/queue/names.c", "lib/queue/rule.c", "lib/queue/transitions.c",
         "lib/session/lease.c", "tools/zkr/lock_options.c", "tools/zkr/once_record.c", "tools/zkr/options.c",
         "tools/zkr/parse.c", "tools/zkr/yield_request.c"]


def told(build, gcov, name):
    """What gcov tells of this file, for each program that has it and was run by a test."""
    for counts in glob.glob(f"{build}/**/{os.path.basename(name)}.gcda", recursive=True):
        said = subprocess.run([gcov, "--conditions", "--json-format", "--stdout", counts],
                              check=True, stdout=subprocess.PIPE)
        for file in json.loads(said.stdout)["files"]:
            if file["file"].endswith(name):
                yield file


def measured(build, gcov, name):
    """Line number and decision; a condition has decided if it has in one of the programs."""
    found = {}
    for file in told(build, gcov, name):
        for line in file["lines"]:
            for nth, decision in enumerate(line.get("conditions", [])):
                known = found.setdefault((line["line_number"], nth), decision)
                for way in ("not_covered_true", "not_covered_false"):
                    known[way] = sorted(set(known[way]) & set(decision[way]))
    for (number, _), decision in sorted(found.items()):
        decision["covered"] = (decision["count"] - len(decision["not_covered_true"])
                               - len(decision["not_covered_false"]))
        yield number, decision


def decisions(found, source, excuses, used):
    """Line number and decision, of those that no exception excuses."""
    for number, decision in found:
        keys = [key for key, text in excuses if text in source[number - 1]]
        if keys and decision["covered"] < decision["count"]:
            used.update(keys)
        else:
            yield number, decision


def row(name, count, covered):
    share = 100.0 * covered / count if count else 0.0
    print(f"{name:<40} {count:>6} {share:>7.1f} %")
    return share


def report(name, found, source):
    """Prints the line of a file and what is missing there. Returns its values, those that decided, and if that is enough."""
    count = sum(decision["count"] for _, decision in found)
    covered = sum(decision["covered"] for _, decision in found)
    enough = row(name, count, covered) >= LEAST
    for number, decision in found:
        for at in sorted(set(decision["not_covered_true"] + decision["not_covered_false"])):
            print(f"  {name}:{number}: condition {at + 1} has not decided both ways: "
                  f"{source[number - 1].strip()}")
    return count, covered, enough


def main(build, gcov, exceptions):
    listed, used, enough = read_exceptions(exceptions), set(), True
    total = total_covered = 0
    print(f"{'file':<40} {'values':>6} {'decided':>9}")
    for name in FILES:
        with open(name, encoding="utf-8") as file:
            source = file.read().splitlines()
        excuses = [(key, text) for key, of, text, _ in listed if of == name]
        found = list(decisions(measured(build, gcov, name), source, excuses, used))
        count, covered, fine = report(name, found, source)
        total, total_covered, enough = total + count, total_covered + covered, enough and fine
    row("total", total, total_covered)
    for key, name, text, _ in listed:
        if key not in used:
            print(f"{key}: excuses nothing: {name} :: {text}")
            enough = False
    if not enough:
        print(f"MC/DC: a file is below {LEAST:.0f} %, or an exception excuses nothing")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
