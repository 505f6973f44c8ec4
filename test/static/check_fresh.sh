#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_fresh.sh ROOT: tests the actions of ./run fresh outside the bare root. Stand-ins replace the programs that
# create a root, enter it, or run a container. The tree contains the scripts of ./run and little else.
set -eu
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

tree=$tmp/tree
for file in run tools/packages.sh tools/files.sh tools/bare.sh tools/fresh.sh; do
    mkdir -p "$tree/$(dirname "$file")"
    cp "$root/$file" "$tree/$file"
done
mkdir -p "$tree/lib" "$tree/.git" "$tree/build/plain" "$tree/build-other"
touch "$tree/lib/ours.c" "$tree/lib/new.c" "$tree/lib/ours.o" "$tree/.git/HEAD" \
    "$tree/build/plain/made.c" "$tree/build-other/made.c"

stub() { # NAME TEXT: creates a program on the machine
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}

# machine UID: simulates a user with that number, and a Docker engine, without git and sudo. In the root, ./run executes
# $tmp/inside.
machine() {
    rm -rf "${tmp:?}/bin"
    mkdir -p "$tmp/bin" "$tmp/room"
    for tool in bash cat cp cut dirname env find grep mkdir mktemp paste readlink rm sed sh \
        sleep sort tail tar tee timeout tr; do
        ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
    done
    stub id "echo $1"
    stub dpkg-query 'printf installed'
    stub apt-get 'case "$*" in *"Codename: bookworm") echo "Debian http://archive/ main" ;; esac'
    stub apt-config "case \$1 in
        dump) echo 'Acquire::http::Proxy \"http://proxy\";' ;;
        shell) echo \"proxy='http://proxy'\" ;;
        esac"
    stub umount 'exit 32'
    stub debootstrap "echo \"did: debootstrap \$* by \$http_proxy\" >>'$tmp/out'
        for root; do case \$root in */root) mkdir -p \"\$root\"/etc/apt/apt.conf.d \\
            \"\$root/etc/dpkg/dpkg.cfg.d\" ;; esac; done"
    enter=". '$tmp/inside'"
    stub unshare "echo \"did: unshare \$1 \$2\"
        cd '$tmp'/room/*/copy && show . && $enter"
    stub show "cd \"\$1\" && find etc/apt/sources.list zkrecipes -type f | sed 's/^/there: /'
        sed 's/^/source: /' etc/apt/sources.list
        sed 's/^/option: /' etc/apt/apt.conf.d/99as-outside"
    stub docker "echo \"did: docker \$*\" >>'$tmp/out'
        case \$1 in
        import) cat >/dev/null ;;
        run) show '$tmp'/room/*/root && $enter ;;
        cp) cd '$tmp' && mkdir -p build/log build/package && : >build/log/gcc &&
            : >build/package/made.deb && tar -c build ;;
        esac"
    echo 'exit 0' >"$tmp/inside"
}

start() { # ARGUMENT...: starts ./run in the background
    words="run $*"
    : >"$tmp/out"
    env -i PATH="$tmp/bin" HOME="$tmp" TMPDIR="$tmp/room" \
        "$tmp/bin/bash" "$tree/run" "$@" >>"$tmp/out" 2>&1 &
}

ends() { # STATUS: checks that ./run ends with this status, and leaves neither a root nor a container
    status=0
    wait $! || status=$?
    [ "$status" -eq "$1" ] || complain "status $status, not $1"
    [ -z "$(ls "$tmp/room")" ] || complain 'leaves its root'
    if grep -q 'did: docker run' "$tmp/out"; then
        has 'did: docker run' 'did: docker rm -f' 'did: docker rmi -f'
    fi
}

says() { # STATUS ARGUMENT...
    wanted=$1
    shift
    start "$@"
    ends "$wanted"
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

# Unknown arguments are refused before any action.
machine 0
for arguments in cluster 'demo test' 'test -R x' '--chroot cluster' --docker --release '--release sid test'; do
    # shellcheck disable=SC2086 # words
    says 64 fresh $arguments
    has 'usage: ./run fresh'
    hasnt 'did:'
done

# Only root can create a root.
machine 1000
says 69 fresh
has 'not root and no sudo'
hasnt 'did:'
stub sudo 'echo "did: sudo"; exec "$@"'
says 0 fresh demo
has 'did: sudo' 'did: debootstrap'

# If a Docker engine answers, each command gets its own container. Otherwise, or on request, it runs in a chroot, with
# its own mounts.
machine 0
says 0 fresh
has 'did: debootstrap .* bookworm .* http://archive/.* by http://proxy$' 'did: docker import' \
    'did: docker run .*--init.* demo$' 'did: docker rm' 'did: docker run .* test$' \
    'ran to its end.*demo$' 'ran to its end.*test$'
hasnt 'did: unshare'
machine 0
says 0 fresh --release trixie --chroot test
has 'did: debootstrap .* trixie ' 'did: unshare --mount --pid' 'ran to its end.*test$'
hasnt 'did: docker run\|demo$'
stub docker 'exit 1'
says 0 fresh demo
has 'did: unshare' 'ran to its end.*demo$'
hasnt 'test$'

# Packages are built in one root and tried in the next. The next root has the packages, but none of the build tools.
for how in '' --chroot; do
    machine 0
    [ -z "$how" ] || echo 'mkdir -p zkrecipes/build/package && : >zkrecipes/build/package/made.deb
        : >zkrecipes/tool' >"$tmp/inside"
    # shellcheck disable=SC2086 # none, or one
    says 0 fresh $how package
    has '/run package on a bare' 'there: zkrecipes/run$' 'package try on a bare' \
        'there: zkrecipes/build/package/made.deb$' 'ran to its end.*run package$' 'ran to its end.*run package try$'
    hasnt 'there: zkrecipes/tool$'
    machine 0
    echo 'exit 3' >"$tmp/inside"
    # shellcheck disable=SC2086 # none, or one
    says 1 fresh $how package
    has 'FAILED, .*status 3, .*run package$'
    hasnt 'package try'
done
machine 0
says 0 fresh --release forky interop
has 'did: debootstrap .* forky ' 'did: docker run .* test -R ' 'ran to its end, forky, '
machine 0
says 0 fresh install
has 'did: docker run .*readme.sh --here$' 'ran to its end.*readme.sh --here$'

# Apt in the root uses the same archive as apt outside.
has 'source: deb http://archive/ bookworm main$' 'option: Acquire::http::Proxy "http://proxy";'

# Without git, the tree is copied except the products of a build.
has 'there: zkrecipes/run$'
has 'there: zkrecipes/lib/new.c$'
has 'there: zkrecipes/lib/ours.o$'
hasnt 'there:.*made.c'
hasnt 'there:.*HEAD'
# With git, files that are not committed are copied, too, but no ignored or deleted files.
machine 0
stub git "case \$1 in ls-files) printf 'run\\nlib/ours.c\\nlib/new.c\\nlib/gone.c\\n' ;; esac"
says 0 fresh demo
has 'there: zkrecipes/lib/new.c$'
hasnt 'there:.*ours.o'

# The logs of a failed command are kept. The other command still runs.
for how in '' --chroot; do
    machine 0
    echo 'mkdir -p zkrecipes/build/log; : >zkrecipes/build/log/gcc; echo words; exit 3' \
        >"$tmp/inside"
    # shellcheck disable=SC2086 # none, or one
    says 1 fresh $how
    has 'words' 'logs are in build/fresh/demo' 'logs are in build/fresh/test' \
        'FAILED, .*status 3, .*demo$' 'FAILED, .*status 3, .*test$'
    grep -q words "$tree/build/fresh/demo/output" || complain 'does not keep what it said'
    [ -e "$tree/build/fresh/test/log/gcc" ] || complain 'does not keep the logs inside'
done
machine 0
says 0 fresh
[ ! -e "$tree/build/fresh/demo" ] || complain 'keeps the logs of a run that did not fail'

# A command that skips a test fails, too.
machine 0
echo 'echo " 92 - interop.peer (Skipped)"' >"$tmp/inside"
says 1 fresh test
has 'nothing may be left out' 'FAILED, .*test$'

# Without a root, nothing runs.
machine 0
stub debootstrap 'echo "E: no archive"; exit 1'
says 69 fresh
has 'E: no archive'
hasnt 'did: docker run'

await() { # COMMAND...: waits until it succeeds; returns false after half a minute
    for _ in $(seq 300); do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}

gone() {
    ! kill -0 "$(cat "$tmp/pid")" 2>/dev/null
}

# A signal ends the script and its processes at once.
for how in '' --chroot; do
    machine 0
    echo "echo \$\$ >'$tmp/pid'; echo inside; exec sleep 100" >"$tmp/inside"
    # shellcheck disable=SC2086 # none, or one
    start fresh $how demo
    await grep -q '^inside' "$tmp/out" || complain 'does not enter the root'
    kill -TERM $!
    ends 143
    await gone || complain 'leaves what it started'
    hasnt 'FAILED'
done

[ "$failed" -eq 0 ]
