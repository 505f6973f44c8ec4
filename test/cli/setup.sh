# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Functions for all transcripts. A line that begins with "2> " was written to standard error by zkr. stable() replaces
# numbers that change from run to run by words.
#
# Each case begins with `fresh`, which gives it its own chroot: $chroot at $servers, in $ZKR_SERVERS. The root of a case
# is a node without children.

unset BASH_ENV
servers=$ZKR_SERVERS
export ZKT_SERVERS=$servers # zk bypasses a habit of with_server for these
work=$(mktemp -d)
cases=0
chroot=
declare -A pid stdin served

# ---- output --------------------------------------------------------------------------

# Replaces everything in the output of zkr that differs from run to run.
stable() {
    sed -E -e "s|${chroot:-/no/chroot}||g" -e "s|$servers|SERVERS|g" -e "s|$PWD/||g" \
        -e 's/_c_[0-9a-f-]{36}/_c_GUID/g' -e 's/0x[0-9a-f]{6,}/SESSION/g' \
        -e 's/time=[0-9T:.-]+Z/time=TIME/' -e 's/ after [0-9.]+ s:/ after N s:/' -e 's/_ms=[0-9]+/_ms=N/g' \
        -e 's/(token=|"fencing_token":|(, | with )token )[0-9]+/\1TOKEN/g' -e 's/("held_since":)([0-9]+|null)/\1HELD/g' \
        -e 's/("(created_ms|age_ms|waiting_since|session_timeout_ms)":)[0-9]+/\1MS/g' "$@"
}

# Prints a table with two blanks between words. An age below a minute becomes AGE. The time of a hold becomes HELD,
# because a holder writes it some time after the grant.
table() {
    stable -e 's/   +/  /g' -e 's/ +$//' -e 's/  (<?[0-9]+s  )(<?[0-9]+s|-)  [0-9]+  /  AGE  HELD  TOKEN  /' \
        -e 's/  <?[0-9]+s\b/  AGE/g'
}

# Runs zkr, and shows standard error after standard output. To use a pipe or file as input, or to see the bytes, use
# `command zkr`.
zkr() {
    local err=$work/err.$BASHPID status=0
    command zkr "$@" </dev/null 2>"$err" || status=$?
    [ ! -s "$err" ] || stable -e 's/^/2> /' "$err" >&2
    return "$status"
}

# Runs zkr with each line of the input as its command line. Prints an error unless zkr ends with this status and writes
# nothing but one line on standard error that contains these words.
refused() { # STATUS [WORDS]
    local line wanted=$1 status
    while IFS= read -r line; do
        status=0
        eval "command zkr $line" </dev/null >"$work/out" 2>"$work/err" || status=$?
        if [ "$status" != "$wanted" ] || [ -s "$work/out" ] || [ "$(grep -c "^zkr: .*${2:-}" "$work/err")" != 1 ] ||
            [ "$(wc -l <"$work/err")" != 1 ]; then
            echo "zkr $line: status $status"
            cat "$work/out" "$work/err"
        fi
    done
}

# ---- commands in the background -----------------------------------------------------------

# Runs a command in the background and in its own process group. Its output is in $work/NAME.out and $work/NAME.err.
bg() { # NAME COMMAND...
    local name=$1
    shift
    : >"$work/$name.out"
    : >"$work/$name.err"
    (exec setsid env --default-signal=INT,QUIT "$@" </dev/null >"$work/$name.out" 2>"$work/$name.err") &
    pid[$name]=$!
}

# Like bg, with a pipe as input: `echo >&${stdin[NAME]}` writes to it, and `shut` closes it.
piped() { # NAME COMMAND...
    local name=$1 fd
    shift
    : >"$work/$name.out"
    : >"$work/$name.err"
    mkfifo "$work/$name.in"
    (exec setsid env --default-signal=INT,QUIT "$@" <"$work/$name.in" >"$work/$name.out" 2>"$work/$name.err") &
    pid[$name]=$!
    exec {fd}>"$work/$name.in"
    rm "$work/$name.in"
    stdin[$name]=$fd
}

shut() { # NAME
    local fd=${stdin[$1]:-}
    [ -z "$fd" ] || exec {fd}>&-
    unset "stdin[$1]"
}

# Repeats the command until it succeeds. After 30 s, prints its last output and fails.
soon() { # COMMAND...
    local said end=$((SECONDS + 30))
    until said=$("$@" 2>&1); do
        if [ "$SECONDS" -ge "$end" ]; then
            printf 'not within 30 s: %s\n%s\n' "$*" "$said"
            return 1
        fi
        sleep 0.01
    done
}

shows() { # TEXT COMMAND...: the output of the command contains the text
    local said
    said=$("${@:2}" 2>&1)
    printf '%s\n' "$said"
    [[ $said == *"$1"* ]]
}

out() { # NAME...: prints their output
    local name
    for name; do cat "$work/$name.out"; done
}

err() { # NAME...
    local name
    for name; do stable -e 's/^/2> /' "$work/$name.err"; done
}

# Runs `zkr lock -i NAME ARGUMENT...` in the background, with a command that sleeps.
lock() { # NAME ARGUMENT...
    bg "$1" zkr lock -i "$@" sh -c 'echo held; exec sleep 60'
}

holds() { # NAME: one that `lock` has started
    [ -s "$work/$1.out" ]
}

# Like lock, but hold waits until it holds, and queued waits until it is in the queue.
hold() { # NAME ARGUMENT...
    lock "$@"
    soon holds "$1"
}

queued() { # NAME ARGUMENT...
    local before
    before=$(zk ephemerals)
    lock "$@"
    soon more_than "$before"
}

more_than() { # COUNT
    [ "$(zk ephemerals)" -gt "$1" ]
}

# Waits until the commands have ended. Prints their standard error, and returns the status of the last one.
await() { # NAME...
    local name status=0
    for name; do
        status=0
        wait "${pid[$name]}" 2>/dev/null || status=$?
        unset "pid[$name]"
        shut "$name"
        err "$name"
    done
    return "$status"
}

# Sends a signal to the commands, which must die of it.
let_go() { # [-SIGNAL] NAME...
    local name signal=TERM status
    [[ $1 != -* ]] || { signal=${1#-} && shift; }
    for name; do
        kill "-$signal" "${pid[$name]}"
        status=0
        await "$name" || status=$?
        [ "$status" = $((128 + $(kill -l "$signal"))) ] || echo "$name: status $status"
    done
}

# Runs await or let_go without showing standard error.
quietly() { # await or let_go, ARGUMENT...
    local status=0
    "$@" >"$work/quiet" || status=$?
    grep -v '^2> ' "$work/quiet"
    return "$status"
}

# ---- nodes made directly ------------------------------------------------------------------

# Keeps nodes of one session, which belongs to another client.
keep() { # NAME PATH[=DATA]...
    bg "$1" zk keep "${@:2}"
    soon holds "$1"
}

# Starts a server or proxy of zk. It reads orders, one a line, and ends each answer with the line "done". Its first line
# is stored in $host.
serve() { # NAME ARGUMENT...: zk ARGUMENT...
    piped "$1" zk "${@:2}"
    served[$1]=yes
    soon holds "$1"
    # shellcheck disable=SC2034 # of transcripts
    host=$(head -n 1 "$work/$1.out")
}

tell() { # NAME WORDS
    local before
    before=$(grep -c '^done$' "$work/$1.out")
    echo "$2" >&"${stdin[$1]}"
    soon answered "$1" "$before"
    tail -n +2 "$work/$1.out" | tail -n 2 | grep -v '^done$' || true
}

answered() { # NAME BEFORE
    [ "$(grep -c '^done$' "$work/$1.out")" -gt "$2" ]
}

# ---- cases ------------------------------------------------------------------------------

# Checks that the case has left nothing behind except its servers and proxies, and ends what is left.
over() {
    local name
    for name in "${!pid[@]}"; do
        [ -n "${served[$name]:-}" ] || echo "left over: $name"
        end "$name"
    done
    served=()
    [ -z "$chroot" ] || zk clean
    chroot=
}

end() { # NAME
    local tries
    kill -TERM "${pid[$1]}" 2>/dev/null
    for ((tries = 0; tries < 200; tries++)); do
        kill -0 "${pid[$1]}" 2>/dev/null || break
        sleep 0.01
    done
    kill -KILL -- "-${pid[$1]}" 2>/dev/null
    wait "${pid[$1]}" 2>/dev/null
    unset "pid[$1]"
    shut "$1"
}

fresh() {
    over
    chroot=/t/$(basename "$TESTFILE" .t)-$$-$((++cases))
    ZKR_SERVERS=$servers zk put "$chroot"
    export ZKR_SERVERS=$servers$chroot
}

# ---- the end ----------------------------------------------------------------------------

# Prints the processes of SHELL in its own process group, except those started by `bg`, PID, and the descendants of PID.
below() { # SHELL PID
    ps -e -o pid=,ppid=,pgid= | awk -v top="$1" -v but="$2" '{ parent[$1] = $2; group[$1] = $3 } END {
        for (pid in parent) {
            for (at = pid; at > 1 && at != top && at != but; at = parent[at]);
            if (at == top && pid != top && group[pid] == group[top]) print pid
        }
    }'
}

# cram waits for all processes that may still write, so a watchdog ends them.
seconds=$((3 * ${ZKT_CASE_SECONDS:-100})) # a file has several cases
(
    sleep "$seconds" || exit
    echo "not over after $seconds s"
    this=$BASHPID
    mapfile -t stuck < <(below $$ "$this")
    ps -o pid,stat,args "${stuck[@]}"
    kill -TERM $$
    kill -KILL "${stuck[@]}"
) 2>/dev/null &
watchdog=$!

finish() {
    over
    pkill -P "$watchdog" 2>/dev/null
    kill "$watchdog" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
set -o pipefail
