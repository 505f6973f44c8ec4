#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [--json] [--seconds S] [MEASUREMENT...]: an optimised build, then the measurements, on
# a private ZooKeeper or on $ZKR_SERVERS. Takes everything it started or made with it, however
# it ends. The build is in build/bench, or in $ZKR_BENCH_BUILD.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=${ZKR_BENCH_BUILD:-$root/build/bench}

# What is said goes to stderr: stdout is for numbers.
say() {
    printf 'bench: %s\n' "$*" >&2
}

die() { # STATUS WORDS
    local status=$1
    shift
    say "$@"
    exit "$status"
}

# ---- clean-up -----------------------------------------------------------------------

tmp=
server=
program=

gone() { # PID
    ! kill -0 "$1" 2>/dev/null
}

# await SECONDS TEST...: until the test holds; false when it does not in time.
await() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# end_one PID: politely, then not.
end_one() {
    kill -TERM "$1" 2>/dev/null || true
    await 5 gone "$1" || kill -KILL "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

clean_up() {
    local status=$?
    trap - EXIT
    trap '' HUP INT TERM
    [ -z "$program" ] || end_one "$program"
    [ -z "$server" ] || end_one "$server"
    [ -z "$tmp" ] || rm -rf "$tmp"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- the server ---------------------------------------------------------------------

classpath=/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar
# Enough heap that the collector does not show. All else as an operator has it: above all, each
# write is on the disk before it is answered.
jvm=(-Xmx512m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn
    -Dzookeeper.admin.enableServer=false)

# Does a server answer there? Sets version.
server_version() { # PORT
    local answer=
    { exec 4<>"/dev/tcp/127.0.0.1/$1"; } 2>/dev/null || return 1
    printf srvr >&4
    IFS= read -r -t 2 answer <&4 || true
    exec 4>&-
    [[ $answer == 'Zookeeper version: '* ]] || return 1
    answer=${answer#*: }
    version=${answer%%-*}
}

taken() { # PORT: does anything listen there?
    (exec 4<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

answers_or_died() {
    server_version "$port" || gone "$server"
}

start_server() {
    local _
    [ -f "${classpath%%:*}" ] || die 69 "no ${classpath%%:*}; install the package zookeeper"
    command -v java >/dev/null || die 69 'no java; install default-jre-headless'
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 10000))
        ! taken "$port" || continue
        rm -rf "$tmp/data"
        printf '%s\n' tickTime=2000 "dataDir=$tmp/data" clientPortAddress=127.0.0.1 \
            "clientPort=$port" maxClientCnxns=0 admin.enableServer=false >"$tmp/zoo.cfg"
        java -cp "$classpath" "${jvm[@]}" org.apache.zookeeper.server.ZooKeeperServerMain \
            "$tmp/zoo.cfg" </dev/null >"$tmp/server.log" 2>&1 &
        server=$!
        version=
        await 30 answers_or_died || true
        # Not the port of another server that was faster than ours.
        if [ -n "$version" ] && ! gone "$server"; then
            servers=127.0.0.1:$port
            say "private ZooKeeper $version on $servers, data in $tmp"
            return
        fi
        end_one "$server"
        server=
    done
    tail -n 20 "$tmp/server.log" >&2 || true
    die 69 'ZooKeeper does not start'
}

# ---- run ----------------------------------------------------------------------------

options=()
while [[ ${1:-} == --* ]]; do
    case $1 in
    --json) options+=(--json) ;;
    --seconds)
        [ $# -ge 2 ] || die 64 '--seconds needs a number'
        options+=(--seconds "$2")
        shift
        ;;
    *) die 64 "unknown option $1" ;;
    esac
    shift
done

say "release build in $build"
cmake -S "$root" -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
    -DZKR_BUILD_BENCH=ON -DZKR_BUILD_TESTS=OFF >&2
cmake --build "$build" --target bench_mutex >&2

tmp=$(mktemp -d)
if [ -n "${ZKR_SERVERS:-}" ]; then
    servers=$ZKR_SERVERS
    say "ZooKeeper at $servers (\$ZKR_SERVERS)"
else
    start_server
fi
say "$(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"

# In the background, so that a signal is heard at once.
"$build/bench/mutex" "${options[@]}" "$servers" "$@" </dev/null &
program=$!
status=0
wait "$program" || status=$?
program=
say "load $(cut -d ' ' -f 1 /proc/loadavg), $SECONDS s"
[ "$status" -eq 0 ] || exit "$status"
