#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# package.sh [try]: builds the Debian packages in build/package, lints them with lintian, and lints the tree with reuse.
# reuse also writes build/package/zkrecipes.spdx, the list of all files with their licences. Then builds the packages
# again from a copy of the tree in another place. Packages and installed files must be identical bit for bit. "try"
# instead installs the packages in build/package on this system, uses them, and removes them without a trace. ./run
# fresh package does this in a bare root.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh
# shellcheck source=tools/readme.sh
. tools/readme.sh
# shellcheck source=tools/server.sh
. tools/server.sh

dir=$root/build/package
log=$dir/log

progress() {
    say "==> $*"
}
at_end() {
    :
}

failed() { # WORDS
    tail -n 20 "$log"
    die 1 "$1"
}

# ---- building -----------------------------------------------------------------------

# Copies the files of the tree, as a tarball would contain them.
copy_tree() { # DIR
    mkdir -p "$1"
    files '*' | tar -c --verbatim-files-from -T - | tar -x -C "$1"
}

# build_packages TREE: builds the packages beside TREE, with the compiler flags of Debian's packages.
build_packages() {
    cd "$1"
    DEB_BUILD_OPTIONS="parallel=$(nproc) noautodbgsym" dpkg-buildpackage --build=binary --no-sign
}

# install_plain TREE STAGE: builds without options, and installs below STAGE.
install_plain() {
    cd "$1"
    cmake -B build && cmake --build build -j "$(nproc)" && DESTDIR=$2 cmake --install build
}

build_twice() {
    local one=$tmp/here two=$tmp/some/other/place each name count=0
    # Uses the time of the release as the build time.
    SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -STimestamp)
    # Disables the compiler cache, because cached objects would prove nothing.
    export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
    rm -rf "$dir"
    mkdir -p "$dir"
    for each in "$one" "$two"; do
        progress "building in ${each#"$tmp/"}"
        copy_tree "$each/tree"
        (build_packages "$each/tree") >>"$log" 2>&1 || failed 'the packages do not build'
        (install_plain "$each/tree" "$each/stage") >>"$log" 2>&1 || failed 'a build without options does not install'
    done
    for each in "$one"/*.deb; do
        name=$(basename "$each")
        cmp "$each" "$two/$name" || die 1 "$name is not the same when it is built somewhere else"
        cp "$each" "$dir/$name"
        count=$((count + 1))
    done
    diff -r "$one/stage" "$two/stage" || die 1 'what is installed is not the same when it is built somewhere else'
    progress "the same bits: $count packages, $(find "$one/stage" -type f | wc -l) installed files"
}

# ---- checks -------------------------------------------------------------------------

# REUSE expects licences in a folder named LICENSES, which this tree does not have.
lint_licences() {
    local tree=$tmp/reuse
    copy_tree "$tree"
    mkdir "$tree/LICENSES"
    cp LICENSE "$tree/LICENSES/Apache-2.0.txt"
    (cd "$tree" && reuse lint) >>"$log" 2>&1 || failed 'reuse lint'
    (cd "$tree" && reuse spdx -o "$dir/zkrecipes.spdx") >>"$log" 2>&1 || failed 'reuse spdx'
}

look() {
    progress 'lintian, reuse'
    lintian --allow-root --fail-on error,warning "$dir"/*.deb || die 1 'lintian'
    lint_licences
}

# ---- the trial ----------------------------------------------------------------------

# Lists all files, except those that package managers and the kernel keep for their own use.
inventory() {
    find / -xdev \( -path "$root" -o -path "$tmp" -o -path /proc -o -path /sys -o -path /dev -o -path /var/cache \
        -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/tmp/hsperfdata_*' \) -prune -o \
        -print | sort
}

# Builds a CMake project that uses the library.
consumer_by_cmake() {
    cmake -S test/install/consumer -B "$tmp/consumer" -DZKR_LANGUAGE=C -DZKR_SOURCE=consumer.c \
        -DZKR_TARGET=zkrecipes::zkrecipes && cmake --build "$tmp/consumer" && "$tmp/consumer/consumer"
}

try() {
    local name names=()
    for name in "$dir"/*.deb; do
        names+=("$(dpkg-deb -f "$name" Package)")
    done
    [ ${#names[@]} -gt 0 ] || die 66 "no packages in $dir"
    tmp=$(mktemp -d)
    start_server 1000
    inventory >"$tmp/before"

    progress "installing ${names[*]}"
    apt install -y --no-install-recommends "$dir"/*.deb >>"$log" 2>&1 || failed 'the packages do not install'
    zkr --version
    man -w zkr zkrecipes zkr_mutex_acquire >>"$log" 2>&1 || failed 'a page of the manual is missing'
    # shellcheck disable=SC1091 # of the package
    (. /usr/share/bash-completion/completions/zkr && complete -p zkr) >>"$log" || failed 'no completion for zkr'
    [ -s /usr/share/zsh/vendor-completions/_zkr ] || die 1 'no completion for zsh'
    [ -s /usr/share/fish/vendor_completions.d/zkr.fish ] || die 1 'no completion for fish'
    [ -x /usr/libexec/zkr-guardian ] || die 1 'no zkr-guardian where the library looks for it'
    [ -s /usr/lib/systemd/system/zkr@.service ] || die 1 'no unit for systemd'

    progress "the first program of README, and zkr, on $servers"
    readme_block 'A first program' 1 >"$tmp/first.c"
    name=$(readme_block 'A first program' 2 | with_server "$servers")
    (cd "$tmp" && bash -ec "$name") >"$tmp/said" 2>&1 || die 1 "the first program: $(cat "$tmp/said")"
    cat "$tmp/said"
    grep -q '^held by this thread' "$tmp/said" || die 1 'the first program does not say that it holds the lock'
    [ "$(zkr -z "$servers" lock -w 10 /locks/backup echo it ran)" = 'it ran' ] || die 1 'zkr lock runs nothing'
    consumer_by_cmake >>"$log" 2>&1 || failed 'a program by CMake does not build or run'

    progress 'removing them'
    apt purge -y --auto-remove "${names[@]}" >>"$log" 2>&1 || failed 'the packages cannot be removed'
    inventory >"$tmp/after"
    diff "$tmp/before" "$tmp/after" || die 1 'the packages leave something behind, or take something along'
    ! dpkg -l "${names[@]}" 2>/dev/null | grep -v '^un' | grep zkrecipes || die 1 'the packages are not quite gone'
}

case $* in
'')
    need build-essential gcc libc6-dev cmake pkg-config libzookeeper-mt-dev uthash-dev perl debhelper lintian reuse
    tmp=$(mktemp -d)
    build_twice
    look
    ls "$dir"/*.deb
    ;;
try)
    need gcc libc6-dev cmake make pkg-config man-db zookeeper default-jre-headless
    try
    progress 'installed, used, and gone without a trace'
    ;;
*) die 64 'usage: ./run package' ;;
esac
