#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_abi.sh ROOT CC: tests that ./run abi distinguishes changes of the interface that break programs from other
# changes. The test records a small header, and then changes the header in one way after another.
set -eu
root=$1 CC=$2
export CC
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0 cases=0

mkdir -p "$tmp/good/zkr" "$tmp/changed/zkr"
cat >"$tmp/good/zkr/a.h" <<'HEADER'
#define ZKR_API
typedef struct zkr_a zkr_a;
typedef void (*zkr_a_fn)(zkr_a *a, int state, void *ctx);
enum zkr_states {
    ZKR_ONE = 1,
    ZKR_TWO = 2
};
typedef struct zkr_pair {
    long first;
    long second;
} zkr_pair;
typedef struct zkr_a_options {
    unsigned long size;
    long timeout_ms;
    long pause_ms;
    zkr_a_fn fn;
    const zkr_pair *pairs;
} zkr_a_options;
ZKR_API int zkr_a_create(zkr_a **out, const zkr_a_options *options);
ZKR_API int zkr_a_wait(zkr_a *a, long timeout_ms);
HEADER
bash "$root/tools/abi/abi.sh" record "$tmp/record" "$tmp/good" 7 >/dev/null

# changed GREEN|RED SOVERSION SCRIPT WORDS: checks the header after sed has applied SCRIPT.
changed() {
    cases=$((cases + 1))
    status=0
    sed "$3" "$tmp/good/zkr/a.h" >"$tmp/changed/zkr/a.h"
    [ -z "$3" ] || ! cmp -s "$tmp/good/zkr/a.h" "$tmp/changed/zkr/a.h" || { echo "changes nothing: $3"; failed=1; }
    bash "$root/tools/abi/abi.sh" compare "$tmp/record" "$tmp/changed" "$2" >"$tmp/out" 2>&1 || status=$?
    case $1 in
    GREEN) wanted=0 ;;
    *) wanted=1 ;;
    esac
    if [ "$status" -ne "$wanted" ] || ! grep -q -e "$4" "$tmp/out"; then
        echo "status $status, not $wanted, or does not say '$4', with: $3"
        sed 's/^/    /' "$tmp/out"
        failed=1
    fi
}

end=': compatible'
changed GREEN 7 '' "$end"
# Permitted changes.
changed GREEN 7 '/^} zkr_a_options/i long appended;' "$end"
changed GREEN 7 '/^} zkr_a_options/i long appended; const char *and_this;' "$end"
changed GREEN 7 's/ZKR_TWO = 2/&, ZKR_THREE = 3/' "$end"
# shellcheck disable=SC2016 # the last line, for sed
changed GREEN 7 '$a ZKR_API int zkr_a_more(zkr_a *a);' "$end"
# Changes that are not permitted.
changed RED 7 's/zkr_a_wait(zkr_a \*a, long/zkr_a_wait(zkr_a *a, int/' 'function_zkr_a_wait'
changed RED 7 's/^ZKR_API int zkr_a_wait/ZKR_API long zkr_a_wait/' 'function_zkr_a_wait'
changed RED 7 '/zkr_a_wait/d' 'function_zkr_a_wait'
changed RED 7 's/zkr_a_wait/zkr_a_await/' 'function_zkr_a_wait'
changed RED 7 's/long pause_ms;/long inserted; &/' 'struct zkr_a_options'
changed RED 7 's/long timeout_ms;$/int timeout_ms; int inserted;/' 'struct zkr_a_options'
changed RED 7 '/long pause_ms;/d' 'struct zkr_a_options'
changed RED 7 's/long timeout_ms;$/double timeout_ms;/' 'struct zkr_a_options'
changed RED 7 's/long timeout_ms;$/double timeout_ms;/; /^} zkr_a_options/i long appended;' 'struct zkr_a_options'
changed RED 7 's/timeout_ms;$/other;/; s/pause_ms;/timeout_ms;/; s/other;/pause_ms;/' 'struct zkr_a_options'
changed RED 7 '/^} zkr_pair/i long appended;' 'struct zkr_pair'
changed RED 7 's/int state, void/long state, void/' 'zkr_a_fn'
changed RED 7 's/ZKR_TWO = 2/ZKR_TWO = 3/' 'enum zkr_states'
changed RED 7 's/,$//; /ZKR_TWO = 2/d' 'enum zkr_states'
changed RED 7 '/^enum/,/^}/d' 'constants_zkr_states'
# They are permitted if the library gets another name.
changed GREEN 8 '/zkr_a_wait/d' 'new interface'

echo "$cases changes"
[ "$failed" -eq 0 ]
