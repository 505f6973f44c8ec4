#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# versions.sh servers SUITE: runs the tests that depend on servers, with this machine's libzookeeper and servers of
#                            another release of Debian
# versions.sh old SUITE:     runs holds and zkr on servers of a release that lacks later operations
# versions.sh chaos SUITE [ARGUMENT...]: runs ./run chaos twice: with rolling restarts of the servers to that release
#                            and back, and on servers of that release, with snapshots by their AdminServer
# versions.sh i386:          runs the tests of ./run test in an i386 root
# versions.sh arm64:         cross-compiles, and runs the unit tests and schedules under qemu-user
# These are the rows of docs/tested.md that need more than this machine's own system. ./run fresh tests Debian 12 and
# 13. This script must run as root.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh

tmp=$(mktemp -d -p /var/tmp)
root=$tmp/root
trap 'rm -rf --one-file-system "$tmp"' EXIT

system() { # VARIANT ARCHITECTURE SUITE PACKAGE...
    need mmdebstrap debian-archive-keyring
    mmdebstrap --quiet --variant="$1" --architectures="$2" --include="${*:4}" "$3" "$root"
}

# The manifest of the servers' jar refers to most jars by paths of this machine, so these jars must be first.
class_path() {
    local jars=$root/usr/share/java
    unzip -p "$jars/zookeeper.jar" META-INF/MANIFEST.MF | tr -d '\r' |
        sed ':a;N;$!ba;s/\n //g' | sed -n 's/^Class-Path: //p' | tr ' ' '\n' |
        sed -n "s|^/|$root/|p" | tr '\n' :
    echo "$jars/slf4j-api.jar:$jars/slf4j-simple.jar:$jars/zookeeper.jar"
}

servers_of() { # SUITE: sets the servers for the tests that run after this
    need unzip "${packages_build[@]}" "${packages_test[@]}"
    system extract "$(dpkg --print-architecture)" "$1" zookeeper
    tools/build.sh test
    ZKR_TEST_CLASSPATH=$(class_path)
    export ZKR_TEST_CLASSPATH
}

servers() { # SUITE
    servers_of "$1"
    tools/ctest.sh all -j 4 -R '^(recipes|session|testing|engine)\.|^chaos\.short$' -E '\.search$'
}

old() { # SUITE
    servers_of "$1"
    # The excluded tests need containers, settings or create2, which these servers lack, or a server that logs closed
    # connections.
    tools/ctest.sh all -j 4 -R '^recipes\.holds|^cli\.' \
        -E '@|^cli\.(foreign|leave|lock|refused|slow|time|why)$'
}

chaos() { # SUITE ARGUMENT...
    servers_of "$1"
    if ! want golang-go || ! tools/build.sh test judge; then
        say '==> no judge of the history: it needs Go'
    fi
    # The AdminServer needs this jar, and no other jar refers to it.
    export ZKR_TEST_OTHER_CLASSPATH=$ZKR_TEST_CLASSPATH:$root/usr/share/java/servlet-api.jar
    unset ZKR_TEST_CLASSPATH
    build/test/test/chaos --nemesis rolled "${@:2}"
    ZKR_TEST_CLASSPATH=$ZKR_TEST_OTHER_CLASSPATH build/test/test/chaos --nemesis usual,snapshot-taken "${@:2}"
}

i386() {
    system minbase i386 bookworm gcc "${packages_build[@]}" "${packages_test[@]}"
    cp /etc/hosts "$root/etc/"
    mkdir "$root/zkrecipes"
    files '*' | tar -c --verbatim-files-from -T - | tar -x --no-same-owner -C "$root/zkrecipes"
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/dev/shm" && mount -t devpts devpts "$1/dev/pts" &&
            setarch i686 chroot "$1" sh -c "cd /zkrecipes && tools/build.sh test && tools/ctest.sh test -j 4"' i386 "$root"
}

arm64() {
    local only=(-R '^unit\.|\.search$') targets
    need qemu-user-static gcc-aarch64-linux-gnu "${packages_build[@]}"
    system extract arm64 bookworm libzookeeper-mt-dev libcmocka-dev libc6-dev uthash-dev
    cmake -G Ninja -B build/arm64 --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc "-DCMAKE_SYSROOT=$root" \
        -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER \
        -DCMAKE_BUILD_TYPE=Debug '-DCMAKE_C_FLAGS_DEBUG=-O2 -g' -DZKR_BUILD_TESTS=ON
    mapfile -t targets < <(ctest --test-dir build/arm64 -N "${only[@]}" |
        sed -n 's/^ *Test *#[0-9]*: \([a-z]*\)\./test_\1_/p')
    cmake --build build/arm64 --target "${targets[@]}"
    export QEMU_LD_PREFIX=$root ZKR_TEST_WRAPPER=qemu-aarch64-static ZKT_SEEDS=1000
    ctest --test-dir build/arm64 -j "$(nproc)" "${only[@]}" --output-on-failure
}

case $*:$# in
chaos\ *:* | servers\ *:2 | old\ *:2 | i386:1 | arm64:1) "$@" ;;
*) die 64 'usage: tools/versions.sh servers SUITE | old SUITE | chaos SUITE [ARGUMENT...] | i386 | arm64' ;;
esac
