#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py REPORT EXCEPTIONS UNCOVERED: which lines and branches of the library no test has run.

REPORT is what gcovr --json writes. Prints a line a file and the total, and writes each line that did
not run, or not in all directions, to UNCOVERED. Ends with status 1 when the total is below the
least, or when an exception excuses nothing.

EXCEPTIONS has a line for each, "FILE :: TEXT :: REASON". It excuses the lines of FILE that contain
TEXT, and what is indented below them. Where FILE is a pattern (lib/*), those that contain it must have
run all the same, if not in all directions.
"""

import fnmatch
import json
import sys

LEAST_LINES, LEAST_BRANCHES = 98.0, 92.0


def read_exceptions(name):
    exceptions = []
    with open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#") or not line.strip():
                continue
            parts = [part.strip() for part in line.split(" :: ")]
            if len(parts) != 3 or not all(parts):
                sys.exit(f"{name}:{number}: not FILE :: TEXT :: REASON")
            exceptions.append((f"{name}:{number}", *parts))
    return exceptions


def block(source, at):
    """The line of this index and those indented below it."""
    indent = len(source[at]) - len(source[at].lstrip())
    end = at + 1
    while end < len(source) and (
            not source[end].strip() or len(source[end]) - len(source[end].lstrip()) > indent):
        end += 1
    return range(at, end)


class Excuses:
    def __init__(self, exceptions):
        self.exceptions = exceptions
        self.used = set()

    def of(self, name, source):
        """By line number: the exceptions for all of it; those for its branches."""
        whole, branches = {}, {}
        for key, pattern, text, _ in self.exceptions:
            if not fnmatch.fnmatch(name, pattern):
                continue
            for at, line in enumerate(source):
                if text not in line:
                    continue
                branches.setdefault(at + 1, []).append(key)
                for each in block(source, at):
                    if each > at or pattern == name:
                        whole.setdefault(each + 1, []).append(key)
        return whole, branches

    def unused(self):
        return [e for e in self.exceptions if e[0] not in self.used]


class Sums:
    def __init__(self):
        self.lines = self.lines_run = self.branches = self.branches_run = 0

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @staticmethod
    def percent(part, all_of_it):
        return 100.0 * part / all_of_it if all_of_it else 100.0

    def shares(self):
        return (self.percent(self.lines_run, self.lines),
                self.percent(self.branches_run, self.branches))

    def row(self, name):
        lines, branches = self.shares()
        return (f"{name:<40} {self.lines:>6} {lines:>7.1f} % "
                f"{self.branches:>6} {branches:>7.1f} %")


def count(entry, excuses, told):
    """The sums of one file; tells what did not run."""
    name, sums = entry["file"], Sums()
    with open(name, encoding="utf-8") as file:
        source = file.read().splitlines()
    whole, branches_only = excuses.of(name, source)
    for line in entry["lines"]:
        number, text = line["line_number"], source[line["line_number"] - 1].strip()
        if line.get("gcovr/noncode"):
            continue
        ways = line["branches"]
        missed = sum(1 for way in ways if way["count"] == 0)
        keys = whole.get(number, [])
        if line["count"] > 0:
            keys = keys + branches_only.get(number, [])
        if keys and missed + (line["count"] == 0):
            excuses.used.update(keys)
            ways, missed = [], 0
            if line["count"] == 0:
                continue
        sums.lines += 1
        sums.branches += len(ways)
        sums.branches_run += len(ways) - missed
        if line["count"] == 0:
            told.append(f"{name}:{number}: never: {text}")
        else:
            sums.lines_run += 1
            if missed:
                told.append(f"{name}:{number}: {missed} of {len(ways)} branches never: {text}")
    return sums


def main(report, exceptions, uncovered):
    excuses, told, total = Excuses(read_exceptions(exceptions)), [], Sums()
    with open(report, encoding="utf-8") as file:
        files = sorted(json.load(file)["files"], key=lambda entry: entry["file"])
    print(f"{'file':<40} {'lines':>6} {'run':>9} {'branches':>6} {'run':>7}")
    for entry in files:
        sums = count(entry, excuses, told)
        total.add(sums)
        print(sums.row(entry["file"]))
    print(total.row("total"))
    with open(uncovered, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in told))
    print(f"{len(told)} lines did not run, or not in all directions: {uncovered}")
    failed = False
    for key, name, text, _ in excuses.unused():
        print(f"{key}: excuses nothing: {name} :: {text}")
        failed = True
    lines, branches = total.shares()
    if lines < LEAST_LINES or branches < LEAST_BRANCHES:
        print(f"below {LEAST_LINES:.0f} % of the lines or {LEAST_BRANCHES:.0f} % of the branches")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
