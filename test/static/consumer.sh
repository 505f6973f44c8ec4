#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# consumer.sh KIND SOURCE STAGE WORK CMAKE CC LIBDIR VERSION GENERATOR MAKE: builds a
# program against the installed library the way KIND says, runs it, and looks at what it was
# linked to.
set -eu
kind=$1 source=$2 stage=$3 work=$4 cmake=$5 cc=$6 libdir=$7 version=$8
generator=$9 make=${10}

rm -rf "$work"
mkdir -p "$work"
program=$work/consumer

with_cmake() { # TARGET
    "$cmake" -S "$source" -B "$work" -G "$generator" \
        "-DCMAKE_MAKE_PROGRAM=$make" "-DCMAKE_C_COMPILER=$cc" \
        "-DCMAKE_PREFIX_PATH=$stage" "-DZKR_TARGET=$1" "-DZKR_WANTED=$version"
    "$cmake" --build "$work"
}

with_pkg_config() { # [--static]
    PKG_CONFIG_PATH=$stage/$libdir/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion zkrecipes)" = "$version" ]
    flags=$(pkg-config --cflags --libs "$@" zkrecipes)
    if [ "${1-}" = --static ]; then
        # Ours static, the system's libraries as they come.
        flags=$(printf '%s' "$flags" | sed 's/-lzkrecipes/-l:libzkrecipes.a/')
    fi
    # shellcheck disable=SC2086 # a list of flags
    "$cc" -std=c11 -Wall -Wextra -Werror -o "$program" "$source/main.c" $flags
}

case $kind in
cmake_shared) with_cmake zkrecipes::zkrecipes ;;
cmake_static) with_cmake zkrecipes::static ;;
pc_shared) with_pkg_config ;;
pc_static) with_pkg_config --static ;;
*) echo "unknown kind: $kind" && exit 64 ;;
esac

said=$(LD_LIBRARY_PATH=$stage/$libdir "$program")
echo "the program says: $said"
[ "$said" = "$version" ]

needed=$(readelf -d "$program" | grep -c 'NEEDED.*libzkrecipes\.so' || true)
case $kind in
*_shared) [ "$needed" -eq 1 ] || { echo "not linked to the shared library"; exit 1; } ;;
*_static) [ "$needed" -eq 0 ] || { echo "linked to the shared library"; exit 1; } ;;
esac
