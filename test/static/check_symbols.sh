#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_symbols.sh ROOT LIBRARY [NM]: the shared library exports exactly the names that the
# public headers mark ZKR_API, and none that ZooKeeper's own C recipes export.
set -eu
root=$1 library=$2 nm=${3:-nm}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Names of the declarations that start with ZKR_API, comments and directives left out.
find "$root/include/zkr" -name '*.h' -type f -print0 | xargs -0 cat | awk '
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
}' | LC_ALL=C sort -u >"$tmp/declared"

"$nm" -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' |
    LC_ALL=C sort -u >"$tmp/exported"

failed=0
report() { # FILE WHY
    [ -s "$1" ] || return 0
    sed "s/\$/: $2/" "$1"
    failed=1
}
LC_ALL=C comm -23 "$tmp/declared" "$tmp/exported" >"$tmp/missing"
LC_ALL=C comm -13 "$tmp/declared" "$tmp/exported" >"$tmp/surplus"
grep -v '^zkr_[a-z]' "$tmp/exported" >"$tmp/foreign" || true
grep -E '^zkr_(lock|queue)_' "$tmp/exported" >"$tmp/taken" || true
report "$tmp/missing" "marked ZKR_API, not exported"
report "$tmp/surplus" "exported, not marked ZKR_API in a public header"
report "$tmp/foreign" "does not start with zkr_"
report "$tmp/taken" "a name of the C recipes that come with ZooKeeper"
[ -s "$tmp/declared" ] || { echo "no ZKR_API found"; failed=1; }
echo "$(wc -l <"$tmp/exported") exported, $(wc -l <"$tmp/declared") declared"
exit "$failed"
