#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coverage.sh: reports which lines and branches of lib/ the tests cover, by file, and the MC/DC of the files that only
# make decisions. Fails if the coverage is too low.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/stages.sh
. tools/stages.sh

build() {
    tools/build.sh coverage && find build/coverage -name '*.gcda' -delete
}

table() {
    gcovr --root . --filter lib/ --json build/coverage/report.json -j "$(nproc)" \
        build/coverage/CMakeFiles/zkr_objects.dir &&
        python3 test/coverage/table.py build/coverage/report.json test/coverage/exceptions \
            build/coverage/uncovered
}

conditions() {
    python3 test/coverage/conditions.py build/coverage gcov test/coverage/undecided
}

[ $# -eq 0 ] || die 64 'usage: ./run coverage'
need "${packages_build[@]}" "${packages_test[@]}" gcc gcovr
want_peers
no_logs
stage 'build with gcc, coverage of lib/' build
begin coverage 'tests, gcc' tools/ctest.sh coverage -j 3
await_all
[ "$failed_status" -eq 0 ] || end_of_stages coverage
stage 'coverage' table
if [ "$(gcc -dumpversion | cut -d . -f 1)" -ge 14 ]; then
    stage 'MC/DC of the files that only decide' conditions
else
    say '==> MC/DC is not measured: it needs gcc 14 or later'
fi
end_of_stages coverage
