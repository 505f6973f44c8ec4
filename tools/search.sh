#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# search.sh [--seconds N] [--seed S]: runs schedules that have never been run before.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/stages.sh
. tools/stages.sh

usage='usage: ./run search [--seconds N] [--seed S]'
seconds=60 base=()
while [ $# -gt 0 ]; do
    [[ $# -ge 2 && $2 =~ ^[0-9]+$ ]] || die 64 "$usage"
    case $1 in
    --seconds) seconds=$2 ;;
    --seed) base=(--base "$2") ;;
    *) die 64 "$usage" ;;
    esac
    shift 2
done
need gcc "${packages_build[@]}" libcmocka-dev
stage 'build of the search' tools/build.sh plain test_sim_search
stage 'fresh schedules' build/plain/test/test_sim_search --seeds 0 --seconds "$seconds" "${base[@]}"
