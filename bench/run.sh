#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [ARGUMENT...]: makes an optimised build, and runs bench.py. run.sh --micro [--json] [--seconds S]
# [MEASUREMENT...]: measures parts of a client, one by one, on a private ZooKeeper or on $ZKR_SERVERS. However it ends,
# it stops and removes everything that it started or created. The build is in build/bench, or in $ZKR_BENCH_BUILD.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=${ZKR_BENCH_BUILD:-$root/build/bench}

# Messages go to stderr, because stdout is for numbers.
say() {
    printf 'bench: %s\n' "$*" >&2
}

die() { # STATUS WORDS
    local status=$1
    shift
    say "$@"
    exit "$status"
}

progress() {
    :
}

at_end() {
    :
}

# shellcheck source=tools/server.sh
. "$root/tools/server.sh"

make_programs() { # TARGET...
    local log=$build/build.log
    say "release build in $build"
    mkdir -p "$build"
    if ! {
        cmake -S "$root" -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
            -DZKR_BUILD_BENCH=ON -DZKR_BUILD_TOOLS=ON -DZKR_BUILD_TESTS=OFF &&
            cmake --build "$build" --target "$@"
    } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        die 70 "the build has failed; $log has all"
    fi
}

# ---- peers --------------------------------------------------------------------------

if [ "${1:-}" != --micro ]; then
    make_programs bench zkr
    trap - EXIT HUP INT TERM
    exec /usr/bin/python3 -B "$root/bench/bench.py" --build="$build" "$@"
fi
shift

# ---- parts of a client --------------------------------------------------------------

options=()
while [[ ${1:-} == --* ]]; do
    case $1 in
    --json) options+=(--json) ;;
    --seconds)
        [ $# -ge 2 ] || die 64 '--seconds needs a number'
        options+=(--seconds "$2")
        shift
        ;;
    *) die 64 "unknown option $1" ;;
    esac
    shift
done

make_programs bench_mutex zkr

tmp=$(mktemp -d)
if [ -n "${ZKR_SERVERS:-}" ]; then
    servers=$ZKR_SERVERS
    say "ZooKeeper at $servers (\$ZKR_SERVERS)"
else
    # The heap is so large that garbage collection does not affect the results. All other settings are an operator's. In
    # particular, each write is on the disk before it is answered.
    start_server 2000 -Xmx512m -XX:+UseSerialGC
    say "private ZooKeeper $version on $servers, data in $tmp"
fi
say "$(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"

# Runs in the background, so that a signal is handled at once.
"$build/bench/mutex" "${options[@]}" "$servers" "$@" </dev/null &
status=0
wait $! || status=$?
say "load $(cut -d ' ' -f 1 /proc/loadavg), $SECONDS s"
[ "$status" -eq 0 ] || exit "$status"
