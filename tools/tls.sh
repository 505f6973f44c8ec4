#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tls.sh: builds libzookeeper with OpenSSL in build/tls, from the distribution's source package. Runs the tests tls.*
# with this library, a real server with a TLS port, and stunnel. See ./run.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh

dir=$root/build/tls
library=$dir/lib/libzookeeper_mt.so.2

# ---- the library --------------------------------------------------------------------

# Uses its own lists of sources, because apt's sources on this machine must not change.
source_lists() {
    local name suite
    # shellcheck disable=SC1091 # of the system
    name=$(. /etc/os-release && echo "$ID")
    # shellcheck disable=SC1091
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    case $name in
    debian)
        echo "deb-src http://deb.debian.org/debian $suite main"
        echo "deb-src http://deb.debian.org/debian-security $suite-security main"
        ;;
    ubuntu)
        echo "deb-src http://archive.ubuntu.com/ubuntu $suite main universe"
        echo "deb-src http://archive.ubuntu.com/ubuntu $suite-security main universe"
        ;;
    *) die 69 "no source packages known for $name" ;;
    esac
}

fetch_source() {
    local apt=(apt-get -q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$dir/lists" -o Acquire::Retries=3 -o APT::Sandbox::User=)
    mkdir -p "$dir/lists/partial"
    source_lists >"$dir/sources.list"
    "${apt[@]}" update >"$dir/log" 2>&1 &&
        (cd "$dir" && "${apt[@]}" source --only-source zookeeper) >>"$dir/log" 2>&1
}

# Generates the part of the client that is derived from the description of the protocol.
generate() { # C-CLIENT
    mkdir -p "$1/generated"
    (cd "$1/generated" && java -cp /usr/share/java/zookeeper-jute.jar \
        org.apache.jute.compiler.generated.Rcc -l c \
        "$1/../../zookeeper-jute/src/main/resources/zookeeper.jute")
}

# OpenSSL 3 lacks FIPS_mode(), which ZooKeeper 3.8.0 calls for a line of its log.
compile() { # C-CLIENT
    cmake -S "$1" -B "$dir/client" -DWANT_CPPUNIT=OFF -DWITH_CYRUS_SASL=OFF \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        "-DCMAKE_C_FLAGS=-w '-DFIPS_mode()=EVP_default_properties_is_fips_enabled(NULL)'" &&
        cmake --build "$dir/client" --target zookeeper &&
        mkdir -p "$dir/lib" &&
        gcc -shared -o "$library" -Wl,-soname,libzookeeper_mt.so.2 -Wl,--whole-archive \
            "$dir/client/libzookeeper.a" "$dir/client/libhashtable.a" -Wl,--no-whole-archive \
            -lssl -lcrypto -lm -lpthread
}

make_library() {
    local clients
    [ ! -f "$library" ] || return 0
    say '==> libzookeeper with OpenSSL, from its source package'
    rm -rf "$dir"
    fetch_source || {
        tail -n 5 "$dir/log"
        die 69 'the source package of zookeeper cannot be had'
    }
    clients=("$dir"/zookeeper-*/zookeeper-client/zookeeper-client-c)
    { generate "${clients[0]}" && compile "${clients[0]}"; } >>"$dir/log" 2>&1 || {
        tail -n 20 "$dir/log"
        die 70 'libzookeeper with OpenSSL does not build'
    }
}

# ---- certificates -------------------------------------------------------------------

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

authority() { # NAME
    openssl req -x509 "${new_key[@]}" -days 2 -subj "/CN=zkrecipes tests, $1" -keyout "$1.key" -out "$1.pem"
}

certificate() { # NAME: makes a key and a certificate signed by ca
    openssl req "${new_key[@]}" -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" &&
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$1.pem"
}

make_certificates() {
    rm -rf "$dir/certs"
    mkdir -p "$dir/certs"
    (cd "$dir/certs" && authority ca && authority other && certificate server && certificate client &&
        openssl pkey -in client.key -aes128 -passout pass:secret -out locked.key &&
        cat server.key server.pem >server.both.pem) >>"$dir/log" 2>&1 ||
        die 70 "openssl makes no certificates; see $dir/log"
}

# ---- the tests ----------------------------------------------------------------------

# Debian's jar of the server does not list all parts of Netty that a TLS port needs.
jars=/usr/share/java
classpath=$jars/zookeeper.jar:$jars/slf4j-simple.jar:$jars/netty-codec.jar:$jars/netty-resolver.jar
classpath+=:$jars/netty-transport-native-unix-common.jar

need gcc make libssl-dev openssl dpkg-dev xz-utils stunnel4
make_library
make_certificates
say '==> tests over TLS'
ZKT_TLS=$dir/certs ZKR_TEST_CLASSPATH=$classpath LD_LIBRARY_PATH=$dir/lib \
    ctest --test-dir build/plain -C tls -R '^tls\.' --output-on-failure --no-tests=error
