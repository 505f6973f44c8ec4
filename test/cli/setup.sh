# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Shared by all transcripts. A line that begins with "2> " was written to standard error by zkr. Numbers that change
# from run to run are replaced by words: see stable.
#
# Each case begins with `fresh`, which gives it a chroot of its own, $chroot at $servers, in $ZKR_SERVERS. The root of a
# case is a node without children.

unset BASH_ENV
servers=$ZKR_SERVERS
export ZKT_SERVERS=$servers # which zk reaches without a habit of with_server in between
work=$(mktemp -d)
cases=0
chroot=
declare -A pid stdin served

# ---- output --------------------------------------------------------------------------

# As zkr says it, but for what no run has in common with another.
stable() {
    sed -E -e "s|${chroot:-/no/chroot}||g" -e "s|$servers|SERVERS|g" -e "s|$PWD/||g" \
        -e 's/_c_[0-9a-f-]{36}/_c_GUID/g' -e 's/0x[0-9a-f]{6,}/SESSION/g' \
        -e 's/time=[0-9T:.-]+Z/time=TIME/' -e 's/ after [0-9.]+ s:/ after N s:/' -e 's/_ms=[0-9]+/_ms=N/g' \
        -e 's/(token=|"fencing_token":|(, | with )token )[0-9]+/\1TOKEN/g' -e 's/("held_since":)([0-9]+|null)/\1HELD/g' \
        -e 's/("(created_ms|age_ms|waiting_since|session_timeout_ms)":)[0-9]+/\1MS/g' "$@"
}

# A table, with two blanks between words. An age below a minute becomes AGE. The time of a hold becomes HELD, because a
# holder writes it some time after the grant.
table() {
    stable -e 's/   +/  /g' -e 's/ +$//' -e 's/  (<?[0-9]+s  )(<?[0-9]+s|-)  [0-9]+  /  AGE  HELD  TOKEN  /' \
        -e 's/  <?[0-9]+s\b/  AGE/g'
}

# Standard error is shown behind standard output. With a pipe or file as input, or to see the bytes: `command zkr`.
zkr() {
    local err=$work/err.$BASHPID status=0
    command zkr "$@" </dev/null 2>"$err" || status=$?
    [ ! -s "$err" ] || stable -e 's/^/2> /' "$err" >&2
    return "$status"
}

# Each line of the input is a command line of zkr, and ends with this status, one line on standard error that has these words
# in it, and nothing else.
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

# ---- what goes on beside ----------------------------------------------------------------

# Its output is in $work/NAME.out and $work/NAME.err. It has a process group of its own.
bg() { # NAME COMMAND...
    local name=$1
    shift
    : >"$work/$name.out"
    : >"$work/$name.err"
    (exec setsid env --default-signal=INT,QUIT "$@" </dev/null >"$work/$name.out" 2>"$work/$name.err") &
    pid[$name]=$!
}

# The same, with a pipe as its input: `echo >&${stdin[NAME]}` writes to it, and `shut` closes it.
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

# Until it succeeds; what it said last, if it does not.
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

shows() { # TEXT COMMAND...: it is in what the command says
    local said
    said=$("${@:2}" 2>&1)
    printf '%s\n' "$said"
    [[ $said == *"$1"* ]]
}

out() { # NAME...: what they have written
    local name
    for name; do cat "$work/$name.out"; done
}

err() { # NAME...
    local name
    for name; do stable -e 's/^/2> /' "$work/$name.err"; done
}

# In the background, `zkr lock -i NAME ARGUMENT...` with a command that sleeps.
lock() { # NAME ARGUMENT...
    bg "$1" zkr lock -i "$@" sh -c 'echo held; exec sleep 60'
}

holds() { # NAME: one that `lock` has started
    [ -s "$work/$1.out" ]
}

# The same, which then holds; or which is then in the queue.
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

# Until they have ended: what they have said on standard error, and the status of the last one.
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

# Ends them by a signal, of which they die.
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

# Without what was written to standard error.
quietly() { # await or let_go, ARGUMENT...
    local status=0
    "$@" >"$work/quiet" || status=$?
    grep -v '^2> ' "$work/quiet"
    return "$status"
}

# ---- nodes made directly ------------------------------------------------------------------

# The node is of one session with others.
keep() { # NAME PATH[=DATA]...
    bg "$1" zk keep "${@:2}"
    soon holds "$1"
}

# A server or proxy of zk: it reads orders, a line each, and answers each by lines of which the last is "done". Its first line is
# in $host.
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

# Nothing of a case is left when the next begins, or the transcript ends, but what served it.
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

# The processes of the shell in its own group, without those started by `bg`, and without PID and its descendants.
below() { # SHELL PID
    ps -e -o pid=,ppid=,pgid= | awk -v top="$1" -v but="$2" '{ parent[$1] = $2; group[$1] = $3 } END {
        for (pid in parent) {
            for (at = pid; at > 1 && at != top && at != but; at = parent[at]);
            if (at == top && pid != top && group[pid] == group[top]) print pid
        }
    }'
}

# cram waits for all that may still write.
seconds=$((3 * ${ZKT_CASE_SECONDS:-100})) # several cases
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
