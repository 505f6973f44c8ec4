#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fuzz.sh BUILD_DIR SECONDS JOBS [TARGET...]: runs the named fuzz targets of a build, or all of them, JOBS at a time and
# each for SECONDS. Inputs that a target has found stay in BUILD_DIR/fuzz/TARGET for the next run. An input that breaks
# a property is kept as BUILD_DIR/fuzz/TARGET-crash-... and fails the script. TARGET.seeds in this folder, one input per
# line in printf notation, and the words in TARGET.dict are the first inputs.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

die() { # STATUS WORDS
    printf 'fuzz: %s\n' "$2" >&2
    exit "$1"
}

[ $# -ge 3 ] || die 64 'usage: fuzz.sh BUILD_DIR SECONDS JOBS [TARGET...]'
programs=$1/test/fuzz seconds=$2 jobs=$3
kept=$1/fuzz
shift 3
[[ $seconds =~ ^[1-9][0-9]{0,6}$ ]] || die 64 'SECONDS: a number above 0, please'
if [ $# -eq 0 ]; then
    for source in "$here"/fuzz_*.c; do
        source=${source##*/fuzz_}
        set -- "$@" "${source%.c}"
    done
fi
for target; do
    [ -f "$here/fuzz_$target.c" ] || die 64 "there is no target $target"
    [ -x "$programs/fuzz_$target" ] || die 66 "no $programs/fuzz_$target; build it first"
done

trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'end_all' EXIT

end_all() {
    local pids
    trap - EXIT
    pids=$(jobs -pr)
    # shellcheck disable=SC2086 # numbers, one a word
    [ -z "$pids" ] || kill $pids 2>/dev/null || true
    wait
}

plant() { # TARGET: writes its seeds to files
    local number=0 line
    mkdir -p "$kept/$1"
    [ -f "$here/$1.seeds" ] || return 0
    while IFS= read -r line; do
        [[ $line != '#'* ]] || continue
        number=$((number + 1))
        # shellcheck disable=SC2059 # the seed is the format: that is how it says its bytes
        printf -- "$line" >"$kept/$1/seed-$number"
    done <"$here/$1.seeds"
}

run_one() { # TARGET
    local options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=2048
        -print_final_stats=1 -artifact_prefix="$kept/$1-")
    plant "$1"
    [ ! -f "$here/$1.dict" ] || options+=(-dict="$here/$1.dict")
    exec "$programs/fuzz_$1" "${options[@]}" "$kept/$1" </dev/null >"$kept/$1.log" 2>&1
}

mkdir -p "$kept"
declare -A name=() # by process id
failed=0

report() { # PID STATUS
    local target=${name[$1]} log=$kept/${name[$1]}.log runs
    unset "name[$1]"
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    if [ "$2" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
        printf '%-9s %10d inputs, %s\n' "$target" "$runs" "$(tail_of "$log")"
    else
        failed=$((failed + 1))
        printf '%-9s FAILED, status %d; %s\n' "$target" "$2" "$log"
        grep -v -E '^(#|stat::|"|INFO)' "$log" | head -n 40 || true
    fi
}

tail_of() { # LOG: prints how much of the code was reached
    sed -n 's/^#[0-9]*\tDONE  *\(cov: [0-9]*\) .*corp: \([0-9]*\).*/\1, corpus \2/p' "$1"
}

await_one() {
    local pid status=0
    wait -n -p pid "${!name[@]}" || status=$?
    report "$pid" "$status"
}

for target; do
    [ "${#name[@]}" -lt "$jobs" ] || await_one
    run_one "$target" &
    name[$!]=$target
done
while [ "${#name[@]}" -gt 0 ]; do
    await_one
done
[ "$failed" -eq 0 ] || die 1 "$failed of $# targets failed"
