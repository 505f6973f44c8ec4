#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# search.sh SEARCH GO: the judge finds nothing wrong in what the search of schedules has done, and something where clocks
# differ by more than they may.
set -euo pipefail
search=$1 go=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
"$go" build -o "$dir/judge" .

# judged SEEDS [OPTION...]
judged() {
    local seeds=$1
    shift
    "$search" --seeds "$seeds" --seconds 0 --history "$dir/history" "$@" >"$dir/said" || {
        cat "$dir/said"
        exit 1
    }
    "$dir/judge" "$dir/history"
}

judged 10000
status=0
judged 12000 --beyond || status=$?
if [ "$status" != 1 ]; then
    echo "slow clocks, and the judge says $status"
    exit 1
fi
