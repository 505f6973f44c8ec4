#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh: runs, for each change, the checks that take at most 20 seconds. ./run ci also runs the others.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh
# shellcheck source=tools/stages.sh
. tools/stages.sh

static='static\.(docs|headers_c|layers|mutants|pointers|readme|refused|symbols|words)'
checked=(-R "^unit\.|^($static|engine\.fake_is_real|recipes\.mutex)\$")

build() {
    local targets
    tools/build.sh plain - && mapfile -t targets < <(tools/ctest.sh --needs plain "${checked[@]}") &&
        tools/build.sh plain test_sim_search with_server "${targets[@]}"
}

[ $# -eq 0 ] || die 64 'usage: ./run check'
need "${packages_build[@]}" "${packages_test[@]}" "${packages_lint[@]}" "${packages_proof[@]}"
need_lint_tools
no_logs
begin lint 'lint of what changed: clang-format, shellcheck, pyflakes' tools/lint.sh --changed format shell python
begin build 'build with gcc' build
while [ ${#lane[@]} -gt 0 ]; do
    await_one
    [ "$ended" = build ] || continue
    begin gcc 'static and unit tests, the fake, the mutex' tools/ctest.sh plain -j 3 "${checked[@]}"
    begin search 'a short search of schedules' build/plain/test/test_sim_search --seeds 2000 --seconds 0
    [ -z "$(changed 'lib/session/lease.*' 'test/proof/*')" ] ||
        begin proof 'the lease, proved' tools/proof.sh --quick lease
    [ -z "$(changed 'lib/queue/claim_*' 'lib/queue/transitions.c' 'lib/queue/downgrade.c' 'test/proof/*')" ] ||
        begin claims 'the smaller state spaces of one claim' tools/proof.sh --quick claims
    begin tidy 'lint of what changed: clang-tidy' tools/lint.sh --changed tidy
done
end_of_stages gcc
