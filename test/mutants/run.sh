#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [NAME...]: breaks the library in one way after the other, in a copy, and shows that the
# search of schedules sees each. A mutant that survives, or fits no more, is an error.
#
# NAME.mutant: a line "# what it does"; "# by TEST" when another test than engine.search is meant
# to see it; then edits, each "@@ FILE", "<<<<", the text as it is, "====", as it shall be, ">>>>".
# The text must be there exactly once.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(dirname "$(dirname "$here")")
seeds=${SEEDS:-200000}
limit=${LIMIT:-240} # seconds for each
copy=$(mktemp -d "${TMPDIR:-/tmp}/zkr-mutants.XXXXXX")
trap 'rm -rf "$copy"' EXIT

# apply FILE: edits the copy, or says why not.
apply() {
    perl - "$1" "$copy" <<'PERL'
use strict;
use warnings;
my ($mutant, $copy) = @ARGV;
local $/;
open(my $in, '<', $mutant) or die "$mutant: $!\n";
my $text = <$in>;
my $edits = 0;
while ($text =~ /^@@ (\S+)\n<<<<\n(.*?)\n====\n(.*?)\n?>>>>\n/msg) {
    my ($file, $old, $new) = ("$copy/$1", $2, $3);
    open(my $source, '<', $file) or die "$1: $!\n";
    my $code = <$source>;
    my $count = () = $code =~ /\Q$old\E/g;
    die "its text is $count times in $1\n" if $count != 1;
    $code =~ s/\Q$old\E/$new/;
    open(my $out, '>', $file) or die "$1: $!\n";
    print $out $code;
    close($out) or die "$1: $!\n";
    $edits++;
}
die "no edits in it\n" if $edits == 0;
PERL
}

restore() {
    local file
    while read -r file; do
        cp -p "$root/$file" "$copy/$file"
        touch "$copy/$file"
    done < <(sed -n 's/^@@ //p' "$1")
}

compile() { # TEST
    cmake --build "$copy/build" --target "test_${1/./_}" >"$copy/log" 2>&1
}

# The test sees it: prints by what. Else: fails.
seen() { # TEST
    local status=0 program="$copy/build/test/test_${1/./_}"
    local -a args=()
    [ "$1" != engine.search ] || args=(--seeds "$seeds")
    timeout "$limit" "$program" "${args[@]}" >"$copy/out" 2>&1 || status=$?
    case $status in
    0) return 1 ;;
    124) return 1 ;;
    esac
    if [ "$1" = engine.search ] && grep -q '^seed [0-9]*: ' "$copy/out"; then
        sed -n 's/^\(seed [0-9]*: .*\)/\1/p' "$copy/out" | head -n 1 |
            sed 's/_c_[-0-9a-f]\{37\}//g'
    elif grep -q 'seed [0-9]*: ' "$copy/out"; then
        grep -o 'seed [0-9]*: .*' "$copy/out" | head -n 1 | sed 's/_c_[-0-9a-f]\{37\}//g'
    else
        echo "$1 fails with status $status"
    fi
}

cp -r "$root/CMakeLists.txt" "$root/include" "$root/lib" "$root/test" "$root/tools" "$copy"
cmake -S "$copy" -B "$copy/build" -G Ninja -DZKR_BUILD_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG='-O1' >"$copy/log" 2>&1 || {
    cat "$copy/log"
    exit 70
}
compile engine.search || {
    cat "$copy/log"
    exit 70
}
if by=$(seeds=2000 seen engine.search); then
    echo "without any mutant: $by"
    exit 1
fi

[ $# -gt 0 ] || set -- "$here"/*.mutant
failed=0 count=0
printf '%-26s %5s  %s\n' mutant time 'caught by'
for name; do
    mutant=$here/$(basename "$name" .mutant).mutant
    name=$(basename "$mutant" .mutant)
    tests=$(sed -n 's/^# by //p' "$mutant")
    tests=${tests:-engine.search}
    start=$SECONDS
    count=$((count + 1))
    if ! why=$(apply "$mutant" 2>&1); then
        by="DOES NOT APPLY: $why"
        failed=$((failed + 1))
    elif ! compile "$tests"; then
        by="DOES NOT COMPILE: $(grep -m 1 error: "$copy/log" || true)"
        failed=$((failed + 1))
    elif ! by=$(seen "$tests"); then
        by="SURVIVES $tests"
        failed=$((failed + 1))
    fi
    printf '%-26s %4ds  %s\n' "$name" $((SECONDS - start)) "$by"
    restore "$mutant"
done
printf '%d mutants, %d not caught\n' "$count" "$failed"
[ "$failed" -eq 0 ]
