# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion of zkr(1) for bash.

_zkr() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local global='-z --servers -t --session-timeout --connect-timeout --auth --auth-file --acl --tls
        -v --verbose -h --help -V --version'
    local subcommand='' any='' operands=0 i word
    COMPREPLY=()

    # Which subcommand, and how many operands before the cursor?
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        -z | --servers | -t | --session-timeout | --connect-timeout | --auth | --auth-file | \
            --acl | --tls | -w | --wait | --timeout | -E | --conflict-exit-code | -i | --id | --kill-signal | --kill-after | \
            --warn-signal | --warn-before | --max-queue | --health | --every | --failures | --to | --lock-delay | --min-hold | --stats | --permits | --also | --on-revoke | --token | --held-longer-than | --waiting-more-than)
            [ "$operands" -gt 0 ] || ((i++))
            ;;
        --any)
            any=1
            ;;
        --)
            [ -z "$any" ] || operands=1
            ;;
        -*) ;;
        *)
            if [ -z "$subcommand" ]; then
                subcommand=$word
            elif [ -z "$any" ]; then
                ((operands++))
            fi
            ;;
        esac
        # Behind PATH, or behind the -- of --any, comes a command: its words are completed as if it stood alone.
        if [ "$operands" -ge 1 ] && ((i + 1 < COMP_CWORD)) && [[ $subcommand != @(status|ls|wait|check|revoke) ]]; then
            if declare -F _command_offset >/dev/null && [[ ${COMP_WORDS[i + 1]} != -c ]]; then
                _command_offset $((i + 1))
            fi
            return
        fi
    done

    # Options stand before PATH: behind it there is a command, or nothing.
    if [ "$operands" -ge 1 ]; then
        if [[ $subcommand = @(lock|once|elect) ]]; then
            mapfile -t COMPREPLY < <(
                compgen -W '-c --command' -- "$current"
                compgen -c -- "$current"
            )
        fi
        return
    fi

    case $previous in
    --kill-signal | --warn-signal)
        mapfile -t COMPREPLY < <(compgen -W 'TERM INT HUP QUIT USR1 USR2 KILL' -- "$current")
        return
        ;;
    --on-revoke)
        mapfile -t COMPREPLY < <(compgen -W 'term ignore' -- "$current")
        return
        ;;
    --acl)
        mapfile -t COMPREPLY < <(compgen -W 'open creator' -- "$current")
        return
        ;;
    --auth-file | --stats | --tls)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    --kill-after)
        mapfile -t COMPREPLY < <(compgen -W 'auto' -- "$current")
        return
        ;;
    -z | --servers | -t | --session-timeout | --connect-timeout | --auth | -w | --wait | \
        --timeout | -E | --conflict-exit-code | -i | --id | --lock-delay | --min-hold | --warn-before | --permits | --also | --token | \
        --held-longer-than | --waiting-more-than)
        return
        ;;
    esac

    local words=''
    case $subcommand in
    '')
        words="$global lock once elect status ls wait check revoke"
        ;;
    once)
        words="$global -n --nb --nonblock --nonblocking -w --wait --timeout -E --conflict-exit-code --every
            -q --on-revoke -c --command -i --id --kill-signal --kill-after --warn-signal --warn-before --max-queue --lock-delay
            --min-hold --stats --no-guardian"
        ;;
    lock)
        words="$global -n --nb --nonblock --nonblocking -w --wait --timeout -q -E --conflict-exit-code -x -e
            --exclusive -s --shared --rw --permits --also --any --on-revoke -c --command -i --id
            --kill-signal --kill-after --warn-signal --warn-before --max-queue --lock-delay --min-hold --stats
            --no-guardian -o --close"
        ;;
    elect)
        words="$global -i --id -c --command --once --health --every --failures
            --warn-signal --warn-before --no-guardian -l --listen --json --yield --to -w --wait"
        ;;
    status)
        words="$global -q --json --watch"
        ;;
    ls)
        words="$global -a --all -r --recursive --json"
        ;;
    wait)
        words="$global -w --wait"
        ;;
    check)
        words="$global --held-longer-than --waiting-more-than --nobody-leads --no-quorum -w --wait --json"
        ;;
    revoke)
        words="$global -w --wait --force --token"
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -o bashdefault -o default -F _zkr zkr
