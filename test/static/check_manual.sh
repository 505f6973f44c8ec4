#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_manual.sh ROOT: section 3 of the manual can be made, has a page for each public function, and no page has a
# fault that mandoc knows of.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

perl tools/docs/man3.pl "$tmp/man3" 0.0.0 2000-01-31 include/zkr/*.h
sed 's/@DATE@/2000-01-31/; s/@VERSION@/0.0.0/' tools/docs/zkrecipes.7.in >"$tmp/zkrecipes.7"

cat include/zkr/*.h | tr '\n' ' ' | grep -o 'ZKR_API [^;(]*[ *]zkr_[a-z0-9_]*(' |
    sed 's/.*[ *]\(zkr_[a-z0-9_]*\)($/\1/' | LC_ALL=C sort -u >"$tmp/names"
while IFS= read -r name; do
    page=$(sed -n 's,^\.so man3/,,p' "$tmp/man3/$name.3" 2>/dev/null) || page=
    page=${page:-$name.3}
    grep -q "^\.SS $name()" "$tmp/man3/$page" 2>/dev/null || {
        echo "$name: no page of the manual describes it"
        failed=1
    }
done <"$tmp/names"

for page in tools/zkr/zkr.1 "$tmp/zkrecipes.7" $(grep -L '^\.so ' "$tmp"/man3/*.3); do
    mandoc -Tlint "$page" || failed=1
done
echo "$(wc -l <"$tmp/names") functions"
[ -s "$tmp/names" ] || failed=1
exit "$failed"
