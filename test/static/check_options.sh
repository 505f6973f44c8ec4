#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# check_options.sh ROOT ZKR: checks that the options that zkr accepts, those in its --help and those in zkr.1 are the
# same, for each subcommand and for all of them (''). check_completion.sh compares --help with the completions.
set -euo pipefail
root=$1 zkr=$2
cd "$root/tools/zkr"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck source=test/static/options.sh
. "$root/test/static/options.sh"
failed=0

# Prints the options in the tables of options, except options that are refused. The rows of global settings begin with a
# variable.
taken() { # FILE
    sed -n '/struct option_row rows/,/OPTIONS_END/p; /struct setting_name setting_names/,/};/p' "$1" |
        sed -nE "s/.*\{(\"ZKR_[A-Z_]+\", )?(\"([a-z-]+)\"|NULL), ('([A-Za-z])'|0),(.*)/--\3 -\5 \6/p" |
        grep -v '^--[a-z-]* -[A-Za-z]*  NULL' | grep -oE '^--[a-z-]+ |-[A-Za-z] ' | sed 's/^/ /' | options
}

# Prints the options in the lines after .TP.
in_page() { # SECTION
    awk -v section="$1" '/^\.SH/ { in_it = $0 == ".SH " section }
        in_it && heading && /^\.B/ { print }
        { heading = /^\.TP/ }' zkr.1 | sed -e 's/\\-/-/g' -e 's/\\f[A-Z][^"]*//g' -e 's/[" ,]\{1,\}/ /g' |
        options
}

same() { # SUBCOMMAND WHAT: compares standard input with $tmp/taken
    diff -u --label "zkr $1: taken" --label "zkr $1: $2" "$tmp/taken" - || failed=1
}

taken settings.c >"$tmp/taken"
helped '' | same '' '--help'
in_page 'GLOBAL OPTIONS' | same '' 'zkr.1'
for sub in lock elect status ls wait check revoke; do
    file=cmd_$sub.c
    [ $sub != lock ] || file=lock_options.c
    taken "$file" >"$tmp/taken"
    [ -s "$tmp/taken" ] || { echo "zkr $sub: no options found in $file"; failed=1; }
    helped $sub | same $sub '--help'
    in_page "OPTIONS OF $(printf %s $sub | tr '[:lower:]' '[:upper:]')" | same $sub 'zkr.1'
done
exit "$failed"
