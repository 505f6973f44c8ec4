#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_run.sh ROOT: what ./run does about missing packages, with stand-ins for the package
# tools, for sudo and for who we are, in a tree of its scripts and little else, as out of a
# tarball: there is no git. Nothing is installed, nothing is built.
set -eu
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

tree=$tmp/tree
for file in run tools/packages.sh tools/files.sh tools/readme.sh tools/server.sh tools/package.sh tools/abi/abi.sh \
    tools/docs/docs.sh tools/demo/demo.sh bench/run.sh test/fuzz/fuzz.sh; do
    mkdir -p "$tree/$(dirname "$file")"
    cp "$root/$file" "$tree/$file"
done
mkdir -p "$tree/lib" "$tree/build/plain"
touch "$tree/lib/ours.c" "$tree/build/plain/made.c" "$tree/build/plain/compile_commands.json"

stub() { # NAME TEXT: a program on the machine
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}

# machine UID PACKAGE...: of the user of that number; without these packages. All that is done
# to it is written, as "did: ...", among what ./run says.
machine() {
    rm -rf "${tmp:?}/bin" "${tmp:?}/installed"
    mkdir "$tmp/bin" "$tmp/installed"
    for tool in bash cat cut dirname env find grep head mkdir paste readlink rm sed seq sh sort tail tee tr \
        uname xargs; do
        ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
    done
    stub id "echo $1"
    shift
    stub dpkg-query "for name; do :; done
        case ' $* ' in *\" \$name \"*) [ -f '$tmp/installed/'\$name ] || exit 1 ;; esac
        printf installed"
    # The real one has more to say, and dies when nobody reads on.
    stub apt-cache 'printf "x:\n  Candidate: 1.0\n"; exec seq 100000'
    stub apt-get "echo \"did: apt-get \$*\"
        for name; do case \$name in [!-]*) : >'$tmp/installed/'\$name ;; esac; done"
    stub cmake 'echo "did: cmake $*"'
    stub clang 'echo 18.1.3'
    stub sudo 'echo "did: sudo"; exec "$@"'
    for tool in clang-format-14 clang-tidy-14 pyflakes3; do
        stub "$tool" 'exit 1'
    done
}

says() { # STATUS ARGUMENT...: ./run ends like this; its words are in $tmp/out
    wanted=$1
    shift
    words="run $*"
    status=0
    env -i PATH="$tmp/bin" HOME="$tmp" "$tmp/bin/bash" "$tree/run" "$@" >"$tmp/out" 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || complain "status $status, not $wanted"
}

complain() { # WORDS
    echo "$words: $1:"
    sed 's/^/    /' "$tmp/out"
    failed=1
}

has() { # WORDS...: each on a line of its own, in this order
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

# With all there is to be had, nobody touches apt, and no sudo is needed.
machine 1000
rm "$tmp/bin/sudo"
says 0 build
hasnt 'apt-get'
hasnt 'installing'
has 'did: cmake'

# It says first what it installs; then, when not root, it does so with sudo.
machine 1000 ninja-build uthash-dev
says 0 build
has 'installing packages: ninja-build uthash-dev$' \
    'did: sudo' 'did: apt-get .*update' \
    'did: sudo' 'did: apt-get .*install .*ninja-build uthash-dev$' 'did: cmake'

# Root needs no sudo.
machine 0 cmake
says 0 build
hasnt 'sudo'
has 'installing packages: cmake$' 'did: apt-get .*update' 'did: apt-get .*install .* cmake$'

# With neither, it names the packages and ends, whatever the verb.
for verb in build demo bench check lint test fuzz package docs; do
    machine 1000 gcc uthash-dev
    rm "$tmp/bin/sudo"
    says 69 "$verb"
    has 'no sudo.* gcc .*uthash-dev'
    hasnt 'did:'
done
machine 1000 abigail-tools
rm "$tmp/bin/sudo"
says 69 abi
has 'no sudo.* abigail-tools$'
hasnt 'did:'

# A verb installs what it lacks itself, and nothing that is there or that others want. Then it comes to tools that are
# not here.
machine 0 lintian mandoc abigail-tools clang
says 127 package
has 'installing packages: lintian$'
hasnt 'mandoc\|abigail'
says 127 docs
has 'installing packages: mandoc$'
says 64 abi --what
hasnt 'installing'
says 127 abi
has 'installing packages: abigail-tools$'
says 127 abi
hasnt 'installing'
machine 1000
rm "$tmp/bin/sudo" "$tmp/bin/clang-format-14"
says 69 lint
has 'no sudo.* clang-format-14'
hasnt 'did:'

# It waits for another apt-get, and only for that.
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

# Packages that cannot be had are named.
machine 0 cmake
stub apt-get 'case "$*" in *install*) exit 100 ;; esac'
says 69 build
has 'could not install: cmake$'

# The run-time libraries of clang's sanitizers are those of the clang at hand.
machine 0 libclang-rt-18-dev
stub clang 'case "$*" in -dumpversion) echo 18.1.3 ;; *) exit 1 ;; esac'
says 64 fuzz --seconds 1 none
has 'installing packages: libclang-rt-18-dev$'

# What formats is of one version where that can be had, else of any.
machine 0 clang-format-14
rm "$tmp/bin/clang-format-14"
says 127 lint
has 'looking for clang-format-14' 'update' 'install .*clang-format-14$'
machine 0 clang-format-14 clang-format
rm "$tmp/bin/clang-format-14"
stub apt-cache 'printf "x:\n  Candidate: (none)\n"'
says 127 lint
has 'looking for clang-format-14' 'update' 'install .* clang-format$'

# Without the packages of other libraries all goes on, and the tests that were left out for that are named at
# the end.
machine 0 bsh
stub apt-cache 'printf "x:\n  Candidate: (none)\n"'
says 123 test
has 'not to be had: .* bsh' 'lint: clang-format'
hasnt 'did: apt-get .*install'
machine 0 bsh
says 123 test
has 'looking for bsh' 'installing packages: bsh$' 'did: apt-get .*install .* bsh$'
hasnt 'not to be had'

# Nor does a peer of the benchmark that cannot be had keep others from being measured.
machine 0 redis-tools python3-kazoo
stub apt-cache "case \$2 in redis-tools) set -- '(none)' ;; *) set -- 1.0 ;; esac
    printf 'x:\n  Candidate: %s\n' \"\$1\""
echo 'echo "did: bench $*"' >"$tree/bench/run.sh"
says 0 bench --quick
has 'installing packages: python3-kazoo$' 'not to be had: redis-tools libhiredis-dev' 'did: bench --quick$'
machine 0 redis-tools
says 0 bench --micro
hasnt 'redis-tools'

machine 0
for tool in clang-format-14 clang-tidy-14 shellcheck pyflakes3; do
    stub "$tool" "echo \"did: $tool \$*\""
done
stub ctest 'echo "did: ctest $*"; echo "100% tests passed"
    case "$*" in *build/plain\ *) printf "\t 92 - interop.peer (Skipped)\n\t 7 - interop.other (Skipped)\n" ;; esac'
printf '#!/bin/sh\n' >"$tree/test/fuzz/fuzz.sh"
chmod +x "$tree/test/fuzz/fuzz.sh"
says 0 test
has "==> all stages" '92 - interop.peer' 'left out: interop.other interop.peer;' '==> all passed'

# Files of the project, with git and without.
has 'did: clang-format-14 .* lib/ours.c$'
hasnt 'made.c'
stub git "case \"\$*\" in ls-files*.c*) printf 'lib/ours.c\nlib/gone.c\n' ;; esac"
says 0 lint
has 'did: clang-format-14 .* lib/ours.c$'

# Stages go on beside each other. When one fails the others come to their end, what needs it does not
# begin, and what it said is repeated.
printf '"%s/lib/ours.c"\n' "$tree" >"$tree/build/plain/compile_commands.json"
stub clang-tidy-14 'echo "ours.c: a warning"; exit 1'
says 123 test
has 'tidy: ours.c: a warning' '^==> FAILED: lint: clang-tidy' 'begins: tests, valgrind' 'begins: fuzz' \
    '^ours.c: a warning' '^==> all stages' 'tests, valgrind$' '100% tests passed' 'left out' \
    '^==> FAILED: tidy; '
: >"$tree/build/plain/compile_commands.json"
stub ctest 'case "$*" in
    *--test-dir\ build/asan*) echo "50% tests passed, 1 tests failed out of 2"; echo "  7 - unit.bad (Failed)"; exit 8 ;;
    esac
    echo "100% tests passed"'
says 8 test
has '==> FAILED: tests, address' '==> all stages' 'tests, address$' '50% tests passed' '7 - unit.bad (Failed)' \
    '==> FAILED: address; '
has 'done: fuzz'
stub ctest 'echo "did: ctest $*"; echo "100% tests passed"'

stub cmake 'case "$*" in *--build\ build/asan*) exit 3 ;; esac'
says 3 test
has 'FAILED: build with clang, address' 'begins: tests, thread' 'tests, address$' 'did not run' \
    '==> FAILED: address-build; '
hasnt 'begins: tests, address'
stub cmake 'echo "did: cmake $*"'

# Each change is checked with what it concerns; a lint that fails hides no test.
stub git "case \"\$*\" in
    ls-files\ -o*) ;;
    ls-files*) printf 'lib/ours.c\nlib/theirs.c\n' ;;
    diff*) echo lib/ours.c ;;
    esac"
touch "$tree/lib/theirs.c"
stub clang-format-14 'echo "did: clang-format-14 $*"; exit 1'
mkdir -p "$tree/build/plain/test"
for program in test_engine_search test_sim_search; do
    printf '#!/bin/sh\n' >"$tree/build/plain/test/$program"
    chmod +x "$tree/build/plain/test/$program"
done
says 123 check
has 'did: clang-format-14 .* lib/ours.c$' '100% tests passed' '==> FAILED: lint; '
hasnt 'theirs.c'
stub clang-format-14 'echo "did: clang-format-14 $*"'
says 0 check
has 'begins: a short search' '==> all passed'
rm "$tmp/bin/git"

# With -R no more is built and run than it takes, and what matches nothing is an error.
stub ctest 'echo "did: ctest $*"; case "$*" in
    *asan*-N* | *tsan*-N*) ;;
    *-N*-L\ unit*) ;;
    *-N*) printf "  Test  #1: unit.path\n  Test #2: chaos.short\n" ;;
    *) echo "100% tests passed" ;;
    esac'
says 0 test -R some
has 'did: cmake --build build/plain .*--target chaos test_unit_path$' 'did: ctest .*-R some' \
    'tests, gcc' '==> all passed'
hasnt 'clang-tidy'
hasnt 'did: cmake --build build/[at]san'
stub ctest 'echo "did: ctest $*"'
says 66 test -R none
has 'no test is called like none'

# On another system it takes what it needs for granted.
machine 1000
rm "$tmp/bin/dpkg-query" "$tmp/bin/apt-get" "$tmp/bin/apt-cache" "$tmp/bin/sudo"
says 0 build
has 'not a Debian system' 'did: cmake'

[ "$failed" -eq 0 ]
