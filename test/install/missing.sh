#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# missing.sh ROOT CMAKE WORK: checks the messages of the configuration when dependencies are missing. They name
# everything that is missing, and the packages that provide it. The system's own directories are hidden. The
# dependencies are then added one by one.
set -eu
root=$1 cmake=$2 work=$3
failed=0
rm -rf "$work"
mkdir -p "$work/zk/include/zookeeper" "$work/zk/lib" "$work/cmocka" "$work/uthash"
: >"$work/uthash/uthash.h"
: >"$work/cmocka/cmocka.h"
: >"$work/cmocka/libcmocka.so"
: >"$work/zk/include/zookeeper/zookeeper.h"
printf '\0zoo_get_children\0' >"$work/zk/lib/libzookeeper_mt.so"
: >"$work/zk/lib/libzookeeper_st.so"
zookeeper="-DZooKeeper_INCLUDE_DIR=$work/zk/include -DZooKeeper_LIBRARY=$work/zk/lib/libzookeeper_mt.so"
uthash=-DUTHASH_INCLUDE_DIR=$work/uthash
cmocka="-DCMOCKA_INCLUDE_DIR=$work/cmocka -DCMOCKA_LIBRARY=$work/cmocka/libcmocka.so"

version() { # NUMBER: sets the version in the header of the client library
    printf '#define ZOO_VERSION "%s"\n' "$1" >"$work/zk/include/zookeeper/zookeeper_version.h"
}

# configure ARGUMENT...: sets $status, and writes the output to $work/out. Only what the arguments name is found.
configure() {
    rm -f "$work/build/CMakeCache.txt" # but keep what CMake knows about the compiler
    status=0
    "$cmake" -S "$root" -B "$work/build" -DCMAKE_FIND_ROOT_PATH="$work/nothing" \
        -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY "$@" \
        >"$work/out" 2>&1 || status=$?
}

complain() { # WORDS
    echo "$1:"
    sed 's/^/    /' "$work/out"
    failed=1
}

refuses() { # PACKAGES ARGUMENT...: names these packages, and no other
    packages=$1
    shift
    configure "$@"
    [ "$status" -ne 0 ] || complain "configures without $packages"
    grep -qE "^ *sudo apt-get install $packages\$" "$work/out" || complain "does not ask for $packages"
}

version 3.8.0
# shellcheck disable=SC2086 # lists of options
{
    refuses 'libzookeeper-mt-dev uthash-dev'
    refuses 'libzookeeper-mt-dev uthash-dev libcmocka-dev' -DZKR_BUILD_TESTS=ON
    refuses libzookeeper-mt-dev $uthash
    refuses uthash-dev $zookeeper
    refuses libcmocka-dev $zookeeper $uthash -DZKR_BUILD_TESTS=ON
    grep -q ZKR_BUILD_TESTS "$work/out" || complain 'does not say for what'

    version 3.4.13
    refuses libzookeeper-mt-dev $zookeeper $uthash
    grep -q "libzookeeper_mt.so is 3.4.13" "$work/out" || complain 'does not say what is too old'

    version 3.8.0
    refuses libzookeeper-mt-dev $zookeeper $uthash "-DZooKeeper_LIBRARY=$work/zk/lib/libzookeeper_st.so"
    grep -q "libzookeeper_st.so is single-threaded" "$work/out" || complain 'does not say that it has no threads'

    # finds libzookeeper where vcpkg and Conan install it.
    finds() { # MANAGER HASHTABLE HEADERS [ARGUMENT...]
        mkdir -p "$work/$1/lib" "$work/$1/$3"
        cp "$work/zk/include/zookeeper/"* "$work/$1/$3"
        cp "$work/zk/lib/libzookeeper_mt.so" "$work/$1/lib/libzookeeper.a"
        manager=$1 hashtable=$2
        shift 3
        : >"$work/$manager/lib/lib$hashtable.a"
        configure "$@" $uthash -DPERL_EXECUTABLE=OFF -DZooKeeper_ROOT="$work/$manager" -DCMAKE_FIND_ROOT_PATH="$work" \
            -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=BOTH -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=BOTH
        [ "$status" -eq 0 ] || complain "does not find libzookeeper.a of $manager"
        grep -q "ZooKeeper_LIBRARY:FILEPATH=$work/$manager/lib/libzookeeper.a" "$work/build/CMakeCache.txt" ||
            complain 'finds another libzookeeper'
        grep -q -e "-l$hashtable " "$work/build/zkrecipes.pc" || complain 'pkg-config would leave hashtable out'
    }
    forward=$work/build/CMakeFiles/ZooKeeper-headers
    finds vcpkg zookeeper_hashtable include/zookeeper
    [ ! -e "$forward" ] || complain 'forwards headers without need'
    finds conan hashtable include
    grep -q '^#include <zookeeper.h>$' "$forward/zookeeper/zookeeper.h" || complain 'forwards no headers'
    ! grep -q -e -lssl "$work/build/zkrecipes.pc" || complain 'wants OpenSSL without need'
    touch "$work/zk/lib/libssl.so" "$work/zk/lib/libcrypto.so"
    printf 'SSL_CTX_new\0' >>"$work/zk/lib/libzookeeper_mt.so"
    finds conan hashtable include -DOPENSSL_INCLUDE_DIR="$work/zk/include" \
        -DOPENSSL_SSL_LIBRARY="$work/zk/lib/libssl.so" -DOPENSSL_CRYPTO_LIBRARY="$work/zk/lib/libcrypto.so"
    grep -q -e '-lssl -lcrypto' "$work/build/zkrecipes.pc" || complain 'pkg-config would leave OpenSSL out'

    # If nothing is missing, no test package is searched for, and the output names what is built.
    version 3.8.0
    configure $zookeeper $uthash -DPERL_EXECUTABLE=OFF
    [ "$status" -eq 0 ] || complain 'does not configure with all it needs'
    ! grep -q CMOCKA "$work/build/CMakeCache.txt" || complain 'looks for cmocka without tests'
    grep -q 'static library, zkr and the manual; installs' "$work/out" || complain 'does not say what is built'
    grep -q 'left out, section 3 of the manual: there is no perl' "$work/out" ||
        complain 'does not say what is left out'
    configure $zookeeper $uthash $cmocka -DZKR_BUILD_EXAMPLES=ON
    grep -q 'manual, examples; installs' "$work/out" || complain 'does not say that examples are built'
}
[ "$failed" -eq 0 ]
