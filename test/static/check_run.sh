#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_run.sh ROOT: tests how ./run handles missing packages, and the order of its actions. Stand-ins replace the
# package tools, sudo, id, and the programs that build and test. The tree contains the scripts of ./run and little else,
# without git, as from a tarball. Nothing is installed or built.
set -eu
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

tree=$tmp/tree
mkdir -p "$tree/test/fuzz" "$tree/test/proof" "$tree/lib" "$tree/build/plain" "$tree/bench" "$tree/docker"
cp -R "$root/run" "$root/tools" "$tree" && rm -r "$tree/tools/zkr" "$tree/tools/ports"
echo 'echo "did: bench $*"' >"$tree/bench/run.sh"
echo 'echo "did: cluster $*"' >"$tree/docker/cluster.sh"
echo 'echo "did: contracts"' >"$tree/test/proof/code.sh"
printf '#!/bin/sh\n' >"$tree/test/fuzz/fuzz.sh"
chmod +x "$tree/test/fuzz/fuzz.sh"
touch "$tree/lib/ours.c" "$tree/build/plain/made.c" "$tree/build/plain/compile_commands.json"

mkdir -p "$tree/build/plain/test"
printf '#!/bin/sh\necho "did: proof_claims $*"\n' >"$tree/build/plain/test/proof_claims"
chmod +x "$tree/build/plain/test/proof_claims"

stub() { # NAME TEXT: creates a program on the machine
    rm -f "$tmp/bin/$1" # a link to the program of this system
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}

# The programs of each machine.
mkdir "$tmp/bin"
for tool in bash cat cut dirname env find grep head mkdir nproc paste readlink rm sed seq sh sort tail tee tr uname xargs; do
    ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
done
# The real apt-cache prints more, and dies if its reader exits early.
stub apt-cache 'printf "x:\n  Candidate: 1.0\n"; exec seq 100000'
stub apt-get "echo \"did: apt-get \$*\"
    for name; do case \$name in [!-]*) : >'$tmp/installed/'\$name ;; esac; done"
stub sudo 'echo "did: sudo"; exec "$@"'
stub clang 'echo 18.1.3'
stub gcc 'echo 12.2.0'
for tool in cmake clang-format-14 clang-tidy-14 shellcheck pyflakes3 python3; do
    stub "$tool" "echo \"did: $tool \$*\""
done
stub ctest 'echo "did: ctest $*"; case "$*" in
    *" -N"*) printf "  Test  #1: unit.path\n  Test #2: chaos.short\n" ;;
    *) echo "100% tests passed"; printf "\t 92 - interop.peer (Skipped)\n" ;;
    esac'
mv "$tmp/bin" "$tmp/each"

# machine UID PACKAGE...: simulates a user with that number, without these packages. Each action on the machine is
# printed as "did: ..." in the output of ./run.
machine() {
    rm -rf "${tmp:?}/bin" "${tmp:?}/installed"
    mkdir "$tmp/installed"
    cp -a "$tmp/each" "$tmp/bin"
    stub id "echo $1"
    shift
    stub dpkg-query "for name; do :; done
        case ' $* ' in *\" \$name \"*) [ -f '$tmp/installed/'\$name ] || exit 1 ;; esac
        printf installed"
}

says() { # STATUS ARGUMENT...: checks that ./run ends with this status; its output is in $tmp/out
    wanted=$1
    shift
    words="run $*"
    status=0
    env -i PATH="$tmp/bin" HOME="$tmp" "$tmp/bin/bash" "$tree/run" "$@" >"$tmp/out" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || complain "status $status, not $wanted"
}

# shellcheck disable=SC1091 # of the system
here=$(. /etc/os-release && echo "${VERSION_CODENAME:-another system}")
tools_of() { # RELEASE: makes the tools of this release the expected ones
    sed -i "s/^release=.*/release='$1'/" "$tree/tools/lint.sh"
}

complain() { # WORDS
    echo "$words: $1:"
    sed 's/^/    /' "$tmp/out"
    failed=1
}

has() { # WORDS...: checks for lines with these words, in this order
    from=1
    for line; do
        at=$(tail -n "+$from" "$tmp/out" | grep -n -m 1 -e "$line" | cut -d : -f 1)
        if [ -z "$at" ]; then
            complain "does not say, or not in its place: $line"
            return
        fi
        from=$((from + at))
    done
}

hasnt() { # WORDS
    ! grep -q -e "$1" "$tmp/out" || complain "says: $1"
}

# ---- packages -----------------------------------------------------------------------

# If all packages are installed, apt is not called, and sudo is not needed.
machine 1000
rm "$tmp/bin/sudo"
says 0 build
hasnt 'apt-get'
hasnt 'installing'
has 'did: cmake --preset release'

# The script reports what it will install. Then it installs, with sudo if it is not root.
machine 1000 ninja-build uthash-dev
says 0 build
has 'installing packages: ninja-build uthash-dev$' 'did: sudo' 'did: apt-get .*update' \
    'did: sudo' 'did: apt-get .*install .*ninja-build uthash-dev$' 'did: cmake'

# Root needs no sudo. A user without sudo gets the names of the packages and an error, whatever the verb.
machine 0 cmake
says 0 build
hasnt 'sudo'
has 'installing packages: cmake$' 'did: apt-get .*update' 'did: apt-get .*install .* cmake$'
for verb in build demo bench check lint test ci fuzz package docs; do
    machine 1000 libc6-dev gcc mandoc
    rm "$tmp/bin/sudo"
    says 69 "$verb"
    has 'no sudo.* \(libc6-dev\|gcc\)'
    hasnt 'did:'
done

# The script waits while another apt-get is running, but fails at once on any other problem.
machine 0 cmake
stub sleep "echo 'did: sleep'; : >'$tmp/installed/slept'"
stub apt-get "echo \"did: apt-get \$*\"
    case \"\$*\" in
    *update) [ -f '$tmp/installed/slept' ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock.' >&2; exit 100; } ;;
    *) : >'$tmp/installed/cmake' ;;
    esac"
says 0 build
has 'another apt-get' 'did: sleep' 'did: apt-get .*update' 'did: apt-get .*install' 'did: cmake'
machine 0 cmake
stub sleep 'echo "did: sleep"'
stub apt-get 'echo "E: The repository is not signed." >&2; exit 100'
says 69 build
hasnt 'did: sleep'
has 'not signed' 'update failed'

# The script names packages that cannot be installed.
machine 0 cmake
stub apt-get 'case "$*" in *install*) exit 100 ;; esac'
says 69 build
has 'could not install: cmake$'

# The run-time libraries of clang's sanitizers match the installed clang.
machine 0 libclang-rt-18-dev
stub clang 'case "$*" in -dumpversion) echo 18.1.3 ;; *) exit 1 ;; esac'
says 0 fuzz --seconds 1
has 'installing packages: libclang-rt-18-dev$' 'clang 18: warnings are no errors' 'cmake --preset fuzz .*WERROR=OFF'

# If apt does not offer the packages of one peer of the benchmark, the other peers are still measured.
machine 0 redis-tools python3-kazoo
stub apt-cache "case \$2 in redis-tools) set -- '(none)' ;; *) set -- 1.0 ;; esac
    printf 'x:\n  Candidate: %s\n' \"\$1\""
says 0 bench --quick
has 'installing packages: python3-kazoo$' 'not to be had: redis-tools libhiredis-dev' 'did: bench --quick$'

# On another system, the script assumes that all programs exist.
machine 1000
rm "$tmp/bin/dpkg-query" "$tmp/bin/apt-get" "$tmp/bin/apt-cache" "$tmp/bin/sudo"
says 0 build
has 'not a Debian system' 'did: cmake'

# ---- test: one build, and its tests ----------------------------------------------------

machine 0 clang valgrind bsh shellcheck gcc
stub cc ''
says 0 test
has 'did: cmake --preset test .*WERROR=OFF' 'did: cmake --build build/test' 'did: ctest --preset test -j'
hasnt 'did: apt-get'
hasnt 'clang\|shellcheck\|plain'
[ "$(tail -n 1 "$tmp/out")" = "$(printf '\t 92 - interop.peer (Skipped)')" ] || complain 'ctest has not the last word'
machine 0 gcc
says 0 test
has 'installing packages: gcc$'
machine 0 python3-cram
says 0 test
has 'installing packages: python3-cram$'
machine 0 bsh
stub apt-cache 'printf "x:\n  Candidate: (none)\n"'
says 0 test --all
has 'not to be had: .* bsh' 'did: ctest --preset all'
machine 0 prometheus
says 0 test --all
has 'did: apt-get .*download prometheus' 'not to be had: prometheus; .*left out$' 'did: ctest --preset all'
machine 0 prometheus
stub dpkg-deb 'mkdir -p usr/bin && /bin/ln -s /bin/true usr/bin/promtool'
stub apt-get 'echo "did: apt-get $*"; : >prometheus_1.deb'
says 0 test --all
has 'did: apt-get .*download prometheus'
hasnt 'installing\|not to be had'
says 0 test --all
hasnt 'did: apt-get'
machine 0
says 0 test -R some
has 'did: cmake --build build/test .*--target chaos test_unit_path with_server$' 'did: ctest --preset all .*-R some$'
stub ctest 'exit 8'
says 8 test
stub ctest ''
says 66 test -R none
has 'no test is called like none'
says 64 test some
has 'usage: ./run test'

# ---- ci and check: much at once --------------------------------------------------------

machine 0 bsh
says 0 ci
has 'installing packages: bsh$' 'did: clang-format-14' 'did: cmake --preset plain .*WERROR=ON' 'begins: tests, gcc' \
    'begins: tests, thread' 'cluster: did: cluster part build/plain$' \
    '==> all stages' '92 - interop.peer' 'tests, cluster$' 'left out: interop.peer;' '==> all passed'

# Files of the project, with git and without.
has 'did: clang-format-14 .* lib/ours.c$'
hasnt 'made.c'
stub git "case \"\$*\" in ls-files*.c*) printf 'lib/ours.c\nlib/gone.c\n' ;; esac"
says 0 lint
has 'did: clang-format-14 .* lib/ours.c$'
hasnt 'gone.c'

# The formatter and the linter must have a fixed version. If apt does not offer that version, they are not run, which is
# reported.
machine 0 clang-tidy-14
rm "$tmp/bin/clang-tidy-14"
says 0 lint
has 'installing packages: clang-tidy-14$' 'not run: clang-tidy;'

# If a stage fails, the others finish, stages that need it do not begin, and its output is repeated.
machine 0
printf '"%s/lib/ours.c"\n' "$tree" >"$tree/build/plain/compile_commands.json"
tools_of "$here"
stub clang-tidy-14 'echo "ours.c: a warning"; exit 1'
says 1 ci
has 'tidy: ours.c: a warning' '^==> FAILED: lint: clang-tidy' 'begins: tests, valgrind' 'begins: fuzz' \
    '^ours.c: a warning' '^==> all stages' 'tests, valgrind$' '100% tests passed' '^==> FAILED: tidy; '
tools_of another
says 0 ci
has 'tidy: ours.c: a warning' 'not counted: tidy' '^==> all passed'
stub cmake 'case "$*" in *--build\ build/asan*) exit 3 ;; esac'
says 3 ci
has 'FAILED: build with clang, address' 'begins: tests, thread' 'tests, address$' 'did not run' \
    '==> FAILED: address-build; '
hasnt 'begins: tests, address'

# With -R, only the necessary targets are built and run. A pattern without a match is an error.
machine 0
says 0 ci -R some
has 'did: cmake --build build/plain .*--target with_server chaos judge test_unit_path$' 'did: ctest .*-R some' \
    'tests, gcc' 'tests, valgrind' '==> all passed'
hasnt 'clang-tidy'
stub ctest ''
says 66 ci -R none
has 'no test is called like none'

# Each change gets the checks that concern it. A failed lint does not keep tests from running.
machine 0
tools_of "$here"
stub git "case \"\$*\" in
    ls-files*lease* | ls-files*claim_* | ls-files\ -o*) ;;
    ls-files*) printf 'lib/ours.c\nlib/theirs.c\n' ;;
    diff*) echo lib/ours.c ;;
    esac"
touch "$tree/lib/theirs.c"
stub clang-format-14 'echo "did: clang-format-14 $*"; exit 1'
printf '#!/bin/sh\n' >"$tree/build/plain/test/test_sim_search"
chmod +x "$tree/build/plain/test/test_sim_search"
says 1 check
has 'did: clang-format-14 .* lib/ours.c$' '100% tests passed' '==> FAILED: lint; '
hasnt 'theirs.c'
stub clang-format-14 'echo "did: clang-format-14 $*"'
says 0 check
has 'begins: a short search' '==> all passed'
hasnt 'proof:\|claims:'
sed -i -e "s/ls-files\*lease\* . //" -e s,lib/ours,lib/session/lease, "$tmp/bin/git"
mkdir "$tree/lib/session"
touch "$tree/lib/session/lease.c"
says 0 check
has 'proof: did: python3 test/proof/lease.py --quick'
hasnt 'claims:'
sed -i "s/ls-files\*claim_\* . //" "$tmp/bin/git"
says 0 check
has 'claims: did: proof_claims --quick'

# ---- proof ----------------------------------------------------------------------------

machine 0 python3-z3
stub apt-cache 'printf "x:\n  Candidate: (none)\n"'
says 0 proof lease
has 'installing packages: python3-z3$' 'did: python3 test/proof/lease.py '
machine 0 frama-c-base
stub apt-cache 'printf "x:\n  Candidate: (none)\n"'
says 0 proof
has 'did: python3 test/proof/lease.py ' 'did: cmake --build build/plain .*proof_claims' 'did: proof_claims' 'not to be had: frama-c-base .* left out$'
machine 0 frama-c-base
says 0 proof code
has 'installing packages: frama-c-base$' 'did: contracts'
says 64 proof some
has 'usage: ./run proof'

[ "$failed" -eq 0 ]
