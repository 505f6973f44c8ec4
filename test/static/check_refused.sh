#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_refused.sh ROOT: checks that each public function that takes an object has a row in the table of
# test/recipes/test_refused.c. A function whose header says "Blocks: yes" needs a row with BLOCKS. Functions of
# testing.h and test_*.h are not part of the library.
set -eu

table=$1/test/recipes/test_refused.c
failed=0
headers=$(find "$1/include/zkr" -name '*.h' ! -name 'test*.h')
# Of each function, a line: its name, and whether it blocks. A callback may call zkr_leader_selector_stop().
# shellcheck disable=SC2086 # a list of files
functions=$(awk '
/\/\*\*/ { blocks = "" }
/Blocks: *yes/ { blocks = "BLOCKS" }
/^ZKR_API/ { text = "" }
{ text = text " " $0 }
/;$/ && text ~ /^ ZKR_API/ {
    if (match(text, /zkr_[a-z_]+\((const )?zkr_[a-z_]+ \*/)) {
        name = substr(text, RSTART)
        sub(/\(.*/, "", name)
        print name, name == "zkr_leader_selector_stop" ? "" : blocks
    }
    text = blocks = ""
}' $headers)
[ "$(printf '%s\n' "$functions" | wc -l)" -gt 50 ] || failed=1
while read -r name blocks; do
    grep -q "$blocks.*\b$name(\|\b$name(.*$blocks" "$table" || {
        echo "$name() has no row${blocks:+ that says $blocks} in $table"
        failed=1
    }
done <<FUNCTIONS
$functions
FUNCTIONS
exit $failed
