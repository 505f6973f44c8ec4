#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# package.sh [try]: builds the Debian packages twice in build/package, compares the two, and has
# lintian and reuse look at them. With "try" it installs them on this system, compiles the program of
# README against them, and removes them without a trace; ./run fresh package does that in a bare root.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh

dir=$root/build/package
log=$dir/log

failed() { # WORDS
    tail -n 20 "$log"
    die 1 "$1"
}

# ---- building -----------------------------------------------------------------------

build_one() { # DIR
    local lib
    lib=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
    cmake -S . -B "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR="$lib" \
        -DCMAKE_C_FLAGS="$(dpkg-buildflags --get CFLAGS) -ffile-prefix-map=$root=. -ffile-prefix-map=$1=build" \
        -DCMAKE_SHARED_LINKER_FLAGS="$(dpkg-buildflags --get LDFLAGS)" \
        -DCMAKE_EXE_LINKER_FLAGS="$(dpkg-buildflags --get LDFLAGS)" &&
        cmake --build "$1" -j "$(nproc)" && (cd "$1" && cpack -G DEB)
}

build_packages() {
    local each name
    # The clock stands still at the day of the release.
    SOURCE_DATE_EPOCH=$(date -u -d "$(sed -n 's/^set(ZKR_DATE \(.*\))$/\1/p' CMakeLists.txt)" +%s)
    export SOURCE_DATE_EPOCH
    rm -rf "$dir"
    mkdir -p "$dir"
    for each in one two; do
        say "==> building the packages, $each of two"
        build_one "$dir/$each" >>"$log" 2>&1 || failed 'the packages do not build'
    done
    for each in "$dir"/one/*.deb; do
        name=$(basename "$each")
        cmp "$each" "$dir/two/$name" || die 1 "$name is not the same when it is built again"
        cp "$each" "$dir/$name"
    done
    rm -rf "$dir/one" "$dir/two"
}

# ---- looking at them ----------------------------------------------------------------

# REUSE wants licences in a folder of that name, which this tree does not have.
lint_licences() {
    local tree status=0
    tree=$(mktemp -d)
    files '*' | tar -c --verbatim-files-from -T - | tar -x -C "$tree"
    mkdir "$tree/LICENSES"
    cp LICENSE "$tree/LICENSES/Apache-2.0.txt"
    (cd "$tree" && reuse lint) >>"$log" 2>&1 || status=$?
    rm -rf "$tree"
    [ "$status" -eq 0 ] || failed 'reuse lint'
}

look() {
    say '==> lintian, reuse'
    lintian --allow-root --fail-on error,warning "$dir"/*.deb || die 1 'lintian'
    lint_licences
}

# ---- trying them --------------------------------------------------------------------

try() {
    local name before="$dir/before" after="$dir/after" names=()
    say '==> installing the packages, building against them, removing them'
    find / -xdev \( -path "$root" -o -path /proc -o -path /var -o -path /tmp \) -prune -o -print | sort >"$before"
    apt install -y "$dir"/*.deb >>"$log" 2>&1 || failed 'the packages do not install'
    zkr --version
    man -w zkr zkr_mutex_acquire zkrecipes >>"$log" 2>&1 || failed 'a page of the manual is missing'
    # shellcheck disable=SC2046 # flags are words
    cc -o "$dir/first" examples/first.c $(pkg-config --cflags --libs zkrecipes) >>"$log" 2>&1 ||
        failed 'the program of README does not build'
    ! "$dir/first" 127.0.0.1:1 2>"$dir/said" || die 1 'there is no server, but the program found one'
    grep -q '127.0.0.1:1' "$dir/said" || die 1 "the program says: $(cat "$dir/said")"
    for name in "$dir"/*.deb; do
        names+=("$(dpkg-deb -f "$name" Package)")
    done
    apt purge -y "${names[@]}" >>"$log" 2>&1 || failed 'the packages cannot be removed'
    find / -xdev \( -path "$root" -o -path /proc -o -path /var -o -path /tmp \) -prune -o -print | sort >"$after"
    diff "$before" "$after" || die 1 'the packages leave something behind'
}

case $* in
'' | try) ;;
*) die 64 'usage: ./run package' ;;
esac
need gcc libc6-dev cmake make pkg-config libzookeeper-mt-dev uthash-dev perl dpkg-dev file lintian reuse
build_packages
look
if [ "$*" = try ]; then
    need man-db
    try
fi
ls "$dir"/*.deb
