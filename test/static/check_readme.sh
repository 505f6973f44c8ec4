#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_readme.sh ROOT: the first C example of README.md is examples/first.c, which the build
# compiles, without its licence line; files of the project that README.md names in backticks
# exist, and so do those of lib/ that lib/README.md names.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

awk '/^```c$/ { inside = 1; next } /^```$/ && inside { exit } inside' README.md >"$tmp/shown"
sed '1d' examples/first.c >"$tmp/compiled"
if [ ! -s "$tmp/shown" ]; then
    echo 'README.md: no C example'
    failed=1
elif ! diff -u --label README.md --label examples/first.c "$tmp/shown" "$tmp/compiled"; then
    echo 'README.md: its example is not examples/first.c without its first line'
    failed=1
fi

awk -F '`' '{ for (i = 2; i <= NF; i += 2) print $i }' README.md |
    grep -E '^(lib|include|test|tools|examples|bench|docker)/[A-Za-z0-9_./-]*$' |
    LC_ALL=C sort -u >"$tmp/names" || true
while IFS= read -r name; do
    [ -e "$name" ] || {
        echo "README.md: $name does not exist"
        failed=1
    }
done <"$tmp/names"

# Names of that guide are below lib/, those without a folder in any of its floors.
awk -F '`' '{ for (i = 2; i <= NF; i += 2) print $i }' lib/README.md |
    grep -E '^([a-z]+/)?[a-z_]+\.[ch]$' | LC_ALL=C sort -u >"$tmp/inside" || true
while IFS= read -r name; do
    set -- "lib/$name" lib/*/"$name" "include/zkr/$name"
    for file; do
        [ ! -e "$file" ] || continue 2
    done
    echo "lib/README.md: $name does not exist"
    failed=1
done <"$tmp/inside"
echo "$(wc -l <"$tmp/shown") lines of example, $(wc -l <"$tmp/names") names"
exit "$failed"
