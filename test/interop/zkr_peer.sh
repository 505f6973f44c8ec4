#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# zkr_peer.sh SERVERS ZKR: the command zkr under remote control, see peer.h. The command that it runs under the lock
# reads the next lines, until it is told to release.
servers=$1 zkr=$2 path='' ms=''

# shellcheck disable=SC2016 # for the shell that runs it
add='add() {
    n=$(cat "$1")
    sleep 0.001
    echo $((n + 1)) >"$1"
}'

# shellcheck disable=SC2016 # as above
held="$add"'
    echo true
    while read -r word file; do
        case $word in
        release) exit 0 ;;
        add) add "$file" && echo ok ;;
        esac
    done
    exit 1'

lock() { # SECONDS TEXT [ARGUMENT]
    seconds=$1 text=$2
    shift 2
    "$zkr" -z "$servers" -t "$ms" lock -w "$seconds" "$path" sh -c "$text" sh "$@"
}

soak() {
    count=0
    until [ -e "$1-end" ]; do
        lock 60 "$add; add \"\$1\"" "$1" || return
        count=$((count + 1))
    done
    echo "$count"
}

while read -r word one two three; do
    case $word in
    begin)
        path=$two ms=$three
        echo "ready $one"
        ;;
    lock | end) echo ok ;;
    acquire) if lock "$((one / 1000))" "$held"; then echo ok; else echo false; fi ;;
    soak) soak "$one" || echo error ;;
    esac
done
