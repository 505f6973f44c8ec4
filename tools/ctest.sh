#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ctest.sh PRESET [ARGUMENT...]: ctest as CMakePresets.json has it. Most of what a test program costs is the start of
# its server, so they all share one.
# ctest.sh --needs PRESET [ARGUMENT...]: the targets behind the tests that it would run, one a line.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# A test of zkr_add_test() has a target of its own, also with a habit of the server behind an @; static ones look at what is installed.
if [ "$1" = --needs ]; then
    shift
    ctest --preset "$@" -N | sed -n 's/^ *Test *#[0-9]*: //p' | while IFS= read -r name; do
        name=${name%@*}
        case $name in
        static.* | install.*) echo needed_by_static ;;
        chaos.short)
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
