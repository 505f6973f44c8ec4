#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fresh.sh [--release forky|trixie|bookworm] [--chroot] [demo|test|interop|ci|bench|install|package]: runs a command on
# a bare Debian, bookworm by default. The commands are the demo or the test of the README, or both; the tests with other
# libraries; every check; the short benchmark; the installation of the README; or the build of the packages in one bare
# root and their test in the next. Each bare Debian contains only the tree and the packages that the command installs
# from the distribution. It is a container if a Docker engine answers, otherwise a chroot. A test that is skipped
# because a package is missing is a failure. The logs of a failed command stay in build/fresh. The script removes
# everything else, however it ends.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh
# shellcheck source=tools/bare.sh
. tools/bare.sh

suite=bookworm
logs=build/fresh
# Removed at the end. The root is $tmp/root, and the tree is below it in /zkrecipes.
tmp=
engine=chroot # may be docker
image=        # the Docker image of the root
container=zkrecipes-fresh-$$
failed=0

# ---- the end ------------------------------------------------------------------------

job=
signal_job() { # SIGNAL: returns false if there is no such process
    # shellcheck disable=SC2016 # for the inner shell, which has kill built in; sudo may find no kill program
    as_root sh -c 'kill -s "$1" -- "-$2" 2>/dev/null' sh "$1" "$job"
}

stop_job() {
    local i
    [ -n "$job" ] || return 0
    # unshare ignores INT and TERM. A process that was started with HUP ignored gets KILL.
    signal_job HUP || true
    for ((i = 0; i < 50; i++)); do
        signal_job 0 || break
        sleep 0.1
    done
    signal_job KILL || true
    job=
}

remove_all() {
    remove_root "$tmp/root" && as_root rm -rf --one-file-system "$tmp"
}

at_end() {
    local status=$? tries=20
    trap '' HUP INT TERM
    stop_job
    [ "$engine" = chroot ] || docker rm -f -v "$container" >/dev/null 2>&1 || true
    # Processes in the root may exist for a moment longer, so this is repeated.
    until [ -z "$tmp" ] || remove_all 2>/dev/null; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || die 70 "cannot remove $tmp"
        sleep 0.5
    done
    [ -z "$image" ] || docker rmi -f "$image" >/dev/null 2>&1 || true
    exit "$status"
}
trap at_end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# supervised COMMAND...: runs a command in its own process group, so that this script can handle signals meanwhile.
supervised() {
    local status=0
    as_root sh -c : # sudo may ask for a password while there is a terminal
    set -m
    "$@" </dev/null &
    job=$!
    set +m
    wait "$job" || status=$?
    job=
    return "$status"
}

# ---- the bare root ------------------------------------------------------------------

into_root() { # FILE: writes standard input to a file of the root
    as_root tee "$tmp/root/$1" >/dev/null
}

# Apt in the root uses the archive in the same way as apt on this machine, and does not wait for the disk.
share_archive() {
    local name lines
    lines=$(for name in "$suite" "$suite-updates" "$suite-security"; do
        archive "$name" | sed -n "s/^\(http[^ ]*\) \(.*\)/deb \1 $name \2/p"
    done)
    # If there is no line, the list that debootstrap has written stays.
    [ -z "$lines" ] || printf '%s\n' "$lines" | into_root etc/apt/sources.list
    for name in auth.conf auth.conf.d keyrings trusted.gpg trusted.gpg.d; do
        [ ! -e "/etc/apt/$name" ] || as_root cp -a "/etc/apt/$name" "$tmp/root/etc/apt/"
    done
    {
        apt-config dump 2>/dev/null | grep -E '^Acquire::(https?|Check-[A-Za-z-]*)[: ]' |
            grep -v Auto-Detect || true
        if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
            as_root cp /etc/ssl/certs/ca-certificates.crt "$tmp/root/etc/apt/authorities.crt"
            echo 'Acquire::https::CAInfo "/etc/apt/authorities.crt";'
        fi
    } | into_root etc/apt/apt.conf.d/99as-outside
    echo force-unsafe-io | into_root etc/dpkg/dpkg.cfg.d/nobody-keeps-this
    # debootstrap has already copied resolv.conf.
    as_root cp /etc/hosts "$tmp/root/etc/hosts"
}

copy_tree() {
    as_root mkdir "$tmp/root/zkrecipes"
    files '*' | tar -c --verbatim-files-from -T - |
        as_root tar -x --no-same-owner -C "$tmp/root/zkrecipes"
}

make_root() {
    bare_root "$tmp/root" "$suite" "$logs/debootstrap.log"
    share_archive
    copy_tree
}

import_root() {
    as_root tar -C "$tmp/root" -c --numeric-owner --one-file-system \
        --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' . |
        docker import - "$image" >/dev/null
}

# ---- inside the root ----------------------------------------------------------------

# The environment of a login on a new system, plus the proxy settings that give access to the package archive.
environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done

# In a container:
#   sig-proxy     this script handles the signals
#   init          process 1 reaps orphans, as on any system
#   network host  the container reaches the archive or a proxy like the host; all other traffic is loopback
#   volume        much is written to these directories, and layers of an image are slow
#   seccomp       the default profile forbids the system call (personality) by which the
#                 thread sanitizer gets the memory layout that it needs
in_docker() { # COMMAND...
    docker run --name "$container" --sig-proxy=false --init --network host \
        --volume /zkrecipes --volume /tmp --security-opt seccomp=unconfined \
        "$image" env -i "${environment[@]}" "$@"
}

# Runs a command in a copy of the root, in its own namespaces for processes and mounts. The namespaces end with the
# first process.
in_chroot() { # COMMAND...
    # shellcheck disable=SC2016 # for the inner shell
    as_root cp -a "$tmp/root" "$tmp/copy" &&
        as_root unshare --mount --pid --fork --kill-child sh -c '
        root=$1 && shift &&
            mount -t proc proc "$root/proc" &&
            mount -t sysfs -o ro sysfs "$root/sys" &&
            mount -t devpts devpts "$root/dev/pts" &&
            mount -t tmpfs tmpfs "$root/dev/shm" || exit 70
        status=0
        chroot "$root" env -i "$@" || status=$?
        exit "$status"' in_chroot "$tmp/copy" "${environment[@]}" "$@"
}

in_root() { # LOG COMMAND...
    local log=$1
    shift
    "in_$engine" "$@" 2>&1 | tee "$log"
}

# Writes the logs of the build, of ctest and of ./run to standard output as a tar archive.
logs_inside() {
    if [ "$engine" = docker ]; then
        docker cp "$container:/zkrecipes/build" -
    else
        as_root tar -c -C "$tmp/copy/zkrecipes" build
    fi
}

keep_logs() { # NAME
    logs_inside 2>/dev/null | tar -x -C "$logs/$1" --strip-components=1 --wildcards \
        'build/log/*' 'build/*/Testing/Temporary/*' 2>/dev/null || true
    say "==> logs are in $logs/$1"
}

leave_root() {
    if [ "$engine" = docker ]; then
        docker rm -f -v "$container" >/dev/null 2>&1 || true
    else
        as_root rm -rf --one-file-system "$tmp/copy"
    fi
}

# on_bare_root NAME COMMAND...: runs a command in a new bare root.
on_bare_root() {
    local name=$1 log="$logs/$1/output" start=$SECONDS status=0
    shift
    rm -rf "${logs:?}/$name"
    mkdir -p "$logs/$name"
    printf '\n==> %s on a bare Debian %s, %s\n' "$*" "$suite" "$engine"
    # shellcheck disable=SC2016 # for the shell inside
    supervised in_root "$log" sh -c 'cd /zkrecipes && exec "$@"' sh "$@" || status=$?
    if [ "$status" -eq 0 ] && grep -E '^==> left out: | \(Skipped\)$' "$log"; then
        say "==> on Debian nothing may be left out"
        status=1
    fi
    if [ "$status" -eq 0 ]; then
        summary+=("ran to its end, $suite, $((SECONDS - start)) s: $*")
        rm -rf "${logs:?}/$name"
        [ "$name" != package ] || keep_packages
    else
        summary+=("FAILED, $suite, status $status, after $((SECONDS - start)) s: $*")
        failed=1
        keep_logs "$name"
    fi
    leave_root
    return "$status"
}

# Keeps the packages that were built inside for the next root.
keep_packages() {
    as_root mkdir -p "$tmp/root/zkrecipes/build/package"
    logs_inside | as_root tar -x -C "$tmp/root/zkrecipes" --no-same-owner --wildcards 'build/package/*.deb'
    if [ "$engine" = docker ]; then
        docker rmi -f "$image" >/dev/null
        supervised import_root || die 70 "docker could not import $image"
    fi
}

# in_turn VERB: runs the commands of a verb, each on its own bare root.
in_turn() {
    case $1 in
    install) on_bare_root install bash test/install/readme.sh --here ;;
    interop) on_bare_root interop ./run test -R '^interop\.' ;;
    bench) on_bare_root bench ./run bench --quick ;;
    package) on_bare_root package ./run package && on_bare_root try ./run package try ;;
    *) on_bare_root "$1" ./run "$1" ;;
    esac
}

# ---- the verb -----------------------------------------------------------------------

engine_answers() {
    command -v docker >/dev/null && timeout 20 docker version >/dev/null 2>&1
}

usage='usage: ./run fresh [--release forky|trixie|bookworm] [--chroot] [demo|test|interop|ci|bench|install|package]'
summary=()

# The shell reads a function before running it, so the tree may change meanwhile.
main() {
    local chroot=no verbs verb
    while [[ ${1:-} == --* ]]; do
        case $1:${2:-} in
        --chroot:*) chroot=yes ;;
        --release:forky | --release:trixie | --release:bookworm)
            suite=$2
            shift
            ;;
        *) die 64 "$usage" ;;
        esac
        shift
    done
    case $* in
    '') verbs=(demo test) ;;
    demo | test | interop | ci | bench | install | package) verbs=("$1") ;;
    *) die 64 "$usage" ;;
    esac
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die 69 'a bare root is made by root: not root and no sudo'
    fi

    # Without the keyring, debootstrap would not check signatures.
    need debootstrap debian-archive-keyring
    [ "$chroot" = yes ] || ! engine_answers || engine=docker
    mkdir -p "$logs"
    tmp=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
    say "==> making a bare root of Debian $suite; takes a minute; its log: $logs/debootstrap.log"
    supervised make_root
    rm -f "$logs/debootstrap.log"
    if [ "$engine" = docker ]; then
        image=localhost/$container
        supervised import_root || die 70 "docker could not import $image"
    fi

    for verb in "${verbs[@]}"; do
        in_turn "$verb" || true
    done
    printf '\n==> on a bare Debian %s, %s\n' "$suite" "$engine"
    printf '    %s\n' "${summary[@]}"
    [ "$failed" -eq 0 ] || die 1 'on a bare Debian not all ran to its end'
}

main "$@"
