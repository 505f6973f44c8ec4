#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cluster.sh up|down|status|test|part: runs three ZooKeeper servers in Docker, for tests. In Docker, it touches only its
# own project, $ZKR_CLUSTER, and its images. ./run describes the verbs, except part, which is for ./run ci.
set -euo pipefail
export LC_ALL=C

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/bare.sh
. tools/bare.sh

# Each clone has its own cluster, named after its directory and a number derived from its path.
own_name() {
    local name sum
    name=$(basename "$root" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9\n' - | cut -c 1-20)
    sum=$(printf %s "$root" | cksum | cut -d ' ' -f 1)
    printf 'zkr-%s-%04x' "$name" "$((sum % 65536))"
}

free_ports() { # FIRST: prints the first of three consecutive ports, from FIRST on, that nobody listens on
    local first
    for ((first = $1; first < $1 + 300; first += 3)); do
        (for each in 0 1 2; do ! : 2>/dev/null <"/dev/tcp/127.0.0.1/$((first + each))" || exit 1; done) && break
    done
    printf %s "$first"
}

project=${ZKR_CLUSTER:-$(own_name)}
port=${ZKR_CLUSTER_PORT:-21811}
if [ "${1:-}" = part ]; then # runs beside the cluster of ./run cluster up
    project+=-part
    port=$(free_ports 22811)
fi
members=(1 2 3)
[[ $project =~ ^[a-z0-9][a-z0-9_-]*$ ]] ||
    die 64 "\$ZKR_CLUSTER wants small letters, digits, - and _, not '$project'"
if ! [[ $port =~ ^[1-9][0-9]{3,4}$ ]] || [ "$port" -lt 1024 ] || [ "$port" -gt 65533 ]; then
    die 64 "\$ZKR_CLUSTER_PORT wants the first of three ports, 1024 to 65533, not '$port'"
fi
servers=127.0.0.1:$port,127.0.0.1:$((port + 1)),127.0.0.1:$((port + 2))
export ZKR_CLUSTER=$project # for compose.yaml and the tests
export ZKR_CLUSTER_PORT1=$port ZKR_CLUSTER_PORT2=$((port + 1)) ZKR_CLUSTER_PORT3=$((port + 2))
image=localhost/zkrecipes-zookeeper

container() { # MEMBER
    printf '%s-zk%s' "$project" "$1"
}

# ---- the engine ---------------------------------------------------------------------

said_by_engine=
engine_answers() {
    said_by_engine=$(timeout 20 docker version --format '{{.Server.Version}}' 2>&1)
}

need_engine() {
    command -v docker >/dev/null ||
        die 69 'no Docker on this machine: install docker.io, or an engine of your choice'
    engine_answers && return
    case $said_by_engine in
    *'permission denied'*)
        die 69 'no permission to use Docker: be root, or a member of the group docker'
        ;;
    *)
        die 69 "no Docker engine answers: start it, or see to \$DOCKER_HOST"
        ;;
    esac
}

compose=()
find_compose() {
    if docker compose version >/dev/null 2>&1; then
        compose=(docker compose)
    elif docker-compose version >/dev/null 2>&1; then
        compose=(docker-compose)
    else
        return 1
    fi
    compose+=(-p "$project" -f docker/compose.yaml)
}

need_compose() {
    local package
    find_compose && return
    for package in docker-compose-plugin docker-compose-v2 docker-compose; do
        ! offered "$package" || break
    done
    die 69 "no docker compose: install the package $package"
}

# Prints the names and states of our containers, one per line.
ours() { # [FILTER...]
    docker ps -a --filter "label=com.docker.compose.project=$project" "$@" \
        --format '{{.Names}} {{.State}}'
}

# Compose neither stops nor starts a container that is paused.
unpause() {
    local name
    ours --filter status=paused | while read -r name _; do
        docker unpause "$name" >/dev/null
    done
}

# ---- images -------------------------------------------------------------------------

have_image() {
    docker image inspect "$1" >/dev/null 2>&1
}

# Pulls an image from a registry, within a limited time.
may_pull=yes
pull() {
    [ "$may_pull" = yes ] && timeout 120 docker pull "$1" >/dev/null 2>&1
}

tmp=
remove_tmp() {
    [ -n "$tmp" ] || return 0
    remove_root "$tmp/root"
    rm -rf "$tmp"
    tmp=
}

down_at_end=no
at_end() {
    local status=$?
    trap '' HUP INT TERM
    remove_tmp
    [ "$down_at_end" = no ] || (down_verb) || status=70
    exit "$status"
}
trap at_end EXIT
# Bash runs these traps when the current command has ended. That command may have containers on the network that is
# removed at the end.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# base_from_packages TAG SUITE: makes a base image that has the server's packages, from the archive that apt uses,
# without the files that a server does not read.
base_from_packages() {
    local tag=$1 suite=$2
    tmp=$(mktemp -d)
    bare_root "$tmp/root" "$suite" "$tmp/log" default-jre-headless,libzookeeper-java
    as_root find "$tmp/root/usr/share/doc" ! -name copyright ! -type d -delete
    as_root tar -C "$tmp/root" -c --numeric-owner --one-file-system \
        --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' \
        --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
        --exclude='./var/log/*' --exclude='./usr/share/man/*' \
        --exclude='./usr/share/locale/*' --exclude='./usr/share/info/*' \
        --exclude='./usr/share/maven-repo' . |
        docker import - "$tag" >/dev/null || die 70 "docker could not import $tag"
    remove_tmp
}

build_image() { # BASE
    timeout 600 docker build -t "$image" --build-arg "BASE=$1" docker 2>&1
}

need_image() {
    local suite base default said
    if [ -n "${ZOOKEEPER_IMAGE:-}" ]; then
        have_image "$ZOOKEEPER_IMAGE" && return
        say "==> pulling $ZOOKEEPER_IMAGE"
        pull "$ZOOKEEPER_IMAGE" || die 69 "cannot pull $ZOOKEEPER_IMAGE"
        return
    fi
    suite=$(. /etc/os-release && printf %s "${VERSION_CODENAME:-bookworm}")
    base=localhost/zkrecipes-base:$suite
    default=$(sed -n 's/^ARG BASE=//p' docker/Dockerfile)
    if ! have_image "$base"; then
        if have_image "$default" || pull "$default"; then
            say "==> building $image on $default"
            said=$(build_image "$default") && return
            say '==> its packages cannot be had from within a container'
        else
            [ "$may_pull" = no ] || say "==> no registry in reach"
        fi
        say "==> making $base from packages of this distribution; takes a minute or two"
        base_from_packages "$base" "$suite"
    fi
    said=$(build_image "$base") ||
        die 70 "docker could not build $image: $(printf '%s\n' "$said" | tail -n 1)"
}

# ---- the servers --------------------------------------------------------------------

# Prints the mode that the server reports, leader or follower, or nothing if it does not serve.
mode() { # MEMBER
    # shellcheck disable=SC2016 # for the inner shell
    timeout 2 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf srvr >&3 && cat <&3' \
        mode "$((port + $1 - 1))" 2>/dev/null | sed -n 's/^Mode: //p' || true
}

modes=()
leaders=0
followers=0
survey() { # asks only our own servers, because the cluster of another clone may use the ports
    local member running
    leaders=0
    followers=0
    running=$(ours --filter status=running)
    for member in "${members[@]}"; do
        modes[member]=
        [[ $running != *"$(container "$member") "* ]] || modes[member]=$(mode "$member")
        case ${modes[member]} in
        leader) leaders=$((leaders + 1)) ;;
        follower) followers=$((followers + 1)) ;;
        esac
    done
}

quorum() {
    survey
    [ "$leaders" -eq 1 ] && [ "$followers" -ge 1 ]
}

complete() {
    survey
    [ "$leaders" -eq 1 ] && [ "$followers" -eq 2 ]
}

# await SECONDS TEST...: waits until the test succeeds. Returns false if it does not succeed in time.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

# ---- verbs --------------------------------------------------------------------------

up() {
    local said
    need_compose
    need_image
    unpause
    said=$("${compose[@]}" up -d --no-build 2>&1) ||
        die 70 "the servers cannot be started: $(printf '%s\n' "$said" |
            grep -iE 'cannot|denied|in use|already|conflict|invalid|error' | head -n 1)
run: if another cluster has these ports, set \$ZKR_CLUSTER_PORT to the first of three others"
    if ! await 90 complete; then
        quorum || die 70 "no quorum after 90 s; docker logs $(container 1) may say why"
        say 'run: there is a quorum, but one server does not serve'
    fi
}

up_verb() {
    up
    status
    printf '\n%s\n' "export ZKR_SERVERS=$servers"
}

# announce KIND FORMAT [OPTION...]: lists the objects of the project that are about to be removed.
announce() {
    local there
    there=$(docker "$1" ls --filter "label=com.docker.compose.project=$project" \
        --format "$2" "${@:3}" | sort | paste -sd ' ')
    say "removing ${1}s: ${there:-none is there}"
}

down_verb() {
    local said
    need_compose
    unpause
    announce container '{{.Names}}' -a
    announce network '{{.Name}}'
    announce volume '{{.Name}}'
    said=$("${compose[@]}" down -v --remove-orphans 2>&1) ||
        die 70 "not all could be removed: $(printf '%s\n' "$said" | tail -n 1)"
}

# Prints one line for each server. Returns false if there is no quorum.
status() {
    local member name state health
    survey
    for member in "${members[@]}"; do
        name=$(container "$member")
        read -r state health < <(docker inspect --type container --format \
            '{{.State.Status}} {{if .State.Running}}{{.State.Health.Status}}{{end}}' \
            "$name" 2>/dev/null || echo absent)
        printf '%-*s 127.0.0.1:%s  %-9s %-9s %s\n' "$((${#project} + 5))" \
            "$name" "$((port + member - 1))" "${modes[member]:-down}" "${state:-absent}" "${health:--}"
    done
    [ "$leaders" -eq 1 ] && [ "$followers" -ge 1 ]
}

status_verb() {
    status || die 1 'no quorum'
}

on_cluster() { # BUILD_DIR [ARGUMENT...]
    ZKT_CASE_SECONDS=180 ctest --test-dir "$1" -C cluster -j 8 --timeout 240 --output-on-failure \
        --no-tests=error "${@:2}" </dev/null
}

# Runs the containers of examples/kubernetes beside the servers.
pods() { # BUILD_DIR
    say '==> examples/kubernetes, its containers run by Docker'
    timeout --foreground 600 bash test/kubernetes/run.sh "$root" "$1" "${project}_ensemble"
}

# Runs the tests whose results may depend on an ensemble. First all recipes run on it at the same time, because they mostly wait.
# Then the tests of test/cluster run, which kill and pause its servers, and then the pods. Left out are tests that start
# their own servers, and tests of misuse and memory, whose results do not depend on the servers. Of the search for
# faults, only the tests cluster.cuts and similar ones run.
tests() { # BUILD_DIR
    local failed=0
    on_cluster "$1" -L 'recipes|ensemble' -LE slow -E '_(misuse|memory)$|\.(mutex_loss|holds_faults)$' || failed=1
    on_cluster "$1" -R '^cluster\.docker$' || failed=1
    pods "$1" || failed=1
    return "$failed"
}

# Tests three recipes, the death of the leader, and the pods, within a minute. A cluster started by ./run cluster up may
# run at the same time.
some_tests() { # BUILD_DIR
    local failed=0
    on_cluster "$1" -R '^recipes\.(mutex|semaphore|leader_latch)$' || failed=1
    on_cluster "$1" -R '^cluster\.death$' || failed=1
    pods "$1" || failed=1
    return "$failed"
}

# Shows a lock, its holder and its release as a user sees them.
zkr_by_hand() { # ZKR
    local path=/zkrecipes-cluster/by-hand
    say "==> zkr on $ZKR_SERVERS"
    # shellcheck disable=SC2016 # for the shell of the command
    "$1" lock -w 10 "$path" -c \
        "echo \"fencing token \$ZKR_FENCING_TOKEN\"; $1 status $path" </dev/null &&
        "$1" lock -n "$path" true </dev/null
}

test_verb() { # BUILD_DIR [WHICH]
    local failed=0
    need_compose
    [ -n "$(ours)" ] || down_at_end=yes
    up
    status
    export ZKR_SERVERS=$servers
    zkr_by_hand "$1/tools/zkr" || failed=1
    "${2:-tests}" "$1" || failed=1
    if ! await 60 complete; then
        say 'run: the tests have left one of the servers down'
        failed=1
        up
    fi
    status || failed=1
    return "$failed"
}

# Runs some tests if there is a Docker engine. Needs no registry.
part_verb() { # BUILD_DIR
    local package
    if ! command -v docker >/dev/null || ! engine_answers; then
        say '==> no Docker engine answers: no test runs on a cluster'
        return
    fi
    for package in docker-compose-v2 docker-compose; do
        find_compose || want "$package" || true
    done
    may_pull=no down_at_end=yes
    test_verb "$1" some_tests
}

usage='usage: ./run cluster up|down|status|test'
verb=${1:-}
case $verb:$# in
engine:1) # tests, for ./run, whether there can be a cluster
    need_engine
    need_compose
    ;;
part:2) part_verb "$2" ;;
up:1 | down:1 | status:1 | test:2)
    need_engine
    "${verb}_verb" "${@:2}"
    ;;
*) die 64 "$usage" ;;
esac
