#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# consumer.sh KIND LANGUAGE COMPILER STAGE WORK CMAKE LIBDIR VERSION GENERATOR MAKE: builds a program in C or CXX
# against the installed library, in the way that KIND names. It runs the program, and checks the linked libraries.
set -eu
kind=$1 language=$2 compiler=$3 stage=$4 work=$5 cmake=$6 libdir=$7 version=$8
generator=$9 make=${10}
here=$(cd "$(dirname "$0")" && pwd)

case $kind in
*_testing) name=testing package=zkrecipes-testing ;;
*) name=consumer package=zkrecipes ;;
esac
case $language in
C) source=$name.c standards=c11 ;;
CXX) source=$name.cpp standards='c++2b c++20 c++17' ;;
*) echo "unknown language: $language" && exit 64 ;;
esac
rm -rf "$work"
mkdir -p "$work"
program=$work/consumer

with_cmake() { # TARGET [COMPONENT]
    "$cmake" -S "$here/consumer" -B "$work" -G "$generator" "-DCMAKE_MAKE_PROGRAM=$make" \
        "-DZKR_LANGUAGE=$language" "-DCMAKE_${language}_COMPILER=$compiler" "-DZKR_SOURCE=$source" \
        "-DCMAKE_PREFIX_PATH=$stage" "-DZKR_TARGET=$1" "-DZKR_WANTED=$version" \
        "-DZKR_COMPONENTS=${2-}"
    "$cmake" --build "$work"
}

with_pkg_config() { # [--static]
    PKG_CONFIG_PATH=$stage/$libdir/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(pkg-config --modversion $package)" = "$version" ]
    flags=$(pkg-config --cflags --libs "$@" $package)
    if [ "$kind" = pc_all_static ]; then
        flags="-static $flags"
    elif [ "${1-}" = --static ]; then
        # Our library is linked statically, and the system's libraries are not.
        flags=$(printf '%s' "$flags" | sed 's/-lzkrecipes/-l:libzkrecipes.a/')
    fi
    for standard in $standards; do
        # shellcheck disable=SC2086 # a list of flags
        "$compiler" "-std=$standard" -Wall -Wextra -Werror -o "$program" "$here/consumer/$source" $flags
    done
}

case $kind in
cmake_shared) with_cmake zkrecipes::zkrecipes ;;
cmake_static) with_cmake zkrecipes::static ;;
cmake_testing) with_cmake zkrecipes::testing testing ;;
pc_shared | pc_testing) with_pkg_config ;;
pc_static | pc_all_static) with_pkg_config --static ;;
*) echo "unknown kind: $kind" && exit 64 ;;
esac

said=$(LD_LIBRARY_PATH=$stage/$libdir "$program")
echo "the program says: $said"
[ "$said" = "$version" ]

needed=$(readelf -d "$program" | grep -c 'NEEDED.*libzkrecipes\.so' || true)
case $kind in
*_shared | *_testing) [ "$needed" -eq 1 ] || { echo "not linked to the shared library"; exit 1; } ;;
*_static) [ "$needed" -eq 0 ] || { echo "linked to the shared library"; exit 1; } ;;
esac
