#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples.sh ROOT COMPILER STAGE WORK CMAKE LIBDIR GENERATOR MAKE: links each program of examples/ against the
# installed library: with the command that docs/recipes.md shows, and as the separate project of examples/. The programs
# contain all the C code that README.md, docs/ and the guide show.
set -eu
root=$1 compiler=$2 stage=$3 work=$4 cmake=$5 libdir=$6 generator=$7 make=$8
rm -rf "$work"
mkdir -p "$work/pc"
PKG_CONFIG_PATH=$stage/$libdir/pkgconfig
export PKG_CONFIG_PATH
failed=0 count=0

# shellcheck disable=SC2016 # as it is written
grep -qF 'cc app.c $(pkg-config --cflags --libs zkrecipes)' "$root/docs/recipes.md" ||
    { echo 'docs/recipes.md has another line'; failed=1; }
for file in "$root"/examples/*.c; do
    packages=zkrecipes
    case ${file##*/} in
    lose_a_lock.c) packages=zkrecipes-testing ;;
    libuv.c) packages='zkrecipes libuv' ;;
    esac
    pkg-config --exists "${packages##* }" || continue
    # shellcheck disable=SC2046,SC2086 # lists of flags
    "$compiler" -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L "$file" -o "$work/pc/${file##*/}.out" \
        $(pkg-config --cflags --libs $packages) || { echo "${file##*/}: does not link"; failed=1; }
    count=$((count + 1))
done

"$cmake" -S "$root/examples" -B "$work/cmake" -G "$generator" "-DCMAKE_MAKE_PROGRAM=$make" \
    "-DCMAKE_C_COMPILER=$compiler" "-DCMAKE_PREFIX_PATH=$stage" >"$work/log"
"$cmake" --build "$work/cmake" >>"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
[ "$count" -gt 7 ] || { echo "only $count programs"; failed=1; }
exit "$failed"
