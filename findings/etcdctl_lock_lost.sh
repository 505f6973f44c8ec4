#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# etcdctl and etcd 3.4.23-4+b4 (Debian 12): "etcdctl lock NAME COMMAND" goes on without the lock and ends with 0.
#
# When its lease ends, here by "etcdctl lease revoke", etcdctl neither signals the command nor reports anything. The
# next contender gets the lock at once and runs beside it. The first etcdctl ends with status 0 and an empty standard
# error. etcdctl does not pass on the status of the command either: 7 comes out as 1. (The command needs a "--" before
# it: otherwise etcdctl reads "-c" of "sh -c" as an option of its own.)
#
#   first begins
#   second has the lock
#   first ends
#   status of the first: 0, lines on its standard error: 0
#   status of a command that ends with 7: 1
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch etcd-server=3.4.23-4+b4 etcd-client=3.4.23-4+b4
client=http://127.0.0.1:$(free_port)
peer=http://127.0.0.1:$(free_port)
"$root/usr/bin/etcd" --name one --data-dir "$tmp/data" \
    --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "one=$peer" \
    >"$tmp/etcd.log" 2>&1 &
started+=($!)

etcdctl() {
    ETCDCTL_API=3 "$root/usr/bin/etcdctl" --endpoints="${client#http://}" "$@"
}

until etcdctl get x >/dev/null 2>&1; do
    kill -0 "${started[0]}" 2>/dev/null || unable 'etcd does not start'
    sleep 0.1
done

observe() {
    local first status=0 lease
    # shellcheck disable=SC2016 # the command expands it
    etcdctl lock name -- sh -c 'echo first begins; until [ -e "$1" ]; do sleep 0.1; done; echo first ends' sh \
        "$tmp/second" 2>"$tmp/first.log" &
    first=$!
    until [ -n "$(etcdctl get --prefix name/)" ]; do
        sleep 0.1
    done
    lease=$(etcdctl lease list | tail -n 1)
    etcdctl lease revoke "$lease" >/dev/null
    etcdctl lock name echo second has the lock
    touch "$tmp/second"
    wait "$first" || status=$?
    echo "status of the first: $status, lines on its standard error: $(wc -l <"$tmp/first.log")"
    status=0
    etcdctl lock name -- sh -c 'exit 7' 2>/dev/null || status=$?
    echo "status of a command that ends with 7: $status"
}

seen=$(observe)
same "$seen" <<'EXPECTED'
first begins
second has the lock
first ends
status of the first: 0, lines on its standard error: 0
status of a command that ends with 7: 1
EXPECTED
