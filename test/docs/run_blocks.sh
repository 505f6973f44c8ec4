#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run_blocks.sh ROOT BUILD STAGE LIBDIR CC: runs the commands in the documents, on the server in $ZKR_SERVERS. These
# are the blocks of sh in README.md and docs/, the examples of zkr(1), examples/crontab and examples/backup.service.
# Stand-ins that record their calls replace programs of other projects. STAGE has an installed library.
set -euo pipefail
root=$1 build=$2 stage=$3 libdir=$4 cc=$5

tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT
mkdir "$tmp/bin"
for program in rsync make refresh-mirror move-it flash-it run-tests report scheduler backup-all git; do
    # shellcheck disable=SC2016 # the stand-in expands these
    printf '#!/bin/sh\necho "${0##*/} ran under ${ZKR_LOCK_PATH-no lock}" >>"%s/ran"\n' "$tmp" >"$tmp/bin/$program"
    chmod +x "$tmp/bin/$program"
done
ln -s "$build/tools/zkr" "$tmp/bin/zkr"
PATH=$tmp/bin:$PATH
servers=$ZKR_SERVERS
cd "$tmp"

fail() {
    echo "$*"
    exit 1
}

# Copies standard input, and replaces the servers in the documents with the server of this test.
with_our_server() {
    sed -e "s/zk1:2181,zk2:2181,zk3:2181/$servers/g" -e "s/127\.0\.0\.1:2181/$servers/g"
}

# line TEXT: runs one command in a shell. If it needs another process to hold or to wait, starts that process first.
line() {
    local text=$1 path=${1##* } holder=
    echo "+ $text"
    case $text in
    'zkr elect --yield --to db2 '*) # needs a leader, and db2 as a waiter
        zkr elect --once -i db1 "$path" sleep 100 &
        until zkr status -q "$path"; do sleep 0.05; done
        zkr elect --once -i db2 "$path" sleep 2 &
        holder=$!
        until zkr status --json "$path" | grep -q '"waiting":1'; do sleep 0.05; done
        ;;
    'zkr elect '*) text="zkr elect --once ${text#zkr elect }" ;; # otherwise it leads until it is stopped
    'zkr revoke '*) # needs a holder
        zkr lock "${text##* }" sleep 100 &
        holder=$!
        until zkr status -q "${text##* }"; do sleep 0.05; done
        ;;
    esac
    bash -euc "$text" || fail "status $?: $text"
    [ -z "$holder" ] || wait "$holder" || true
}

# ran PROGRAM PATH: checks that since the last call only PROGRAM has run, under the lock at PATH.
ran() {
    [ "$(cat ran 2>/dev/null)" = "$1 ran under $2" ] || fail "wanted $1 under $2, but: $(cat ran 2>/dev/null)"
    rm -f ran
}

# Runs a block of a page. The first words of the block select how. A block that is unknown here is an error.
page_block() {
    local first
    first=$(head -n 1 "$1")
    case $first in
    'sudo apt-get install'*)
        # ./run fresh install runs these commands on a bare Debian. Here, only their text is checked.
        diff <(sed -n 2,3p "$1") - <<'SH' || fail 'the pages show another installation than the one that is tested'
cmake -B build && cmake --build build
sudo cmake --install build && sudo ldconfig
SH
        ;;
    'cc first.c'*)
        sed 1d "$root/examples/first.c" >first.c
        PKG_CONFIG_PATH=$stage/$libdir/pkgconfig LD_LIBRARY_PATH=$stage/$libdir \
            bash -euc "cc() { '$cc' \"\$@\"; }; $(with_our_server <"$1")" >said
        grep -q '^held by this thread' said || fail "first.c: $(cat said)"
        ;;
    'zkr -z '*)
        line "$(with_our_server <"$1")"
        ran rsync /locks/backup
        ;;
    'export ZKR_SERVERS='*)
        with_our_server <"$1" | sed -e 's/ *#.*//' | while IFS= read -r text; do line "$text"; done
        diff <(sort ran) - <<'RAN' || fail 'the block that exports ZKR_SERVERS runs other programs than it says'
flash-it ran under /boards/1
make ran under /builds
make ran under /mirror
move-it ran under /a
refresh-mirror ran under /mirror
report ran under /jobs/report
rsync ran under /locks/backup
scheduler ran under /services/scheduler
RAN
        rm ran
        ;;
    'cmake -S examples'*)
        ln -sfn "$root/examples" examples
        CMAKE_PREFIX_PATH=$stage CC=$cc bash -euc "$(cat "$1")" >said 2>&1 || fail "$(cat said)"
        LD_LIBRARY_PATH=$stage/$libdir build-examples/first "$servers" >said || fail "$(cat said)"
        ;;
    *) fail "${1##*/}: no test knows the block that begins with: $first" ;;
    esac
}

awk -v dir="$tmp" '
    /^ *```sh$/ {
        page = FILENAME
        sub(".*/", "", page)
        file = sprintf("%s/block:%s:%03d", dir, page, FNR)
        next
    }
    /^ *```$/ { file = "" }
    file { print >file }' "$root/README.md" "$root"/docs/*.md
count=0
for block in "$tmp"/block:*; do
    page_block "$block"
    count=$((count + 1))
done
[ "$count" -ge 5 ] || fail "the pages have only $count blocks of sh"

# Two processes run the command of the crontab at the same time, as on two hosts. The job runs once.
cron=$(grep -v '^#' "$root/examples/crontab" | sed -n 's/^\([0-9*]* \)\{5\}//p' | sed 's/--min-hold 60/--min-hold 2/')
line "$cron" &
line "$cron"
wait $!
ran backup-all /jobs/backup

# Runs the command of the unit and, if systemd is installed, checks the unit with it.
line "$(sed -n 's/^ExecStart=//p' "$root/examples/backup.service")"
ran backup-all /jobs/backup
if command -v systemd-analyze >/dev/null; then
    mkdir units
    sed "s,^ExecStart=zkr,ExecStart=$tmp/bin/zkr," "$root/examples/backup.service" >units/backup.service
    said=$(systemd-analyze verify --man=no "$tmp/units/backup.service" 2>&1) || true
    ! grep backup.service <<<"$said" || fail 'examples/backup.service: systemd has something to say'
fi

# Runs the examples of zkr(1) that are complete commands. The test cli.man runs the parts of scripts.
examples=$(sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$root/tools/zkr/zkr.1" |
    sed -n '/^\.nf/,/^\.fi/p' | grep '^zkr ' | sed -e 's/\\-/-/g' -e 's/-w 30 --force/-w 1 --force/')
while IFS= read -r text; do
    line "$text" </dev/null
done <<<"$examples"
for program in make rsync git scheduler run-tests; do
    grep -q "^$program ran under /" ran || fail "zkr.1: $program did not run"
done
rm ran

echo "$count blocks of README.md and docs/, $(wc -l <<<"$examples") examples of zkr(1)"
