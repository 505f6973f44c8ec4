#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ctest.sh PRESET [ARGUMENT...]: runs ctest with CMakePresets.json. All tests share one server, because the start of a
# server would take most of the time of a test program. ctest.sh --needs PRESET [ARGUMENT...]: prints the build targets
# of the tests that ctest would run, one per line.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# Each test of zkr_add_test() has its own target. A test on a server with a habit (the part after @) shares the target
# of the test without the habit. Static tests read installed files.
if [ "$1" = --needs ]; then
    shift
    ctest --preset "$@" -N | sed -n 's/^ *Test *#[0-9]*: //p' | while IFS= read -r name; do
        name=${name%@*}
        case $name in
        static.* | install.*) echo needed_by_static ;;
        chaos.short | chaos.clocks*)
            echo chaos
            [ "$1" != plain ] || echo judge
            ;;
        history.search) echo test_sim_search ;;
        history.*) echo judge ;;
        *) echo "test_${name//./_}" ;;
        esac
    done | sort -u
    exit
fi

dir=build/$1
[ "$1" != all ] || dir=build/test
with=()
[ ! -x "$dir/test/with_server" ] || with=("$dir/test/with_server")
exec tools/fixed_layout.sh "${with[@]}" ctest --preset "$@"
