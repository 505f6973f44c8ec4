#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ask.bash FOLDER: for each line of standard input, a command line whose end has the cursor, prints what bash offers with the
# completion in FOLDER: words in one line.
# No -e: a completion is written for shells that go on after a failure.
set -u
# shellcheck disable=SC1091 # made by the build
. "$1/zkr" || exit

# As bash-completion has it: the words from there on are a command line of their own.
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
