#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_python.sh ROOT ZKR STAGE LIBDIR: tests examples/lock.py. It waits for a lock that zkr holds on the server in
# $ZKR_SERVERS, gets the lock with a higher token, and leaves no node. STAGE has an installed library.
set -euo pipefail
root=$1 zkr=$2 stage=$3 libdir=$4
path=/docs/python

tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT

fail() {
    echo "$*"
    cat "$tmp"/* || true
    exit 1
}

lock() { # PATH
    PKG_CONFIG_PATH=$stage/$libdir/pkgconfig LD_LIBRARY_PATH=$stage/$libdir \
        /usr/bin/python3 -B "$root/examples/lock.py" "$ZKR_SERVERS" "$1"
}

"$zkr" lock "$path" sleep 100 &
holder=$!
until "$zkr" status -q "$path"; do sleep 0.05; done
first=$("$zkr" status --json "$path" | sed 's/.*"fencing_token":\([0-9]*\).*/\1/')

lock "$path" >"$tmp/said" 2>&1 &
waiter=$!
until "$zkr" status --json "$path" | grep -q '"waiting":1'; do
    kill -0 "$waiter" || fail 'lock.py does not wait'
    sleep 0.05
done
[ ! -s "$tmp/said" ] || fail 'lock.py says something before it holds'
kill -TERM "$holder"
wait "$waiter" || fail "lock.py: status $?"
token=$(sed -n 's/^held, fencing token \([0-9]*\)$/\1/p' "$tmp/said")
[ "${token:-0}" -gt "$first" ] || fail "lock.py has the token ${token:-0} after $first"
! "$zkr" status -q "$path" || fail 'the lock is still held'

# lock.py reports an error in one line, and fails.
! lock no-path >"$tmp/said" 2>&1 || fail 'lock.py takes a lock at no path'
grep -q '^lock.py: .* must start with /' "$tmp/said" || fail 'lock.py does not say what failed'
[ "$(wc -l <"$tmp/said")" = 1 ] || fail 'lock.py says more than one line'
