#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_ilp32.sh ROOT NM COMPILER [ARG...]: checks that each file of the library and of zkr compiles with 32-bit
# pointers, size_t and time_t, and needs no libatomic then. Nothing is linked, so the headers of the 64-bit system
# suffice. The script creates the one file that they lack.
set -eu
root=$1 nm=$2
shift 2

headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
mkdir "$headers/gnu"
: >"$headers/gnu/stubs-32.h"
system=$(echo '#include <bits/wordsize.h>' | "$1" -E -x c - | sed -n 's|.*"\(/.*\)/bits/wordsize\.h".*|\1|p' | head -n 1)

failed=0 count=0
for file in "$root"/lib/*/*.c "$root"/tools/zkr/*.c; do
    case ${file#"$root"/} in
    */testing/* | tools/zkr/*) posix=-D_GNU_SOURCE ;;
    *) posix=-D_POSIX_C_SOURCE=200809L ;;
    esac
    if ! "$@" -m32 -std=c11 "$posix" -c -o "$headers/object" -Wall -Wextra -Wconversion -Wsign-conversion -Werror \
        -I "$root/lib" -I "$root/include" -isystem "$headers" \
        -idirafter "$system" "$file"; then
        echo "${file#"$root"/}: does not compile with 32 bits"
        failed=1
    elif "$nm" -u "$headers/object" | grep ' __atomic_'; then
        echo "${file#"$root"/}: needs libatomic with 32 bits"
        failed=1
    fi
    count=$((count + 1))
done
echo "$count files with 32 bits"
exit "$failed"
