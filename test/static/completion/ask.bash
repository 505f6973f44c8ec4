#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ask.bash FOLDER: reads command lines from standard input, with the cursor at the end of each. For each, prints on one
# line the words that bash offers with the completion in FOLDER.
# Without -e, because a completion is written for shells that continue after a failure.
set -u
# shellcheck disable=SC1091 # made by the build
. "$1/zkr" || exit

# Like the function of bash-completion: completes the words from there on as a command line of their own.
_command_offset() {
    COMP_WORDS=("${COMP_WORDS[@]:$1}") COMP_CWORD=$((COMP_CWORD - $1))
    [ "${COMP_WORDS[0]}" != zkr ] || _zkr
}

while IFS= read -r line; do
    read -ra COMP_WORDS <<<"$line"
    [[ $line != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _zkr
    printf '%s\n' "${COMPREPLY[@]}" | sort -u | paste -sd ' ' -
done
