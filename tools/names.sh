#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# names.sh DIR [LIBRARY]: prints the functions that the public headers in DIR declare with ZKR_API, one per line.
# LIBRARY is zkrecipes or zkrecipes-testing. Without it, prints the functions of both. The headers of zkrecipes-testing
# are testing.h and test_*.h.
set -eu
case ${2-} in
zkrecipes) set -- "$1" ! -name 'test*.h' ;;
zkrecipes-testing) set -- "$1" -name 'test*.h' ;;
*) set -- "$1" ;;
esac
dir=$1
shift
# Skips comments and directives.
find "$dir" -name '*.h' -type f "$@" -print0 | xargs -0 cat | awk '
{
    line = $0
    text = ""
    while (line != "") {
        if (comment) {
            i = index(line, "*/")
            if (i == 0) { line = ""; break }
            line = substr(line, i + 2)
            comment = 0
        } else {
            i = index(line, "/*")
            if (i == 0) { text = text line; break }
            text = text substr(line, 1, i - 1)
            line = substr(line, i + 2)
            comment = 1
        }
    }
    if (text !~ /^[ \t]*#/ && !(continued))
        all = all text " "
    continued = (text ~ /\\$/ && (text ~ /^[ \t]*#/ || continued))
}
END {
    n = split(all, part, ";")
    for (i = 1; i <= n; i++) {
        if (!match(part[i], /(^|[^A-Za-z0-9_])ZKR_API[^A-Za-z0-9_]/))
            continue
        name = substr(part[i], RSTART + RLENGTH)
        sub(/[ \t]*[(\[=].*/, "", name)
        sub(/[ \t]+$/, "", name)
        sub(/.*[^A-Za-z0-9_]/, "", name)
        print name
    }
}' | LC_ALL=C sort -u
