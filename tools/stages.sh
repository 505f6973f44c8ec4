# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
#
# Scripts that run stages, one after another or several at once, source this file after tools/packages.sh. Each stage
# has a heading and a time, and runs in its own process group, which dies with the script.

declare -A lane=() # the name of each running stage, by process ID
stop_lanes() {
    local each
    for each in "${!lane[@]}"; do
        kill -TERM -- "-$each" 2>/dev/null || true
    done
    lane=()
}
trap 'stop_lanes' EXIT
trap 'stop_lanes; exit 129' HUP
trap 'stop_lanes; exit 130' INT
trap 'stop_lanes; exit 143' TERM

no_logs() {
    rm -rf build/log && mkdir -p build/log
}

# in_group NAME COMMAND...
in_group() {
    local name=$1
    shift
    set -m
    "$@" </dev/null &
    lane[$!]=$name
    set +m
}

declare -A title_of=() began=()
start() { # NAME TITLE
    title_of[$1]=$2 began[$1]=$SECONDS
}

# stage TITLE COMMAND...: runs a stage, and exits if it fails.
stage() {
    start stage "$1"
    printf '\n==> %s\n' "$1"
    shift
    in_group stage "$@"
    await_one
    [ ${#failures[@]} -eq 0 ] || exit "$failed_status"
}

# begin NAME TITLE COMMAND...: starts a stage in the background. Each line of its output begins with its name. The lines
# that ninja and ctest print at the start of each job are left out. The whole output is in build/log/NAME.
begin() {
    local name=$1
    start "$name" "$2"
    say "==> begins: $2"
    shift 2
    in_group "$name" with_name "$name" "$@"
}

with_name() { # NAME COMMAND...
    local name=$1
    shift
    "$@" 2>&1 | tee "build/log/$name" |
        sed -u -E -e '/^ *Start +[0-9]+:|^\[[0-9]+\/[0-9]+\] |^$/d' -e "s/^/$name: /"
}

# await_one: waits until a stage ends. Sets $over to its name and, if it has succeeded, $ended, too. After a failure,
# stages that need the failed stage are not started. The others continue.
over='' ended='' failures=() failed_status=0 summary=()
await_one() {
    local pid name status=0 seconds
    wait -n -p pid "${!lane[@]}" || status=$?
    name=${lane[$pid]} over=${lane[$pid]} ended=''
    unset "lane[$pid]"
    seconds=$((SECONDS - began[$name]))
    if [ "$status" -eq 0 ]; then
        ended=$name
        say "==> done: ${title_of[$name]}, $seconds s"
        summary+=("$(printf '%4d s  %s' "$seconds" "${title_of[$name]}")")
    else
        printf '\n==> FAILED: %s, status %d, after %d s\n' "${title_of[$name]}" "$status" "$seconds"
        failures+=("$name")
        [ "$failed_status" -ne 0 ] || failed_status=$status
    fi
}

await_all() {
    while [ ${#lane[@]} -gt 0 ]; do
        await_one
    done
}

# Shows the output of the failed stages, without the lines about successes.
show_failures() {
    local name
    for name in "${failures[@]}"; do
        printf '\n==> FAILED: %s; all it said is in build/log/%s\n' "${title_of[$name]}" "$name"
        grep -vE '^ *Start +[0-9]+:| Passed +[0-9.]+ sec|^\[[0-9]+/[0-9]+\] |^$' \
            "build/log/$name" | tail -n 200 || true
    done
}

closing_lines() { # NAME...
    local name
    for name; do
        say "    tests, $name"
        grep -E '^[0-9]+% tests passed|^Total Test time|^\s+[0-9]+ - ' "build/log/$name" 2>/dev/null |
            sed 's/^\s*/        /' || say '        did not run'
    done
}

say_left_out() { # NAME...: reports tests that these stages skipped
    local names
    names=$(cd build/log && sed -n 's/^\s*[0-9]* - \(\S*\) (Skipped)$/\1/p' "$@" 2>/dev/null |
        sort -u | paste -sd ' ' -) || true
    [ -z "$names" ] || say "==> left out: $names; they need what is not here"
}

end_of_stages() { # NAME...: the stages that ran tests
    show_failures
    printf '\n==> all stages\n'
    [ ${#summary[@]} -eq 0 ] || printf '%s\n' "${summary[@]}"
    closing_lines "$@"
    say_left_out "$@"
    if [ "$failed_status" -ne 0 ]; then
        say "==> FAILED: ${failures[*]}; $SECONDS s"
        exit "$failed_status"
    fi
    say "==> all passed, $SECONDS s"
}
