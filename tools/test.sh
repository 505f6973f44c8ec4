#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# test.sh [--all | -R REGEX]: tests the project on this machine. Makes one build with the installed compiler, and runs a
# selection of tests that takes a few minutes. With --all, runs all tests of this build. With -R, runs those whose names
# match.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh

preset=test targets=() only=()
case ${1:-}:$# in
:0) ;;
--all:1) preset=all ;;
-R:2) preset=all only=(-R "$2") ;;
*) die 64 'usage: ./run test [--all | -R REGEX]' ;;
esac

need "${packages_build[@]}" "${packages_test[@]}"
if [ "$preset" = all ]; then
    want_peers
    want_prometheus
fi
if [ ${#only[@]} -gt 0 ]; then
    tools/build.sh test -
    mapfile -t targets < <(tools/ctest.sh --needs all "${only[@]}")
    [ ${#targets[@]} -gt 0 ] || die 66 "no test is called like $2"
    targets+=(with_server)
fi
say "==> build in build/test"
tools/build.sh test "${targets[@]}"
say '==> tests'
# Most tests mainly wait for sessions to end, or for time to pass.
exec tools/ctest.sh "$preset" -j $((3 * $(nproc))) "${only[@]}"
