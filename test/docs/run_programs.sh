#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_programs.sh BUILD: tests the examples pieces, fork, daemon_threads and stripes on the server in $ZKR_SERVERS. They
# do what the documents say.
set -euo pipefail
examples=$1/examples

tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT

fail() {
    echo "$*"
    cat "$tmp"/* || true
    exit 1
}

"$examples/pieces" "$ZKR_SERVERS" /docs/pieces >"$tmp/pieces" || fail "pieces: status $?"

"$examples/fork" "$ZKR_SERVERS" /docs/fork >"$tmp/fork" || fail "fork: status $?"
diff "$tmp/fork" - <<'SAID' || fail 'fork: something else'
child: release the parent's lock: ZKR_ESTATE
child: try the lock: ZKR_ETIMEDOUT
parent: release: ZKR_OK
SAID

# Two processes of three threads each run until each has worked often. Their tokens rise in the order of the lines, so
# no two threads worked at the same time. A signal ends both processes, and the queue is empty.
begin() { # NAME
    "$examples/daemon_threads" "$ZKR_SERVERS" "$1" 3 /docs/threads >>"$tmp/works" &
}
worked() { # NAME
    [ "$(grep -c "^$1 works" "$tmp/works")" -ge 20 ]
}
touch "$tmp/works"
begin a
a=$!
begin b
b=$!
until worked a && worked b; do
    kill -0 "$a" "$b" || fail 'daemon_threads: has ended'
    sleep 0.1
done
kill -TERM "$a" "$b"
wait "$a" || fail "daemon_threads: status $?"
wait "$b" || fail "daemon_threads: status $?"
sort -c -u -n -k 3 "$tmp/works" || fail 'daemon_threads: tokens that do not grow'
"$1/tools/zkr" status -q /docs/threads && fail 'daemon_threads: the lock is still held'
echo "$(wc -l <"$tmp/works") pieces of work"

# Four processes add to the numbers of the same eight keys, and no addition is lost. A key waits only for the holder of
# its own stripe. FNV-1a, which this script computes independently, determines the stripe of a key.
mkdir "$tmp/rows"
keys=(alice bob carol dave erin frank grace heidi)
stripes() { # TIMES KEY...
    "$examples/stripes" "$ZKR_SERVERS" /docs/rows "$tmp/rows" "$@"
}
stripe_of() { # KEY
    local hash=2166136261 i
    for ((i = 0; i < ${#1}; i++)); do
        hash=$((((hash ^ $(printf %d "'${1:i:1}")) * 16777619) & 0xffffffff))
    done
    echo $((hash % 16))
}
adding=()
for _ in 1 2 3 4; do
    stripes 25 "${keys[@]}" >>"$tmp/stripes" &
    adding+=($!)
done
for process in "${adding[@]}"; do
    wait "$process" || fail "stripes: status $?"
done
for key in "${keys[@]}"; do
    [ "$(cat "$tmp/rows/$key")" = 100 ] || fail "stripes: $key has $(cat "$tmp/rows/$key") of 100"
    grep -qxF "$key is at /docs/rows/$(stripe_of "$key")" "$tmp/stripes" || fail "stripes: $key is at another lock"
done
taken=/docs/rows/$(stripe_of alice)
[ "$(stripe_of alice)" != "$(stripe_of bob)" ] || fail 'stripes: alice and bob share a lock'
"$1/tools/zkr" lock "$taken" sleep 100 &
holder=$!
until "$1/tools/zkr" status -q "$taken"; do sleep 0.05; done
stripes 1 alice >/dev/null &
waiter=$!
until "$1/tools/zkr" status --json "$taken" | grep -q '"waiting":1'; do
    kill -0 "$waiter" || fail 'stripes: alice does not wait'
    sleep 0.05
done
stripes 1 bob >/dev/null || fail "stripes: bob: status $?"
[ "$(cat "$tmp/rows/alice") $(cat "$tmp/rows/bob")" = '100 101' ] || fail 'stripes: alice or bob has another number'
kill -TERM "$holder"
wait "$waiter" || fail "stripes: alice: status $?"
[ "$(cat "$tmp/rows/alice")" = 101 ] || fail 'stripes: alice did not add'
wait "$holder" || true
