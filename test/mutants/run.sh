#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [--list | --chaos | --faults] [MUTANT...]: breaks the library in one way after the other, in copies, and shows that
# the tests see each, as ./run ci runs them: a mutant that is seen beyond that is not seen. One that
# survives, or fits no more, is an error. --chaos: the judge of the chaos run sees those that are meant for it,
# within a minute, by the violations they are meant for. --faults: the table of docs/faults.md. apply.pl reads the
# mutants and says what MUTANT may be.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
cd "$root"
# shellcheck source=tools/files.sh
. tools/files.sh
jobs=${JOBS:-2} # copies, each with one mutant at a time

field() { # NUMBER MUTANT: of a line of apply.pl --tell
    cut -f "$1" <<<"$2"
}

die() {
    printf 'mutants: %s\n' "$*" >&2
    exit 64
}

list=no chaos=no
case ${1:-} in
--list)
    list=yes
    shift
    ;;
--faults)
    shift
    exec perl test/mutants/apply.pl --faults "$@"
    ;;
--chaos)
    chaos=yes
    jobs=1 # it is about time
    shift
    ;;
esac
told=$(perl test/mutants/apply.pl --tell "$@") || exit
if [ "$chaos" = yes ]; then
    other=$(awk -F '\t' '$4 == "" { print $1; exit }' <<<"$told")
    [ $# -eq 0 ] || [ -z "$other" ] || die "$other is not meant for the chaos run: no line # chaos"
    told=$(awk -F '\t' -v OFS='\t' '$4 != "" { $2 = "chaos"; print }' <<<"$told")
fi
if [ "$list" = yes ]; then
    awk -F '\t' '{ printf "%-32s %-24s %s\n", $1, $2, $3 }' <<<"$told"
    exit
fi
mapfile -t mutants <<<"$told"

tmp=$(mktemp -d "${TMPDIR:-/tmp}/zkr-mutants.XXXXXX")
workers=()
clean_up() {
    local each
    trap - EXIT
    for each in "${workers[@]}"; do
        kill -TERM -- "-$each" 2>/dev/null || true
    done
    wait
    rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- one copy -----------------------------------------------------------------------

make_copy() { # COPY
    mkdir -p "$1"
    files '*' | tar cf - -T - | tar xf - -C "$1"
    local targets=(with_server)
    [ "$chaos" = no ] || targets+=(judge) # of who held what
    configure "$1" >"$1/log" 2>&1 && compile "$1" "${targets[@]}"
}

# With ccache, where it is, nothing is compiled twice, whatever the copy is called.
configure() { # COPY
    local launcher=
    ! command -v ccache >/dev/null || launcher=ccache
    cmake -S "$1" -B "$1/build" -G Ninja -DZKR_BUILD_TESTS=ON -DZKR_BUILD_TOOLS=ON \
        -DZKR_BUILD_EXAMPLES=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 \
        -DCMAKE_C_COMPILER_LAUNCHER="$launcher"
}

compile() { # COPY TARGET...
    local copy=$1
    shift
    CCACHE_BASEDIR=$copy CCACHE_NOHASHDIR=1 cmake --build "$copy/build" -j 2 --target "$@" \
        >"$copy/log" 2>&1
}

program_of() { # TEST...
    local test
    for test; do
        [ "$test" = chaos ] && echo chaos || echo "test_${test//./_}"
    done
}

restore() { # COPY FILE...
    local file
    for file in "${@:2}"; do
        cp "$root/$file" "$1/$file"
    done
}

# passes COPY TEST...: as ./run ci would run them.
passes() {
    local copy=$1 names
    shift
    if [ "$chaos" = yes ]; then
        # It begins with a stale leader; a follower that is cut off comes soon.
        TMPDIR=$copy "$copy/build/test/chaos" --seconds 60 --seed 9 >"$copy/out" 2>&1
        return
    fi
    names=$(printf '%s|' "${@//./\\.}")
    ZKT_CASE_SECONDS=60 ctest --test-dir "$copy/build" -j 4 -R "^(${names%|})\$" --output-on-failure --no-tests=error \
        >"$copy/out" 2>&1
}

# What a test has said of its failure, in a line; of the chaos run, what it was meant to say.
said() { # COPY WORDS
    if [ "$chaos" = yes ]; then
        grep '^VIOLATION' "$1/out" | grep -m 1 -E "$2" | cut -c 1-100
        return
    fi
    grep -m 1 -o 'not true: .*' "$1/out" || # of an invariant
        grep -m 1 -o 'seed [0-9]*: .*' "$1/out" | sed 's/_c_[-0-9a-f]\{37\}//g' ||
        grep -m 1 -o '\[  FAILED  \] [a-z][a-z0-9_]*.*' "$1/out" | sed 's/.*\] //; s/, [0-9.]* s$//' ||
        grep -m 1 '^[-+]  ' "$1/out" | cut -c 1-100 || # of a transcript
        grep -m 1 -o 'Timeout\|SEGFAULT\|Subprocess aborted\|Failed' "$1/out" || echo fails
}

# Of a search: only a seed that no other run has seen it, beyond the kept ones and the fixed ones.
by_luck() { # COPY
    grep -q 'seeds that once failed' "$1/out" &&
        [[ $(grep -m 1 -o 'seed [0-9]*: \|^crashed; .* --seed [0-9]*' "$1/out") =~ [0-9]{7} ]]
}

# try MUTANT COPY: a line about it; false when it is not caught.
try() {
    local mutant=$1 copy=$2 name test files why caught=1 start=$SECONDS
    name=$(field 1 "$mutant")
    test=$(field 2 "$mutant")
    read -ra files <<<"$(field 6 "$mutant")"
    if ! why=$(perl "$copy/test/mutants/apply.pl" "$copy" "$name" 2>&1); then
        why="DOES NOT APPLY: $why"
    elif ! compile "$copy" "$(program_of "$test")"; then
        why="DOES NOT COMPILE: $(grep -m 1 error: "$copy/log" || true)"
    elif passes "$copy" "$test"; then
        why="SURVIVES $test"
    elif by_luck "$copy"; then
        why="SURVIVES $test but for luck: $(said "$copy")"
    elif ! why="$test: $(said "$copy" "$(field 4 "$mutant")")"; then
        why="NOT SEEN AS MEANT: $(grep -m 1 '^VIOLATION' "$copy/out" || tail -n 1 "$copy/out")"
    else
        caught=0
    fi
    printf '%-32s %4d s  %s\n' "$name" $((SECONDS - start)) "$why"
    restore "$copy" "${files[@]}"
    return "$caught"
}

# ---- all of them --------------------------------------------------------------------

# The next one of the queue, whoever asks.
next() {
    local line
    (
        flock 9
        IFS= read -r line <&3 && printf '%s\n' "$line"
    ) 9>"$tmp/lock"
}

work() { # COPY
    local mutant
    while mutant=$(next); do
        try "$mutant" "$1" || field 1 "$mutant" >>"$tmp/missed"
    done
}

for ((i = 1; i <= jobs; i++)); do
    make_copy "$tmp/$i" || {
        cat "$tmp/$i/log"
        exit 70
    }
done
mapfile -t needed < <(field 2 "$told" | sort -u)
mapfile -t programs < <(program_of "${needed[@]}")
compile "$tmp/1" "${programs[@]}" || {
    cat "$tmp/1/log"
    exit 70
}
printf '==> without a mutant: %s\n' "${needed[*]}"
passes "$tmp/1" "${needed[@]}" || {
    cat "$tmp/1/out"
    exit 1
}

printf '==> %d mutants\n' "${#mutants[@]}"
export tmp root jobs chaos
export -f by_luck work next try restore compile program_of passes said field
: >"$tmp/missed"
printf '%s\n' "${mutants[@]}" >"$tmp/queue"
exec 3<"$tmp/queue"
for ((i = 1; i <= jobs; i++)); do
    set -m
    "$tmp/$i/build/test/with_server" bash -c "set -euo pipefail; work '$tmp/$i'" </dev/null &
    workers+=($!)
    set +m
done
status=0
for worker in "${workers[@]}"; do
    wait "$worker" || status=$?
done
workers=()
missed=$(sort "$tmp/missed" | paste -sd ' ')
printf '%d mutants, %d not caught%s\n' "${#mutants[@]}" "$(wc -l <"$tmp/missed")" "${missed:+: $missed}"
[ "$status" -eq 0 ] && [ -z "$missed" ]
