#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# plain.sh ROOT CMAKE COMPILER WORK LIBDIR: builds and installs a copy of the tree, as README says, with no option
# except the destination. It checks the installed files: the library, zkr and their manual. It does not search for test
# packages.
set -eu
root=$1 cmake=$2 compiler=$3 work=$4 libdir=$5
rm -rf "$work"
mkdir -p "$work/tree"
cp -R "$root/CMakeLists.txt" "$root/CHANGELOG.md" "$root/include" "$root/lib" "$root/tools" "$root/examples" "$work/tree"
cd "$work/tree"

# If there is a ccache, it has cached the sources under another path.
CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1 CC=$compiler
export CCACHE_BASEDIR CCACHE_NOHASHDIR CC
if command -v ccache >/dev/null; then
    CMAKE_C_COMPILER_LAUNCHER=ccache
    export CMAKE_C_COMPILER_LAUNCHER
fi
"$cmake" -B build >"$work/log"
"$cmake" --build build -j 2 >>"$work/log" 2>&1
"$cmake" --install build --prefix "$work/stage" >>"$work/log"

failed=0
if grep 'warning:' "$work/log"; then
    echo 'a build with no option has warnings'
    failed=1
fi
cd "$work/stage"
for file in bin/zkr libexec/zkr-guardian include/zkr/zkr.h include/zkr/zkr.hpp include/zkr/testing.h \
    "$libdir/libzkrecipes.so" "$libdir/libzkrecipes.so.0" "$libdir/libzkrecipes.a" "$libdir/libzkrecipes-testing.a" \
    "$libdir/pkgconfig/zkrecipes.pc" "$libdir/pkgconfig/zkrecipes-testing.pc" \
    "$libdir/cmake/zkrecipes/zkrecipesConfig.cmake" lib/systemd/system/zkr@.service \
    share/man/man1/zkr.1 share/man/man3/zkr_mutex.3 share/man/man3/zkr_mutex_acquire.3 share/man/man7/zkrecipes.7 \
    share/bash-completion/completions/zkr share/zsh/site-functions/_zkr share/fish/vendor_completions.d/zkr.fish \
    share/zkrecipes/monitoring/zkrecipes.rules.yml \
    share/zkrecipes/monitoring/dashboard.json; do
    [ -s "$file" ] || { echo "not installed: $file"; failed=1; }
done
bin/zkr --version
if grep ^CMOCKA_ "$work/tree/build/CMakeCache.txt"; then
    echo 'looks for a test package'
    failed=1
fi
if grep -rlIF "$work" . | grep -v '^\./lib/systemd/'; then
    echo 'these have the place of the build in them'
    failed=1
fi
[ "$failed" -ne 0 ] || rm -rf "$work"
exit "$failed"
