# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Sourced by run.sh: runs containers that are PID namespaces.

declare -A containers=() inits=()

prepare() {
    PATH=$bin:$PATH
}

pod() { # NAME FILE WORD...
    POD_NAME=$1 unshare --map-root-user --pid --fork --mount-proc --kill-child "${@:3}" >"$tmp/$1.said" 2>&1 &
    containers[$1]=$!
}

# Sets ${inits[NAME]} to the process id of the container's process 1, once that exists.
found() { # NAME
    local id=${containers[$1]}
    kill -0 "$id" 2>/dev/null || fail "$1: the container does not start"
    inits[$1]=$(tr -d ' ' <"/proc/$id/task/$id/children")
    [ -n "${inits[$1]}" ]
}

inside() { # NAME SECONDS WORD...
    POD_NAME=$1 timeout "$2" nsenter -t "${inits[$1]}" -U --preserve-credentials -p -m "${@:3}"
}

terminate() { # NAME SECONDS
    kill -TERM "${inits[$1]}"
    timeout "$2" tail -s 0.1 --pid="${inits[$1]}" -f /dev/null || kill -KILL "${inits[$1]}"
}

await() { # NAME
    status=0
    wait "${containers[$1]}" || status=$?
    unset "containers[$1]"
}

said() { # NAME
    cat "$tmp/$1.said"
}

remove_pods() {
    # This also kills all processes in its namespace.
    kill -KILL "${containers[@]}" 2>/dev/null || true
    wait
}
