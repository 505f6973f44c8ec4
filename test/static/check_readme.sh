#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_readme.sh ROOT: README.md and the pages of docs/ claim nothing that no test checks.
#
# Every block of code has a language. Blocks of C, C++, Python and configuration are lines of a file that a test
# compiles or runs, in a row; the first of C in README.md is all of examples/first.c but its licence. Blocks of sh are
# run by docs.blocks. In blocks of text the verbs of ./run exist. Each link leads to a file, and to a heading of it.
# The table "Choose" begins on the first screen and a half of README.md, which has at most 250 lines, and
# 1750 words besides the table of the benchmark.
# Files of the project that a page names in backticks exist, and so do those of lib/ that lib/README.md names.
# The table of docs/faults.md is that of the mutants, and has each mutant of test/sim/kept_seeds.txt.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

bad() {
    echo "$1"
    failed=1
}

# Writes each block to $tmp/PAGE:LINE.LANGUAGE, with % for / in the name of the page.
awk -v dir="$tmp" '
    /^ *```/ && !file {
        sub(/^ *```/, "")
        page = FILENAME
        gsub("/", "%", page)
        file = dir "/" page ":" FNR "." ($0 == "" ? "none" : $0)
        printf "" >file
        next
    }
    /^ *```$/ { close(file); file = ""; next }
    file { print >file }' README.md docs/*.md

# holds FILE BLOCK: tests whether the file has the lines of the block in a row, ignoring indentation.
holds() {
    awk 'function bare(line) { gsub(/^[ \t]+|[ \t]+$/, "", line); return line "\n" }
        FNR == NR { block = block bare($0); next }
        { all = all bare($0) }
        END { exit index("\n" all, "\n" block) == 0 }' "$2" "$1"
}

# in_one_of BLOCK FILE...: tests whether one of the files contains the block.
in_one_of() {
    block=$1
    shift
    for file; do
        ! holds "$file" "$block" || return 0
    done
    return 1
}

count=0
for block in "$tmp"/*:*; do
    name=${block##*/}
    where=$(echo "${name%.*}" | tr % /)
    count=$((count + 1))
    case $name in
    *.c) in_one_of "$block" examples/*.c || bad "$where: these lines are in no file of examples/" ;;
    *.cpp) in_one_of "$block" examples/*.cpp || bad "$where: these lines are in no file of examples/" ;;
    *.python) in_one_of "$block" test/interop/*.py || bad "$where: no test of test/interop has these lines" ;;
    *.ini) in_one_of "$block" examples/*.conf || bad "$where: these lines are in no file of examples/" ;;
    *.sh) ;;
    *.text)
        grep -oE '\./run [a-z]+' "$block" | sort -u | while read -r _ verb; do
            ./run --help | grep -qE "^  $verb\b" || echo "$where: ./run has no $verb"
        done >"$tmp/said"
        [ ! -s "$tmp/said" ] || bad "$(cat "$tmp/said")"
        rm "$tmp/said"
        ;;
    *) bad "$where: a block without a language that this test knows" ;;
    esac
done

first=$(find "$tmp" -name 'README.md:*.c' | sed 's,.*/,,' | sort -t : -k 2n | head -n 1)
[ -n "$first" ] || bad 'README.md: no C example'
sed 1d examples/first.c | diff -u --label README.md --label examples/first.c "$tmp/$first" - ||
    bad 'README.md: its first example is not examples/first.c without its first line'

# A screen has 50 lines.
choose=$(grep -n '^## Choose' README.md | cut -d: -f1)
lines=$(wc -l <README.md) words=$(sed '/^<!-- bench: begin/,/^<!-- bench: end/d' README.md | wc -w)
[ "$lines" -le 250 ] || bad "README.md: $lines lines, more than 250"
[ "$words" -le 1750 ] || bad "README.md: $words words besides the table of the benchmark, more than 1750"
[ "${choose:-1000}" -le 75 ] || bad "README.md: '## Choose' is on line ${choose:-none}, not on one of the first 75"

awk -F '`' '{ for (i = 2; i <= NF; i += 2) print FILENAME, $i }' README.md docs/*.md |
    grep -E '^[^ ]+ (lib|include|test|tools|examples|bench|docker|docs|\.github)/[A-Za-z0-9_./-]*$' |
    LC_ALL=C sort -u >"$tmp/names" || true
while read -r page name; do
    [ -e "$name" ] || bad "$page: $name does not exist"
done <"$tmp/names"

# has_heading FILE ANCHOR: tests for a heading by its anchor on GitHub.
has_heading() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^a-z0-9_-]//g' | grep -qxF "$2"
}

for page in README.md docs/*.md; do
    grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -v '^https*:' | LC_ALL=C sort -u |
        sed "s,^,$page ," || true
done >"$tmp/links"
while read -r page link; do
    file=${link%%#*}
    if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
    if [ ! -e "$file" ]; then
        bad "$page: $link leads to no file"
    elif [ "$link" != "${link#*#}" ] && ! has_heading "$file" "${link#*#}"; then
        bad "$page: $link leads to no heading"
    fi
done <"$tmp/links"

perl test/mutants/apply.pl --faults >"$tmp/faults"
sed '/^<!-- faults: begin/,/^<!-- faults: end/!d' docs/faults.md | sed '1d; $d' |
    diff -u --label docs/faults.md --label './run mutants --faults' - "$tmp/faults" ||
    bad 'docs/faults.md: its table is not that of the mutants'
sed -n 's/^[0-9][0-9]* //p' test/sim/kept_seeds.txt >"$tmp/kept"
while IFS= read -r name; do
    grep -F "| \`$name\` |" "$tmp/faults" | grep -qF '| search |' ||
        bad "test/sim/kept_seeds.txt: $name has no line '# found search: ' in test/mutants"
done <"$tmp/kept"

# Names in that guide are paths below lib/. A name without a folder may be in any floor.
awk -F '`' '{ for (i = 2; i <= NF; i += 2) print $i }' lib/README.md |
    grep -E '^([a-z]+/)?[a-z_]+\.[ch]$' | LC_ALL=C sort -u >"$tmp/inside" || true
while IFS= read -r name; do
    set -- "lib/$name" lib/*/"$name" "include/zkr/$name" "include/$name"
    for file; do
        [ ! -e "$file" ] || continue 2
    done
    bad "lib/README.md: $name does not exist"
done <"$tmp/inside"
echo "$count blocks, $(wc -l <"$tmp/names") names, $(wc -l <"$tmp/links") links"
exit "$failed"
