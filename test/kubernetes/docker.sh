# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Sourced by run.sh: runs Docker containers with the resources and the permissions of the examples.

image=localhost/zkrecipes-pod:$$

# The image contains zkr and its guardian, sh, grep, sleep, and their libraries, all from this machine.
prepare() {
    local each
    for each in sh grep sleep; do
        cp "$(readlink -f "$(command -v "$each")")" "$bin/$each"
    done
    mkdir "$tmp/root/bin" "$tmp/root/usr/libexec"
    ln -s ../usr/bin/sh "$tmp/root/bin/sh"
    cp "$build/tools/guardian/zkr-guardian" "$tmp/root/usr/libexec"
    ldd "$bin"/{zkr,sh,grep,sleep} | sed -nE 's/^.*\s(\/\S+) \(0x[0-9a-f]+\)$/\1/p' | sort -u |
        while IFS= read -r each; do
            mkdir -p "$tmp/root$(dirname "$each")"
            cp -L "$each" "$tmp/root$each"
        done
    tar -C "$tmp/root" -c --owner 0 --group 0 --mode a+rX . |
        docker import --change 'ENV PATH=/usr/bin' - "$image" >/dev/null
}

# Prints the options of docker run for the securityContext and the limits of a file, one per line.
options() { # FILE
    sed -nE 's/^ *runAsUser: ([0-9]+)$/--user=\1/p
        s/^ *readOnlyRootFilesystem: true$/--read-only/p
        s/^ *allowPrivilegeEscalation: false$/--security-opt=no-new-privileges/p
        s/^ *capabilities: \{drop: \[ALL\]\}$/--cap-drop=ALL/p
        s/^ *limits: \{memory: ([0-9]+)Mi\}$/--memory=\1m/p' "$root/examples/kubernetes/$1.yaml"
}

id() { # NAME
    cat "$tmp/$1.id"
}

pod() { # NAME FILE WORD...
    local options
    mapfile -t options < <(options "$2")
    [ "${#options[@]}" = 5 ] || fail "$2: not all of securityContext and limits is understood: ${options[*]}"
    docker run --detach --cidfile "$tmp/$1.id" --network "$network" --hostname "$1" "${options[@]}" \
        --env "POD_NAME=$1" --env "ZKR_SERVERS=$(field "$2" value)$chroot" "$image" "${@:3}" >/dev/null ||
        fail "$1: the container does not start"
}

found() { # NAME
    [ "$(docker inspect --format '{{.State.Running}}' "$(id "$1")")" = true ] || fail "$1: the container has ended"
}

inside() { # NAME SECONDS WORD...
    timeout "$2" docker exec "$(id "$1")" "${@:3}"
}

terminate() { # NAME SECONDS
    docker stop --time "$2" "$(id "$1")" >/dev/null
}

await() { # NAME
    status=$(docker wait "$(id "$1")")
}

said() { # NAME
    docker logs "$(id "$1")" 2>&1
}

remove_pods() {
    local each
    for each in "$tmp"/*.id; do
        [ ! -s "$each" ] || docker rm -f -v "$(cat "$each")" >/dev/null || true
    done
    ! docker image inspect "$image" >/dev/null 2>&1 || docker rmi -f "$image" >/dev/null || true
}
