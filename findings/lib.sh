# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Each finding sources this file first. The functions fetch public packages of fixed versions into a temporary folder,
# start a few ZooKeeper servers, and leave nothing behind.
#
#   fetch PACKAGE=VERSION...     packages of Debian 12, unpacked into $root, installed nowhere
#   start_zookeeper SETTING...   one server, on a free port of loopback; $servers is its address
#   start_ensemble SETTING...    two servers, a leader and a follower; $servers has both addresses
#   run_python [ARGUMENT...]     the program on standard input, with the fetched modules; $library is libzookeeper_mt
#   same SEEN                    prints SEEN and compares it with standard input; status 1 if they differ
#
# Status: 0 as described, 1 otherwise, 2 if the finding cannot be shown here (no package, no server), 124 too slow.
# The machine provides bash, coreutils, diff, java, python3 and Debian's apt-get and dpkg-deb.

set -euo pipefail
[ -n "${finding_is_bounded-}" ] || finding_is_bounded=yes exec timeout --kill-after=10 58 "$BASH" "$0"

tmp=$(mktemp -d)
root=$tmp/root
servers=
started=() # processes to end

clean_up() {
    local status=$?
    trap - EXIT
    trap '' HUP INT TERM
    if [ ${#started[@]} -gt 0 ]; then
        kill "${started[@]}" 2>/dev/null || true
        wait "${started[@]}" 2>/dev/null || true
    fi
    rm -rf "$tmp"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 124' HUP INT TERM

unable() { # WORDS
    printf 'not shown: %s\n' "$1" >&2
    exit 2
}

fetch() { # PACKAGE=VERSION...
    local package
    mkdir -p "$tmp/packages" "$root"
    (cd "$tmp/packages" && apt-get -qq download "$@") >"$tmp/fetch.log" 2>&1 || {
        cat "$tmp/fetch.log" >&2
        unable "no package $*"
    }
    for package in "$tmp"/packages/*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    rm -r "$tmp/packages"
    # shellcheck disable=SC2034 # for the findings
    library=$(find "$root" -name libzookeeper_mt.so.2)
}

answers() { # PORT
    local answer=
    { exec 4<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
    printf srvr >&4
    IFS= read -r -t 2 answer <&4 || true
    exec 4>&-
    [[ $answer == 'Zookeeper version: 3.8.0'* ]]
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

classpath=
fetch_zookeeper() {
    local jar
    fetch libzookeeper-java=3.8.0-11+deb12u2 libslf4j-java=1.7.32-1 libdropwizard-metrics-java=3.2.6-1 \
        libsnappy-java=1.1.8.3-1
    for jar in zookeeper zookeeper-jute slf4j-api slf4j-nop metrics-core snappy-java; do
        classpath+=${classpath:+:}$root/usr/share/java/$jar.jar
    done
}

start_server() { # FOLDER PORT CLASS SETTING...: does not wait for it
    local folder=$1 port=$2 class=$3
    shift 3
    mkdir -p "$folder/data"
    printf '%s\n' tickTime=500 dataDir="$folder/data" clientPortAddress=127.0.0.1 clientPort="$port" \
        admin.enableServer=false "$@" >"$folder/zoo.cfg"
    java -cp "$classpath" -Xmx128m -XX:TieredStopAtLevel=1 -Djava.io.tmpdir="$tmp" \
        "org.apache.zookeeper.server.$class" "$folder/zoo.cfg" >"$folder/server.log" 2>&1 &
    started+=("$!")
}

await_server() { # FOLDER PORT
    until answers "$2"; do
        kill -0 "${started[-1]}" 2>/dev/null || {
            cat "$1/server.log" >&2
            unable 'the server does not start'
        }
        sleep 0.1
    done
}

start_zookeeper() { # SETTING...
    local port
    fetch_zookeeper
    port=$(free_port)
    start_server "$tmp" "$port" ZooKeeperServerMain "$@"
    await_server "$tmp" "$port"
    # shellcheck disable=SC2034 # for the findings
    servers=127.0.0.1:$port
}

start_ensemble() { # SETTING...
    local port=() at i
    fetch_zookeeper
    for i in {0..5}; do
        port[i]=$(free_port)
    done
    for at in 1 2; do
        mkdir -p "$tmp/$at/data"
        echo "$at" >"$tmp/$at/data/myid"
        start_server "$tmp/$at" "${port[at - 1]}" quorum.QuorumPeerMain initLimit=20 syncLimit=20 \
            "server.1=127.0.0.1:${port[2]}:${port[3]}" "server.2=127.0.0.1:${port[4]}:${port[5]}" "$@"
    done
    for at in 1 2; do
        await_server "$tmp/$at" "${port[at - 1]}"
    done
    # shellcheck disable=SC2034 # for the findings
    servers=127.0.0.1:${port[0]},127.0.0.1:${port[1]}
}

run_python() { # [ARGUMENT...], program on standard input
    PYTHONPATH=$root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$@"
}

same() { # SEEN, expectation on standard input
    printf '%s\n' "$1"
    diff -u --label expected --label seen - <(printf '%s\n' "$1")
}
