#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh ROOT BUILD [NETWORK]: runs the containers of examples/kubernetes as Kubernetes does: zkr is process 1, probes
# and preStop run inside, and process 1 gets TERM at the end. The servers are those in $ZKR_SERVERS. Without NETWORK, a
# container is a PID namespace. With NETWORK, it is a Docker container on this network, where the servers have the names
# that the examples use.
set -euo pipefail
root=$1 build=$2 network=${3:-}

# Each of these two files defines:
#   prepare                      before the first pod
#   pod NAME FILE WORD...        starts the container of a pod with this command
#   found NAME                   tests whether the container runs
#   inside NAME SECONDS WORD...  runs a command in the container, for at most SECONDS
#   terminate NAME SECONDS       sends TERM to its process 1, and KILL after SECONDS
#   await NAME                   waits for its end, and sets $status
#   said NAME                    prints its output
#   remove_pods                  at the end
if [ -z "$network" ]; then
    # shellcheck source=test/kubernetes/namespaces.sh
    . "$root/test/kubernetes/namespaces.sh"
else
    # shellcheck source=test/kubernetes/docker.sh
    . "$root/test/kubernetes/docker.sh"
fi

tmp=$(mktemp -d)
pods=()
cleanup() {
    trap '' HUP INT TERM
    remove_pods
    rm -rf "$tmp"
}
trap cleanup EXIT
# Bash runs these traps when the current command has ended, so cleanup knows what exists.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    local each
    echo "$*"
    for each in "${pods[@]}"; do
        echo "==> $each"
        said "$each" || true
    done
    tail -n +1 "$tmp"/*.log || true
    exit 1
}

# The contents of an image.
bin=$tmp/root/usr/bin
mkdir -p "$bin"
cp "$build/tools/zkr" "$bin"
# shellcheck disable=SC2016 # the programs themselves expand it
{
    printf '#!/bin/sh\necho "scheduler in $POD_NAME"\nexec sleep 1000\n' >"$bin/scheduler"
    printf '#!/bin/sh\necho "report in $POD_NAME"\n' >"$bin/report"
}
chmod +x "$bin/scheduler" "$bin/report"

# Other tests use the same paths on the same servers, so this test uses a chroot.
chroot=/kubernetes-$$
"$build/test/zk" put "$chroot"
export ZKR_SERVERS=$ZKR_SERVERS$chroot

# field FILE NAME: prints the values of a field, one per line.
field() {
    sed -n "s/^ *$2: *//p" "$root/examples/kubernetes/$1.yaml"
}

# words FILE N POD: prints the words of the N-th command of a file, each ended by a zero byte.
words() {
    # shellcheck disable=SC2016 # Kubernetes expands it
    field "$1" command | sed -n "$2p" | /usr/bin/python3 -c '
import json, sys
for word in json.load(sys.stdin):
    print(word.replace("$(POD_NAME)", sys.argv[1]), end="\0")' "$3"
}

# exec_in NAME N SECONDS: runs the N-th command of the deployment in the container of this pod.
exec_in() {
    local command
    mapfile -d '' -t command < <(words deployment "$2" "$1")
    inside "$1" "$3" "${command[@]}" >>"$tmp/$1.log" 2>&1
}
pre_stop() { exec_in "$1" 2 "$(field deployment terminationGracePeriodSeconds)"; }
ready() { exec_in "$1" 3 "$(field deployment timeoutSeconds)"; }

soon() { # COMMAND...: repeats it until it succeeds, for at most 60 s
    local end=$((SECONDS + 60))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || fail "not within 60 s: $*"
        sleep 0.1
    done
}
leads() { grep -q "\"owner\":\"$1\",.*\"waiting\":$2" <("$bin/zkr" status --json /services/scheduler); }
schedules() { grep -qx "scheduler in $1" <(said "$1"); }

begin() { # NAME FILE
    local command
    mapfile -d '' -t command < <(words "$2" 1 "$1")
    [ "${#command[@]}" -gt 3 ] || fail "$2: no command"
    pods+=("$1")
    pod "$1" "$2" "${command[@]}"
}

# Sends TERM to process 1. The container ends by itself, because its command ends.
stop() { # NAME
    terminate "$1" "$(field deployment terminationGracePeriodSeconds)"
    await "$1"
    [ "$status" = 143 ] || fail "$1: status $status after TERM"
}

prepare
begin a deployment
soon found a
soon ready a
soon leads a 0
begin b deployment
soon found b
soon ready b
soon leads a 1

pre_stop b || fail "preStop of b: status $?"
leads a 1 || fail 'preStop of a pod that waits makes the leader step down'

pre_stop a || fail "preStop of a: status $?"
soon leads b 1
stop a
soon leads b 0
soon schedules b
pre_stop b || fail "preStop of the last pod: status $?"
leads b 0 || fail 'the last pod yields to nobody'
stop b
! "$bin/zkr" status -q /services/scheduler || fail 'somebody still leads'

# Runs the same job twice at once, as Kubernetes may do.
begin c cronjob
begin d cronjob
for each in c d; do
    await "$each"
    [ "$status" = 0 ] || fail "$each: status $status"
done
[ "$(cat <(said c) <(said d) | grep -c '^report in')" = 1 ] || fail 'the report did not run once'
"$build/test/zk" clean || fail 'nodes are left'
