# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Scripts that need a private ZooKeeper, and must leave nothing behind however they end, source this file. Such a script
# defines
#
#   die STATUS WORDS   reports an error, and exits
#   progress WORDS     reports progress; may do nothing
#   at_end             runs last, when only the server still exists
#
# and then sets $tmp if a temporary directory must be removed, and calls start_server.

tmp=
server=  # process ID of the private server
servers= # its address, in the form that clients accept
version= # its version

# ---- processes ----------------------------------------------------------------------

gone() { # PID...
    local pid
    for pid; do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done
}

# await SECONDS TEST...: waits until the test succeeds. Returns false if it does not succeed in time.
await() {
    local end=$((SECONDS + $1 + 1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.02
    done
}

# end_all PID...: sends TERM, and then KILL.
end_all() {
    [ $# -gt 0 ] || return 0
    kill -TERM "$@" 2>/dev/null || true
    await 5 gone "$@" || kill -KILL "$@" 2>/dev/null || true
    wait "$@" 2>/dev/null || true
}

clean_up() {
    local status=$? pid others=()
    trap - EXIT
    trap '' HUP INT TERM
    exec 3>&2 2>/dev/null # this hides bash's reports of ended processes
    for pid in $(jobs -pr); do
        [ "$pid" = "$server" ] || others+=("$pid")
    done
    end_all "${others[@]}"
    at_end
    [ -z "$server" ] || end_all "$server"
    [ -z "$tmp" ] || rm -rf "$tmp"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- the server ---------------------------------------------------------------------

classpath=/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar
java_options=(-Dorg.slf4j.simpleLogger.defaultLogLevel=warn)

# Tests whether a server answers on PORT, and sets version.
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

taken() { # PORT: tests whether any process listens there
    (exec 4<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

answers_or_died() { # PORT
    server_version "$1" || gone "$server"
}

# start_server TICK_MS JAVA_OPTION...: starts a server on a free port of 127.0.0.1, with its data in $tmp. Sets server,
# servers and version.
start_server() {
    local tick=$1 port try
    shift
    [ -f "${classpath%%:*}" ] || die 69 "no ${classpath%%:*}; install the package zookeeper"
    command -v java >/dev/null || die 69 'no java; install default-jre-headless'
    for try in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 10000))
        ! taken "$port" || continue
        progress "ZooKeeper starts on 127.0.0.1:$port"
        rm -rf "$tmp/data"
        printf '%s\n' "tickTime=$tick" "dataDir=$tmp/data" clientPortAddress=127.0.0.1 \
            "clientPort=$port" maxClientCnxns=0 admin.enableServer=false >"$tmp/zoo.cfg"
        java -cp "$classpath" "${java_options[@]}" -Dzookeeper.admin.enableServer=false "$@" \
            org.apache.zookeeper.server.ZooKeeperServerMain "$tmp/zoo.cfg" \
            </dev/null >"$tmp/server.log" 2>&1 &
        server=$!
        version=
        await 30 answers_or_died "$port" || true
        # Another server may have taken the port first.
        if [ -n "$version" ] && ! gone "$server"; then
            # shellcheck disable=SC2034 # scripts that source this file use it
            servers=127.0.0.1:$port
            return
        fi
        end_all "$server"
        server=
        progress "attempt $try did not work"
    done
    tail -n 20 "$tmp/server.log" >&2 || true
    die 69 'ZooKeeper does not start'
}
