#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# vcpkg.sh ROOT CMAKE COMPILER WORK INCLUDE LIBRARY UTHASH GENERATOR: runs the port for vcpkg without vcpkg, see
# vcpkg.cmake. The headers and the library of ZooKeeper are where vcpkg has them or, for a shared library, where Conan
# has the headers. A program is linked with the installed files, by CMake and by pkg-config, and runs.
set -eu
root=$1 cmake=$2 compiler=$3 work=$4 include=$5 library=$6 uthash=$7 generator=$8
program=$root/tools/ports/conan/test_package
failed=0
complain() { # WORDS
    echo "$linkage: $1"
    failed=1
}

CC=$compiler
export CC
rm -rf "$work"
for linkage in static dynamic; do
    installed=$work/installed_$linkage packages=$work/packages_$linkage
    headers=$installed/include/zookeeper
    [ $linkage = static ] || headers=$installed/include
    mkdir -p "$headers" "$installed/lib"
    ln -s "$include/zookeeper/"*.h "$headers"
    # This header is a regular file, because the compiler lists the target of a symbolic link.
    rm "$headers/zookeeper.h"
    printf '#include "%s/zookeeper/zookeeper.h"\n' "$include" >"$headers/zookeeper.h"
    ln -s "$uthash/uthash.h" "$installed/include"
    ln -s "${library%.so}.a" "$installed/lib/libzookeeper.a"
    ar qc "$installed/lib/libzookeeper_hashtable.a"
    # A shared library cannot contain the static libzookeeper of a distribution.
    [ $linkage = static ] || ln -s "$library" "$installed/lib/libzookeeper.so"

    "$cmake" "-DROOT=$root" "-DWORK=$work" "-DINSTALLED=$installed" "-DLINKAGE=$linkage" "-DGENERATOR=$generator" \
        -P "$root/test/install/vcpkg.cmake"
    version=$(cat "$work/version")

    grep -rqF "$headers/zookeeper.h" "$work/build_$linkage" || complain 'compiles with other headers of ZooKeeper'
    # Checks that vcpkg makes.
    for path in debug/include debug/share debug/tools; do
        [ ! -e "$packages/$path" ] || complain "installs $path"
    done
    for path in share/zkrecipes/usage share/zkrecipes/copyright; do
        [ -s "$packages/$path" ] || complain "lacks $path"
    done
    ! grep -rlIF "$work" "$packages" || complain 'these have the place of the build in them'
    libraries=$(cd "$packages/lib" && echo libzkrecipes.*)
    case $linkage:$libraries in
    static:libzkrecipes.a | dynamic:libzkrecipes.so\ *.so.0\ *.so.0.*) ;;
    *) complain "installs $libraries" ;;
    esac

    cp -R "$packages/." "$installed"
    rm -r "$packages"
    "$cmake" -S "$program" -B "$work/$linkage" -G "$generator" "-DCMAKE_PREFIX_PATH=$installed" >"$work/log"
    "$cmake" --build "$work/$linkage" >>"$work/log" || { cat "$work/log" && exit 1; }
    [ "$("$work/$linkage/test_package")" = "$version" ] || complain 'the program of CMake fails'
    grep -rqF "$headers/zookeeper.h" "$work/$linkage" || complain 'the program has other headers of ZooKeeper'
    [ $linkage = static ] || continue
    flags=$(PKG_CONFIG_PATH=$installed/lib/pkgconfig pkg-config --cflags --libs zkrecipes)
    # shellcheck disable=SC2086 # a list of flags
    "$compiler" "$program/test_package.c" -o "$work/program" $flags
    [ "$("$work/program")" = "$version" ] || complain 'the program of pkg-config fails'
done
[ "$failed" -ne 0 ] || rm -rf "$work"
exit "$failed"
