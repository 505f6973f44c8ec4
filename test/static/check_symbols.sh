#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_symbols.sh ROOT LIBRARY [NM] [SYMBOLS]: checks that the shared library exports exactly the names that the public
# headers mark ZKR_API, and none that ZooKeeper's own C recipes export. SYMBOLS, the list of the Debian package, must
# have the same names, each with the version that introduced it. If LIBRARY is libzkrecipes-testing.a, the names are
# those of zkr/testing.h, and its other names begin with zkr__test_.
set -eu
root=$1 library=$2 nm=${3:-nm} symbols=${4-}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

case $library in
*-testing.a) of=zkrecipes-testing kind=-g inner='^zkr__test_' ;;
*) of=zkrecipes kind=-D inner='^$' ;;
esac
sh "$(dirname "$0")/../../tools/names.sh" "$root/include/zkr" "$of" >"$tmp/declared"

"$nm" "$kind" --defined-only "$library" | awk 'NF > 2 { print $NF }' | sed 's/@.*//' | grep -v "$inner" |
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
if [ -n "$symbols" ]; then
    sed -n 's/^ \(zkr_[a-z0-9_]*\)@Base [0-9]*\.[0-9]*\.[0-9]*$/\1/p' "$symbols" | LC_ALL=C sort >"$tmp/packaged"
    diff "$tmp/declared" "$tmp/packaged" >"$tmp/differ" || true
    report "$tmp/differ" " (package's list of symbols)"
fi
echo "$(wc -l <"$tmp/exported") exported, $(wc -l <"$tmp/declared") declared"
exit "$failed"
