#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ci.sh [-R REGEX | --fresh]: every check there is, or in each build the tests of these names; --fresh: then also
# tools/fresh.sh, on each release.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/stages.sh
. tools/stages.sh

# Three builds at once; the first has by far the most tests, without a sanitizer each.
tests() { # PRESET [ARGUMENT...]
    local jobs=3
    [ "$1" != plain ] || jobs=4
    tools/ctest.sh "$1" -j "$jobs" "${@:2}"
}

# The pure tests of the plain build again, one by one under memcheck. From a folder of the build: ctest keeps notes
# where it begins, and the other tests go on beside.
valgrind_tests() { # [ARGUMENT...]
    local wrapper='valgrind -q --leak-check=full --show-leak-kinds=definite,possible'
    wrapper+=' --errors-for-leak-kinds=definite,possible --error-exitcode=99'
    ZKR_TEST_WRAPPER=$wrapper ctest --test-dir build/plain/test -L unit -LE slow -j 3 --output-on-failure \
        --no-tests=error "$@"
}

fuzz() {
    tools/build.sh fuzz fuzz && test/fuzz/fuzz.sh build/fuzz 3 "$(nproc)"
}

idly() {
    renice -n 19 "$BASHPID" >/dev/null 2>&1 || true
    "$@"
}

# The tests of a build begin as soon as it is made; the next one is made beside them, and what needs nobody's
# attention comes last.
everything() {
    stage 'lint: clang-format, shellcheck, pyflakes, man pages, gofmt' tools/lint.sh texts
    stage 'build with gcc' tools/build.sh plain
    begin gcc 'tests, gcc' tests plain
    begin address-build 'build with clang, address and undefined sanitizers' tools/build.sh asan
    while [ ${#lane[@]} -gt 0 ]; do
        await_one
        case $ended in
        address-build) begin address 'tests, address and undefined sanitizers' tests asan ;;
        thread-build) begin thread 'tests, thread sanitizer' tests tsan ;;
        esac
        case $over in
        address-build) begin thread-build 'build with clang, thread sanitizer' tools/build.sh tsan ;;
        thread-build) begin tidy 'lint: clang-tidy' idly tools/lint.sh tidy ;;
        tidy) begin valgrind 'tests, valgrind' idly valgrind_tests ;;
        valgrind) begin fuzz 'fuzz, 3 s each' idly fuzz ;;
        esac
    done
    end_of_stages gcc address thread valgrind
}

# some_of NAME PRESET: those called like $regex, with what they need.
ran=()
some_of() {
    local name=$1 preset=$2 targets
    stage "configuration, $name" tools/build.sh "$preset" -
    mapfile -t targets < <(tools/ctest.sh --needs "$preset" -R "$regex")
    [ ${#targets[@]} -gt 0 ] || return 0
    stage "build, $name" tools/build.sh "$preset" with_server "${targets[@]}"
    begin "$name" "tests, $name" tests "$preset" -R "$regex"
    await_one
    ran+=("$name")
}

some() {
    some_of gcc plain
    some_of address asan
    some_of thread tsan
    [ ${#ran[@]} -gt 0 ] || die 66 "no test is called like $regex"
    if ctest --preset plain -N -R "$regex" -L unit | grep -q '^ *Test *#'; then
        begin valgrind 'tests, valgrind' valgrind_tests -R "$regex"
        await_one
        ran+=(valgrind)
    fi
    end_of_stages "${ran[@]}"
}

regex='' fresh=no
case ${1:-}:$# in
:0) ;;
--fresh:1) fresh=yes ;;
-R:2) regex=$2 ;;
*) die 64 'usage: ./run ci [-R REGEX | --fresh]' ;;
esac
need "${packages_build[@]}" "${packages_test[@]}" "${packages_lint[@]}" "${packages_ci[@]}"
need_lint_tools
need_sanitizers
want_peers
no_logs
if [ -n "$regex" ]; then some; else everything; fi
[ "$fresh" = no ] || for release in bookworm trixie; do
    stage "bare Debian: $release" tools/fresh.sh --release "$release"
done
