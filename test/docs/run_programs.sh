#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_programs.sh BUILD: the programs of examples/ that only the documents show do what these say, on the server in
# $ZKR_SERVERS.
set -euo pipefail
examples=$1/examples

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

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

# Two processes of three threads each, until each has worked often: their tokens grow in the order of the lines,
# so no two have worked at once. A signal ends both with nothing left in the queue.
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
