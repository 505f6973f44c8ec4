#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_ilp32.sh ROOT COMPILER [ARG...]: each file of the library compiles where pointers and size_t
# have 32 bits. Nothing is linked, so the headers of the 64-bit system will do; the one file
# that they lack is made here.
set -eu
root=$1
shift

headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
mkdir "$headers/gnu"
: >"$headers/gnu/stubs-32.h"
multiarch=$("$1" -print-multiarch 2>/dev/null || "$1" -dumpmachine)

failed=0 count=0
for file in "$root"/lib/*/*.c; do
    case $file in
    */testing/*) posix=-D_GNU_SOURCE ;;
    *) posix=-D_POSIX_C_SOURCE=200809L ;;
    esac
    "$@" -m32 -std=c11 "$posix" -fsyntax-only -Wall -Wextra -Werror \
        -I "$root/lib" -I "$root/include" -isystem "$headers" \
        -idirafter "/usr/include/$multiarch" "$file" || {
        echo "${file#"$root"/}: does not compile with 32 bits"
        failed=1
    }
    count=$((count + 1))
done
echo "$count files with 32 bits"
exit "$failed"
