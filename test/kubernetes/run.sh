#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh ROOT BUILD: runs the commands of examples/kubernetes on the server in $ZKR_SERVERS, as Kubernetes does: each
# container in a PID namespace of its own with zkr as process 1, probes and preStop inside, TERM to process 1 at the end.
set -euo pipefail
root=$1 build=$2

tmp=$(mktemp -d)
cleanup() {
    # And with it all that is in its namespace.
    kill -KILL "${containers[@]}" 2>/dev/null || true
    wait
    rm -rf "$tmp"
}
declare -A containers=() inits=()
trap cleanup EXIT
mkdir "$tmp/bin"
ln -s "$build/tools/zkr" "$tmp/bin/zkr"
for program in scheduler report; do
    # shellcheck disable=SC2016 # the program itself expands it
    printf '#!/bin/sh\necho "%s in $POD_NAME" >>"%s/ran"\n' "$program" "$tmp" >"$tmp/bin/$program"
    chmod +x "$tmp/bin/$program"
done
echo 'exec sleep 1000' >>"$tmp/bin/scheduler"
PATH=$tmp/bin:$PATH
touch "$tmp/ran"
# Other tests use the same paths on the same server.
chroot=/kubernetes-$$
"$build/test/zk" put "$chroot"
export ZKR_SERVERS=$ZKR_SERVERS$chroot

fail() {
    echo "$*"
    tail -n +1 "$tmp"/*.log "$tmp/ran" || true
    exit 1
}

# words FILE N POD: the N-th command of a file, one word after the other, each ended by a zero byte.
words() {
    # shellcheck disable=SC2016 # Kubernetes expands it
    sed -n 's/^ *command: //p' "$root/examples/kubernetes/$1.yaml" | sed -n "$2p" | /usr/bin/python3 -c '
import json, sys
for word in json.load(sys.stdin):
    print(word.replace("$(POD_NAME)", sys.argv[1]), end="\0")' "$3"
}

# pod NAME FILE: starts its container.
pod() {
    local command
    mapfile -d '' -t command < <(words "$2" 1 "$1")
    [ "${#command[@]}" -gt 3 ] || fail "$2: no command"
    POD_NAME=$1 unshare --map-root-user --pid --fork --mount-proc --kill-child "${command[@]}" >"$tmp/$1.log" 2>&1 &
    containers[$1]=$!
}

# found NAME: its process 1, once there is one, has the number ${inits[NAME]} here.
found() {
    local id=${containers[$1]}
    kill -0 "$id" 2>/dev/null || fail "$1: the container does not start"
    inits[$1]=$(tr -d ' ' <"/proc/$id/task/$id/children")
    [ -n "${inits[$1]}" ]
}

# inside NAME N: the N-th command of the deployment, in the container of this pod.
inside() {
    local command
    mapfile -d '' -t command < <(words deployment "$2" "$1")
    POD_NAME=$1 nsenter -t "${inits[$1]}" -U --preserve-credentials -p -m "${command[@]}" >>"$tmp/$1.log" 2>&1
}
pre_stop() { inside "$1" 2; }
ready() { inside "$1" 3; }

soon() { # COMMAND...: it succeeds within 60 s
    local end=$((SECONDS + 60))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "not within 60 s: $*"
        sleep 0.1
    done
}
leads() { grep -q "\"owner\":\"$1\",.*\"waiting\":$2" <(zkr status --json /services/scheduler); }

# stop NAME: TERM for process 1, as at the end of a pod. Nothing of it is left.
stop() {
    kill -TERM "${inits[$1]}"
    wait "${containers[$1]}" || true
    ! kill -0 "${inits[$1]}" 2>/dev/null || fail "$1: process 1 goes on after TERM"
    unset "containers[$1]"
}

pod a deployment
soon found a
soon ready a
soon leads a 0
pod b deployment
soon found b
soon ready b
soon leads a 1

pre_stop b || fail "preStop of b: status $?"
leads a 1 || fail 'preStop of a pod that waits makes the leader step down'

pre_stop a || fail "preStop of a: status $?"
soon leads b 1
stop a
soon leads b 0
[ "$(tail -n 1 "$tmp/ran")" = 'scheduler in b' ] || fail 'the scheduler of b does not run'
pre_stop b || fail "preStop of the last pod: status $?"
leads b 0 || fail 'the last pod yields to nobody'
stop b
! zkr status -q /services/scheduler || fail 'somebody still leads'

# The same job twice at once, as Kubernetes may do.
pod c cronjob
pod d cronjob
for each in c d; do
    wait "${containers[$each]}" || fail "$each: status $?"
    unset "containers[$each]"
done
[ "$(grep -c '^report in' "$tmp/ran")" = 1 ] || fail 'the report did not run once'
