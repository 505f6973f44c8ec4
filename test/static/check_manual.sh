#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_manual.sh ROOT: checks that section 3 of the manual can be generated and has a page for each public function,
# that section 7 has no code of its own, and that mandoc finds no fault in any page.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

perl tools/docs/man3.pl "$tmp/man3" 0.0.0 2000-01-31 include/zkr/*.h
for page in zkrecipes zkrecipes-guide; do
    tools/docs/man7.sh "tools/docs/$page.7.in" 0.0.0 2000-01-31 "$tmp/$page.7" || failed=1
done

# The code of the guide comes from examples/, where a test compiles or runs it.
if grep -nE '^\.(nf|EX)' tools/docs/zkrecipes-guide.7.in; then
    echo 'tools/docs/zkrecipes-guide.7.in: code that no test compiles or runs: take it from examples/'
    failed=1
fi

sh tools/names.sh include/zkr >"$tmp/names"
while IFS= read -r name; do
    page=$(sed -n 's,^\.so man3/,,p' "$tmp/man3/$name.3" 2>/dev/null) || page=
    page=${page:-$name.3}
    grep -q "^\.SS $name()" "$tmp/man3/$page" 2>/dev/null || {
        echo "$name: no page of the manual describes it"
        failed=1
    }
done <"$tmp/names"

# Types also have pages under their names.
sed -n 's/^} \(zkr_[a-z_]*\);$/\1/p' include/zkr/*.h >"$tmp/types"
while IFS= read -r name; do
    page=$(sed -n 's,^\.so man3/,,p' "$tmp/man3/$name.3" 2>/dev/null) || page=
    grep -q "^\.SS $name\$" "$tmp/man3/${page:-$name.3}" 2>/dev/null || {
        echo "$name: no page of the manual describes it"
        failed=1
    }
done <"$tmp/types"

for page in tools/zkr/zkr.1 "$tmp"/*.7 $(grep -L '^\.so ' "$tmp"/man3/*.3); do
    mandoc -Tlint "$page" || failed=1
done

# Pictures and tables are printed line by line, so they must fit a terminal of 80 columns. Programs may be wider.
grep -v '^@FILE' tools/docs/zkrecipes.7.in >"$tmp/pictures.7"
for page in tools/zkr/zkr.1 "$tmp/pictures.7"; do
    mandoc -Tascii -Owidth=80 "$page" | sed 's/.\x08//g' | awk -v page="${page##*/}" '
        length > 80 { print page ": wider than 80 columns: " $0; bad = 1 }
        END { exit bad }' || failed=1
done
echo "$(wc -l <"$tmp/names") functions, $(wc -l <"$tmp/types") types"
[ -s "$tmp/names" ] || failed=1
exit "$failed"
