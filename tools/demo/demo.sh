#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh BUILD_DIR [--servers LIST]: shows the recipes at work, with real processes, on a private ZooKeeper or on the
# given servers, and checks the results. Exits with a non-zero status if anything was wrong. However it ends, it stops
# and removes everything that it started or created.
set -euo pipefail
export LC_ALL=C

die() { # STATUS WORDS
    local status=$1
    shift
    end_progress
    printf 'demo: %s\n' "$*" >&2
    exit "$status"
}

# ---- output -------------------------------------------------------------------------

terminal=no
[ ! -t 1 ] || terminal=yes

bold=
plain=
if [ "$terminal" = yes ]; then
    bold=$'\033[1m'
    plain=$'\033[0m'
fi

# progress WORDS: prints a line that the next one replaces. If the output is not a terminal, prints nothing.
progress() {
    [ "$terminal" = no ] || printf '\r\033[K   %s' "$*"
}

end_progress() {
    [ "$terminal" = no ] || printf '\r\033[K'
}

line() {
    end_progress
    printf '   %s\n' "$*"
}

part() {
    end_progress
    printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

wrong=0
# check WORDS TEST...: prints whether the test succeeds, and records a failure.
check() {
    local words=$1
    shift
    if "$@"; then
        line "ok: $words"
    else
        line "WRONG: not so: $words"
        wrong=$((wrong + 1))
    fi
}

# ---- time, in microseconds ----------------------------------------------------------

now() { # sets `now`
    now=${EPOCHREALTIME/./}
}

ms() { # MICROSECONDS: prints milliseconds, with one decimal below 100
    if [ "$1" -lt 100000 ]; then
        printf '%d.%d ms' $(($1 / 1000)) $(($1 / 100 % 10))
    else
        printf '%d ms' $(($1 / 1000))
    fi
}

# ---- the server ---------------------------------------------------------------------

base=
external=no

delete_nodes() {
    timeout 15 java -cp "$classpath" "${java_options[@]}" "${jvm[@]}" \
        org.apache.zookeeper.ZooKeeperMain -server "$servers" deleteall "$base" \
        </dev/null >/dev/null 2>&1 ||
        printf 'demo: nodes may be left at %s on %s; servers remove them once empty\n' \
            "$base" "$servers" >&3
}

at_end() {
    end_progress
    [ "$external" = no ] || delete_nodes
}

jvm=(-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)

# shellcheck source=tools/server.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../server.sh"

# ---- workers ------------------------------------------------------------------------

declare -A pids # process IDs of the workers, by name

# hold NAME HOLD_MS [SESSION_MS]: runs a holder in the background, at $path.
hold() {
    "$build/examples/hold" "$servers" "$path" "$@" </dev/null >>"$tmp/said" 2>>"$tmp/errors" &
    pids[$1]=$!
}

# said NAME acquired|released: tests whether NAME has printed that. Sets at (microseconds), token and session.
said() {
    local name what time
    while read -r name what time token session; do
        if [ "$name $what" = "$1 $2" ]; then
            at=${time/./}
            return 0
        fi
    done <"$tmp/said"
    return 1
}

said_or_gone() { # NAME acquired|released
    said "$@" || gone "${pids[$1]}"
}

# expect NAME acquired|released [stopwatch SINCE WORDS]: waits until said() succeeds, and sets the same variables.
expect() {
    local name=$1 what=$2
    shift 2
    await 15 "$@" said_or_gone "$name" "$what" || true
    said "$name" "$what" || give_up "process $name has not $what the lock"
}

new_path() { # NAME
    path=$base/$1
    : >"$tmp/said"
    : >"$tmp/errors"
}

give_up() { # WORDS
    end_progress
    head -n 5 "$tmp/errors" >&2
    die 1 "$*"
}

# ---- 1: lost updates ----------------------------------------------------------------

takers=30
stock=100

left_in_stock() {
    local number=
    read -r number <"$tmp/stock" || true
    printf '%d' "$number"
}

# take with|without: runs all takers at once, and sets left.
take() {
    local started=() running failed=0 i end=$((SECONDS + 30))
    printf '%10d\n' "$stock" >"$tmp/stock"
    for ((i = 0; i < takers; i++)); do
        "$build/examples/stock" "$servers" "$path" "$tmp/stock" "$1" 1 \
            </dev/null 2>>"$tmp/errors" &
        started+=($!)
    done
    while :; do
        running=0
        for i in "${started[@]}"; do
            gone "$i" || running=$((running + 1))
        done
        left=$(left_in_stock)
        progress "$(printf '%-8s the lock: %2d of %d done, %3d left' \
            "$1" $((takers - running)) "$takers" "$left")"
        [ "$running" -gt 0 ] || break
        [ "$SECONDS" -lt "$end" ] || give_up "$running processes do not end"
        sleep 0.05
    done
    for i in "${started[@]}"; do
        wait "$i" || failed=$((failed + 1))
    done
    [ "$failed" -eq 0 ] || give_up "$failed processes failed"
}

show_stock() {
    local right=$((stock - takers))
    part "1. $takers processes each take 1 from a stock of $stock"
    new_path stock
    take without
    line "without the lock: $left left, $((left - right)) of $takers updates lost"
    check 'without the lock updates are lost' [ "$left" -gt "$right" ]
    take with
    line "with the lock: $left left"
    check "with the lock $right are left" [ "$left" -eq "$right" ]
}

# ---- 2: first come, first served ----------------------------------------------------

# Runs in the background, because a command that handles SIGINT itself keeps it from this script.
status() { # [--json]: writes to $tmp/status
    "$build/tools/zkr" -z "$servers" status "$@" "$path" </dev/null >"$tmp/status" \
        2>>"$tmp/errors" &
    wait $!
}

queue_reaches() { # POSITION
    local text=
    status --json && read -r text <"$tmp/status" && [[ $text == *"\"position\":$1,"* ]]
}

# A command that runs under the lock, and prints the same lines as hold.
# shellcheck disable=SC2016 # for the shell that zkr runs
served='echo "$0 acquired $EPOCHREALTIME $ZKR_FENCING_TOKEN 0"; sleep 0.1
    echo "$0 released $EPOCHREALTIME"'

# run_locked NAME OPTION COMMAND...: runs zkr lock in the background, at $path. It has no terminal, because zkr would
# give the terminal, and so Ctrl-C, to its command.
run_locked() {
    local name=$1 option=$2
    shift 2
    setsid "$build/tools/zkr" -z "$servers" lock -i "$name" "$option" "$path" "$@" \
        </dev/null >>"$tmp/said" 2>>"$tmp/errors" &
    pids[$name]=$!
}

show_order() {
    local count=8 i name last_token last_released in_order=yes alone=yes
    part "2. First come, first served: $count processes wait for one lock"
    new_path order
    hold gate -1
    expect gate acquired
    last_token=$token
    for ((i = 1; i <= count; i++)); do
        run_locked "w$i" -x bash -c "$served" "w$i"
        progress "zkr lock: $i waiting"
        await 15 queue_reaches $((i + 1)) || give_up "w$i does not get into the queue"
    done
    status || give_up 'zkr status fails'
    while read -r i name _ _ token _; do
        line "$(printf '%-5s %-6s %s' "$i" "$name" "$token")"
    done <"$tmp/status"
    kill -TERM "${pids[gate]}"
    expect gate released
    last_released=$at
    for ((i = 1; i <= count; i++)); do
        name=w$i
        expect "$name" acquired
        line "$name has it $(ms $((at - last_released))) after the one before, token $token"
        [ "$token" -gt "$last_token" ] || in_order=no
        [ "$at" -ge "$last_released" ] || alone=no
        last_token=$token
        expect "$name" released
        last_released=$at
    done
    check 'served in the order in which they came' [ "$in_order" = yes ]
    check 'never two at a time' [ "$alone" = yes ]
}

# Runs until a certain file exists.
# shellcheck disable=SC2016 # for the shell that zkr runs
shared='echo "$0 acquired $EPOCHREALTIME $ZKR_FENCING_TOKEN 0"
    until [ -e "$1" ]; do sleep 0.02; done
    echo "$0 released $EPOCHREALTIME"'

show_readers() {
    local count=5 i last=0 fine=yes
    new_path shared
    for ((i = 1; i <= count; i++)); do
        run_locked "r$i" -s bash -c "$shared" "r$i" "$tmp/go"
    done
    for ((i = 1; i <= count; i++)); do
        expect "r$i" acquired
    done
    run_locked w -x bash -c "$served" w
    await 15 queue_reaches $((count + 1)) || give_up 'w does not get into the queue'
    ! said w acquired || fine=no
    : >"$tmp/go"
    for ((i = 1; i <= count; i++)); do
        expect "r$i" released
        [ "$at" -le "$last" ] || last=$at
    done
    expect w acquired
    [ "$at" -ge "$last" ] || fine=no
    check "$count readers hold together, then the writer that waited, alone" [ "$fine" = yes ]
    expect w released
}

# ---- 3: the holder dies -------------------------------------------------------------

# stopwatch SINCE WORDS TEST...: runs a test while showing a clock.
stopwatch() {
    now
    progress "$2: $(ms $((now - $1)))"
    shift 2
    "$@"
}

kill_hard() { # PID; otherwise bash would report its end
    { kill -KILL "$1" && wait "$1"; } 2>/dev/null || true
}

show_loss() {
    local asked=3000 since took limit
    part '3. The holder goes: how soon has the next one the lock?'
    new_path loss
    hold a -1 "$asked"
    expect a acquired
    limit=$session
    hold b -1 "$asked"
    sleep 0.5
    kill -TERM "${pids[a]}"
    expect b acquired
    took=$at
    said a released
    took=$((took - at))
    line "it releases: $(ms "$took")"
    check 'long before a session would have ended' [ "$took" -lt $((asked * 700)) ]

    hold c -1 "$asked"
    sleep 0.5
    now
    since=$now
    kill_hard "${pids[b]}"
    expect c acquired stopwatch "$since" "it is killed with SIGKILL, and has no guardian"
    took=$((at - since))
    line "it is killed with SIGKILL, and has no guardian: $(ms "$took"), with a session time-out of $limit ms"
    # The server counts from the last message of the client, in steps of its tick.
    check 'not before the session can have ended' [ "$took" -gt $((limit * 1000 / 2)) ]
    check 'soon after the session has ended' [ "$took" -lt $((limit * 1500 + 1000000)) ]

    run_locked d -x bash -c "$shared" d "$tmp/never"
    sleep 0.5
    kill -TERM "${pids[c]}"
    expect d acquired
    hold e -1 "$asked"
    sleep 0.5
    now
    since=$now
    kill_hard "${pids[d]}"
    expect e acquired stopwatch "$since" "zkr is killed with SIGKILL, and has a guardian"
    took=$((at - since))
    line "zkr is killed with SIGKILL, and has a guardian: $(ms "$took"), its command included"
    check 'long before its session would have ended' [ "$took" -lt 3000000 ]
    kill -TERM "${pids[e]}"
    expect e released
}

# ---- 4: election --------------------------------------------------------------------

# leads TERM: tests whether the term with this number, counted from 1, has begun. Sets leader and at.
leads() {
    local name what time count=0
    while read -r name what time _; do
        if [ "$what" = leads ]; then
            count=$((count + 1))
            leader=$name
            at=${time}000
        fi
    done <"$tmp/said"
    [ "$count" -ge "$1" ]
}

await_leader() { # TERM [stopwatch SINCE WORDS]
    local term=$1
    shift
    await 15 "$@" leads "$term" || give_up 'nobody leads'
}

jobs_run() { # COUNT: tests whether the leader has run that many jobs
    local name what count=0
    while read -r name what _; do
        [ "$name $what" != "$leader job" ] || count=$((count + 1))
    done <"$tmp/said"
    progress "$leader leads: $count of $1 jobs run"
    [ "$count" -ge "$1" ]
}

await_jobs() { # COUNT
    await 15 jobs_run "$1" || give_up "$leader leads but runs no job"
    line "$leader leads and runs a job each second: $1 done"
}

# Sets jobs. Also sets whether each tick had one job, and whether no job followed a job of a later term, each to yes or
# no.
read_jobs() {
    local what token tick last_token=0
    local -A seen=()
    jobs=0
    once=yes
    in_order=yes
    while read -r _ what _ token tick; do
        [ "$what" = job ] || continue
        jobs=$((jobs + 1))
        [ -z "${seen[$tick]:-}" ] || once=no
        seen[$tick]=yes
        [ "$token" -ge "$last_token" ] || in_order=no
        last_token=$token
    done <"$tmp/said"
}

show_election() {
    local asked=3000 since took name
    part '4. Three schedulers, one of which runs the jobs'
    new_path election
    for name in x y z; do
        "$build/examples/scheduler" "$servers" "$path" "$name" "$asked" \
            </dev/null >>"$tmp/said" 2>>"$tmp/errors" &
        pids[$name]=$!
    done
    await_leader 1
    await_jobs 2

    now
    since=$now
    kill_hard "${pids[$leader]}"
    await_leader 2 stopwatch "$since" "$leader is killed with SIGKILL"
    took=$((at - since))
    line "it is killed with SIGKILL; the next leads after $(ms "$took")"
    # On servers with a longer tick, session timeouts are longer than requested.
    check 'soon after the session has ended' [ "$took" -lt 8000000 ]
    await_jobs 2

    now
    since=$now
    kill -TERM "${pids[$leader]}"
    await_leader 3 stopwatch "$since" "$leader is stopped"
    took=$((at - since))
    line "it is stopped with SIGTERM; the next leads after $(ms "$took")"
    check 'long before a session would have ended' [ "$took" -lt $((asked * 700)) ]
    await_jobs 1

    read_jobs
    check "$jobs jobs, no tick was run twice" [ "$once" = yes ]
    check 'no job of a leader after one of its successor' [ "$in_order" = yes ]
    kill -TERM "${pids[$leader]}"
    await 5 gone "${pids[x]}" "${pids[y]}" "${pids[z]}" || give_up 'a scheduler does not end'
}

# ---- all ----------------------------------------------------------------------------

given=
case $# in
1) ;;
3) [ "$2" != --servers ] || given=$3 ;;
esac
[ $# -eq 1 ] || [ -n "$given" ] || die 64 'usage: demo.sh BUILD_DIR [--servers LIST]'
build=$1
for name in examples/{hold,scheduler,stock} tools/zkr; do
    [ -x "$build/$name" ] ||
        die 66 "no $build/$name; build with -DZKR_BUILD_EXAMPLES=ON -DZKR_BUILD_TOOLS=ON"
done

tmp=$(mktemp -d)
base=/zkr-demo-$$-$RANDOM
if [ -n "$given" ]; then
    servers=$given
    line "ZooKeeper at $servers, below $base"
else
    start_server 500 "${jvm[@]}" -Dzookeeper.preAllocSize=1024
    line "private ZooKeeper $version on $servers, tick 500 ms"
fi

new_path hello
hold hello 0
await 15 said_or_gone hello released || true
said hello released || give_up "no lock to be had at $servers within 15 s"
[ -z "$given" ] || external=yes

show_stock
show_order
show_readers
show_loss
show_election

printf '\n'
[ "$wrong" -eq 0 ] || die 1 "$wrong checks failed"
line "everything as it should be, in $SECONDS s"
