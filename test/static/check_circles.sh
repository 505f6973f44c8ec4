#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_circles.sh NM DIRECTORY...: checks that no file uses another file that uses it, directly or indirectly. Each
# directory holds the object files of one program or library. tsort prints the files of a circle.
set -eu
nm=$1
shift

for dir; do
    objects=$(find "$dir" -name '*.o' | LC_ALL=C sort)
    [ -n "$objects" ] || {
        echo "check_circles: there are no object files in $dir"
        exit 1
    }
    # For each symbol that one file uses and another defines, one line with the two files.
    # shellcheck disable=SC2086 # a list of plain words
    "$nm" -A -g $objects | awk -v dir="$dir/" '
        { name = $1; sub(/:.*/, "", name); name = substr(name, length(dir) + 1); sub(/\.o$/, "", name) }
        $NF == "" || NF < 3 && $(NF - 1) != "U" { next }
        $(NF - 1) == "U" { uses[name " " $NF]; next }
        { defines[$NF] = name }
        END {
            for (use in uses) {
                split(use, part, " ")
                if (part[2] in defines && defines[part[2]] != part[1])
                    print part[1], defines[part[2]]
            }
        }' | LC_ALL=C sort -u | tsort >/dev/null
done
