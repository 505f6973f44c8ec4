# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Functions for messages, and for packages of Debian and Ubuntu. ./run and the scripts behind it source this file.

# ---- packages by purpose --------------------------------------------------------------

# shellcheck disable=SC2034 # scripts that source this file use them
{
    packages_build=(libc6-dev cmake ninja-build pkg-config libzookeeper-mt-dev uthash-dev)
    # Any existing compiler will do.
    command -v cc >/dev/null || packages_build+=(gcc)
    # Unlike the package zookeeperd, zookeeper starts no service.
    packages_server=(zookeeper default-jre-headless)
    packages_test=(libcmocka-dev python3-cram libfaketime "${packages_server[@]}")
    # Other lock libraries, for tests on the same paths: Curator, with an interpreter that drives it without a Java
    # compiler; kazoo; and go-zookeeper (see want_peers). Also cffi, for examples/lock.py. Some distributions lack some
    # of them.
    packages_peers=(libcurator-recipes-java bsh python3-kazoo python3-cffi golang-go)
    packages_lint=(man-db mandoc tidy shellcheck gcc g++ libcmocka-dev abigail-tools python3 pyflakes3
        python3-cffi zsh fish)
    packages_fuzz=(clang libcmocka-dev libjansson-dev)
    # For each leak that a suppression may match, the leak sanitizer calls llvm-symbolizer. If it is missing, the
    # sanitizer complains on standard error.
    packages_ci=("${packages_fuzz[@]}" llvm valgrind libc6-dbg libuv1-dev make golang-go)
    packages_proof=(python3 python3-z3 python3-pycparser)
    packages_frama_c=(frama-c-base why3 z3 cvc4)
}

say() {
    printf '%s\n' "$*"
}

die() { # STATUS WORDS
    local status=$1
    shift
    printf 'run: %s\n' "$*" >&2
    exit "$status"
}

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Tests whether apt can install the package. Reads the whole answer, because apt-cache fails if its reader exits first.
offered() {
    local said
    said=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null) && [[ $said == *'Candidate: '[0-9]* ]]
}

may_install() { # PACKAGE...: exits if installing is not permitted
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die 69 "not root and no sudo; install these, then try again: $*"
    fi
}

as_root() {
    if [ "$(id -u)" -ne 0 ]; then
        sudo "$@"
    else
        "$@"
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# need PACKAGE...: installs missing packages. If none is missing, does not call apt.
need() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null; then
        say "run: not a Debian system; taking for granted: $*"
        return
    fi
    for package; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    may_install "${missing[@]}"
    say "==> installing packages: ${missing[*]}"
    update_once
    apt install -y --no-install-recommends "${missing[@]}" ||
        die 69 "apt-get could not install: ${missing[*]}"
}

# want PACKAGE...: installs all packages if apt offers all of them. Otherwise returns false.
want() {
    local package missing=()
    if command -v dpkg-query >/dev/null; then
        for package; do
            installed "$package" || missing+=("$package")
        done
    fi
    [ ${#missing[@]} -gt 0 ] || return 0
    may_install "${missing[@]}"
    say "==> looking for ${missing[*]}"
    update_once
    for package in "${missing[@]}"; do
        offered "$package" || return 1
    done
    need "${missing[@]}"
}

# Installs the other libraries. Without them, their tests are skipped. The build compiles a driver for go-zookeeper,
# which has two possible names.
want_peers() {
    local go=golang-github-go-zookeeper-zk-dev old=golang-github-samuel-go-zookeeper-dev
    ! installed "$old" || go=$old
    want "${packages_peers[@]}" "$go" || want "${packages_peers[@]}" "$old" ||
        say "==> not to be had: ${packages_peers[*]} $old; tests that need them will be left out"
}

# Unpacks the programs into build/ instead of installing the package, which would start a service on port 9090.
want_prometheus() {
    local dir=build/prometheus
    if installed prometheus || [ -x "$dir/usr/bin/promtool" ]; then
        return
    fi
    say '==> looking for prometheus'
    update_once
    mkdir -p "$dir"
    (cd "$dir" && apt-get -q download prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) ||
        say '==> not to be had: prometheus; the tests of alerts will be left out'
}

# The run-time libraries of clang's sanitizers are in a package for that version of clang.
need_sanitizers() {
    local name version
    for name in address undefined thread fuzzer; do
        if ! echo 'int main(void); int LLVMFuzzerTestOneInput(const char *p, long n);
            int main(void) { return 0; }
            int LLVMFuzzerTestOneInput(const char *p, long n) { return !p && n; }' |
            clang "-fsanitize=$name" -x c -o /dev/null - 2>/dev/null; then
            version=$(clang -dumpversion)
            need "libclang-rt-${version%%.*}-dev"
            return
        fi
    done
}

# Installs the version of the tools that lint.sh needs, if apt offers it.
need_lint_tools() {
    local tool
    for tool in clang-format-14 clang-tidy-14; do
        command -v "$tool" >/dev/null || want "$tool" || say "==> not to be had: $tool"
    done
}

# Another apt-get, for example the one that runs after each boot, can lock the package lists for some time. apt-get
# itself waits only for dpkg's lock.
updated=no
update_once() {
    local said tries
    [ "$updated" = no ] || return 0
    for ((tries = 1; ; tries++)); do
        said=$(apt update 2>&1) && break
        say "$said"
        [[ $said == *lists/lock* && $tries -lt 60 ]] || die 69 "apt-get update failed"
        say '==> another apt-get is at work; waiting for it'
        sleep 5
    done
    say "$said"
    updated=yes
}
