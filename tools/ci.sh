#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ci.sh [-R REGEX | --fresh]: runs every check. With -R, runs only the tests whose names match, in each build. With
# --fresh, also runs tools/fresh.sh on each release, and the tests on servers of an old release.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/stages.sh
. tools/stages.sh

# Tests spend most of their time waiting, and those of the first build wait more than those with a sanitizer.
tests() { # PRESET [ARGUMENT...]
    local jobs=4
    [ "$1" != plain ] || jobs=6
    tools/ctest.sh "$1" -j "$jobs" "${@:2}"
}

# Runs the pure tests of the plain build again under memcheck, except unit.say, whose thread is blocked in write() at
# the end. Starts in a subfolder of the build, because ctest keeps notes in the folder in which it starts while other
# tests run.
valgrind_tests() { # [ARGUMENT...]
    local wrapper='valgrind -q --leak-check=full --show-leak-kinds=definite,possible'
    wrapper+=' --errors-for-leak-kinds=definite,possible --error-exitcode=99'
    ZKT_CASE_SECONDS=600 ZKR_TEST_WRAPPER=$wrapper ctest --test-dir build/plain/test -L unit -LE slow -j 3 --output-on-failure \
        --no-tests=error -E '^unit\.say$' "$@"
}

fuzz() {
    tools/build.sh fuzz fuzz && test/fuzz/fuzz.sh build/fuzz 3 "$(nproc)"
}

idly() {
    renice -n 19 "$BASHPID" >/dev/null 2>&1 || true
    "$@"
}

# Runs two jobs at a time. The tests of the builds run one build after another, because some of them measure time. At
# the same time, at the lowest priority, the other builds run, and then the checks that only compute.
everything() {
    local testing=yes
    local -A built=()
    stage 'lint: clang-format, shellcheck, pyflakes, man pages, gofmt' tools/lint.sh texts
    stage 'build with gcc' tools/build.sh plain
    stage 'build of the judge of histories' tools/build.sh plain judge
    begin gcc 'tests, gcc' tests plain
    begin address-build 'build with clang, address and undefined sanitizers' idly tools/build.sh asan
    while [ ${#lane[@]} -gt 0 ]; do
        await_one
        case $ended in
        address-build) built[address]=yes ;;
        thread-build) built[thread]=yes ;;
        esac
        case $over in
        gcc | address | thread) testing=no ;;
        address-build) begin thread-build 'build with clang, thread sanitizer' idly tools/build.sh tsan ;;
        thread-build) begin tidy 'lint: clang-tidy' idly tools/lint.sh tidy ;;
        tidy) begin valgrind 'tests, valgrind' valgrind_tests ;;
        valgrind) begin fuzz 'fuzz, 3 s each' idly fuzz ;;
        fuzz) begin proof 'the lease, proved' idly tools/proof.sh lease ;;
        proof) begin claims 'every state of claims' idly tools/proof.sh claims ;;
        esac
        if [ "$testing${built[address]:-}" = noyes ]; then
            begin address 'tests, address and undefined sanitizers' tests asan
            testing=yes built[address]=
        elif [ "$testing${built[thread]:-}" = noyes ]; then
            begin thread 'tests, thread sanitizer' tests tsan
            testing=yes built[thread]=
        fi
        [ "$over" != thread ] ||
            begin cluster 'a part of the tests on the cluster in Docker' bash docker/cluster.sh part build/plain
    done
    end_of_stages gcc address thread cluster valgrind
}

# some_of NAME PRESET: builds and runs the tests that match $regex.
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
need "${packages_build[@]}" "${packages_test[@]}" "${packages_lint[@]}" "${packages_ci[@]}" "${packages_proof[@]}"
need_lint_tools
need_sanitizers
want_peers
want_prometheus
no_logs
if [ -n "$regex" ]; then some; else everything; fi
[ "$fresh" = no ] || for release in bookworm trixie forky; do
    stage "bare Debian: $release" tools/fresh.sh --release "$release"
done
[ "$fresh" = no ] || {
    stage 'bare Debian: forky, other libraries' tools/fresh.sh --release forky interop
    stage 'old servers: bullseye' tools/versions.sh old bullseye
}
