#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# build.sh [-B DIR] PRESET [TARGET...]: configures a build of CMakePresets.json, and builds the targets, or all targets
# if none is given. The target "-" builds nothing.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

# With these compilers, warnings are errors. Other compilers have other warnings.
checked='gcc 12, gcc 14, gcc 16, clang 14, clang 19'

dir=
if [ "${1:-}" = -B ]; then
    dir=$2
    shift 2
fi
preset=$1
shift

launcher=
! command -v ccache >/dev/null || launcher=ccache
werror=OFF
case $preset in
plain) compiler=gcc ;;
asan | tsan | fuzz) compiler=clang ;;
*) compiler= ;;
esac
if [ -n "$compiler" ]; then
    version=$("$compiler" -dumpversion) && compiler="$compiler ${version%%.*}"
    if [[ ", $checked," == *", $compiler,"* ]]; then
        werror=ON
    else
        echo "==> $compiler: warnings are no errors; they are with $checked"
    fi
fi
cmake --preset "$preset" -B "${dir:=build/$preset}" --log-level=WARNING \
    -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DZKR_WERROR="$werror"
[ "$*" = - ] || cmake --build "$dir" -j "$(nproc)" ${1:+--target "$@"}
