#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sabotage.sh [NAME...]: breaks the library in a copy, one way at a time, and expects the chaos
# run to see it. Status 0: every one was seen, by the violations named beside it. Takes about
# 25 minutes in all.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
copy=$(mktemp -d)
program=
clean_up() {
    local status=$?
    trap - EXIT
    [ -z "$program" ] || kill "$program" 2>/dev/null || true
    wait
    rm -rf "$copy"
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Starts with a stale leader; a follower that is cut off comes soon.
seed=9

# NAME | SECONDS | FILE | sed expression | violations of which one has to be among those found
mutants=(
    'lease_doubled|60|lib/session/lease.c|s/return l->session - l->session \/ 1000 \* ppm \/ 1000;/return 2 * l->session + 0 * ppm;/|too many were sure at once|sure, and refused'
    'always_sure|60|lib/session/bound.c|s/int64_t left = (c->lease.until - c->door->boot()) \/ ZKR__MS;/int64_t left = c->session_ms;/; s/zkr__lease_alive(&c->lease, c->door->boot())/true/|too many were sure at once|sure, and refused'
    'state_proves|60|lib/session/bound.c|s/int64_t left = (c->lease.until - c->door->boot()) \/ ZKR__MS;/int64_t left = zkr__connected(c) ? c->session_ms \/ 2 : 0;/; s/zkr__lease_alive(&c->lease, c->door->boot())/zkr__connected(c)/|too many were sure at once'
    'any_event_grants|60|lib/engine/claim_events.c|s/if (ours && k->own == ZKR__OWN_SET) {/if (true) {/|too many were sure at once'
    'delete_not_repeated|150|lib/engine/claim_events.c|s/if (e->code != ZKR_OK && e->code != ZKR_ENONODE && e->code != ZKR_EAUTH) {/if (false) {/|lock not obtained|lock wanted'
    'release_without_delete|60|lib/engine/transitions.c|s/return zkr__enter(k, e, ZKR__REMOVING);/k->phase = ZKR__GONE; return 0;/|lock not obtained|without enough happening'
    'newcomers_first|60|lib/engine/children.c|s/return a->sequence < b->sequence ? -1 : 1;/return a->sequence < b->sequence ? 1 : -1;/|too many were sure at once|overtaken'
    'ticket_always_valid|60|lib/recipes/ticket_query.c|s/int64_t left = is_sure(t) ? zkr__valid_for_ms(t->c) : 0;/int64_t left = t->c->session_ms;/|too many were sure at once|sure, and refused'
    'ticket_told_again|60|lib/recipes/ticket.c|s/        t->reported = report;/        t->reported = 0;/|out of turn'
    'ticket_never_times_out|60|lib/recipes/ticket.c|s/t->place.timed = true;/t->place.timed = false;/|long after its deadline'
    'reader_never_waits|60|lib/engine/rule.c|s/if (children->list\[i\].kind != ZKR__NAME_READ) {/if (false) {/|too many were sure at once'
    'permit_too_many|60|lib/engine/rule.c|s/children->strays + self + 1;/children->strays + self;/|too many were sure at once'
    'multi_lock_of_one|60|lib/engine/group.c|s/ready + held == in \&\& /ready + held > 0 \&\& /; s/(complete \&\& held == in \&\& /(complete \&\& held > 0 \&\& /|too many were sure at once|not first on both'
)

say() {
    printf 'sabotage: %s\n' "$*" >&2
}

(cd "$root" && tar cf - --exclude=.git --exclude='./build*' .) | tar xf - -C "$copy"
cmake -S "$copy" -B "$copy/build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG='-O1 -g' >/dev/null

build() {
    cmake --build "$copy/build" -j 2 --target chaos >/dev/null
}

# try NAME SECONDS FILE EXPRESSION WORDS: whether the run ends with a violation that matches.
try() {
    local name=$1 seconds=$2 file=$3 expression=$4 words=$5 status=0
    sed -i "$expression" "$copy/$file"
    if cmp -s "$root/$file" "$copy/$file"; then
        say "$name: changes nothing in $file"
        return 1
    fi
    build
    cp "$root/$file" "$copy/$file" # for the next one
    TMPDIR=$copy "$copy/build/test/chaos" --seconds "$seconds" --seed "$seed" \
        >"$copy/out" 2>"$copy/err" &
    program=$!
    wait "$program" || status=$?
    program=
    grep '^VIOLATION' "$copy/out" | cut -c 1-150 | sed "s/^/    /" || true
    if [ "$status" -eq 1 ] && grep '^VIOLATION' "$copy/out" | grep -qE "$words"; then
        say "$name: seen"
        return 0
    fi
    say "$name: NOT SEEN, status $status"
    return 1
}

failed=0
for mutant in "${mutants[@]}"; do
    IFS='|' read -r name seconds file expression words <<<"$mutant"
    wanted=$#
    for each; do
        [ "$each" != "$name" ] || wanted=0
    done
    [ "$wanted" -eq 0 ] || continue
    try "$name" "$seconds" "$file" "$expression" "$words" || failed=1
done
[ "$failed" -eq 0 ]
