#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# transcript.sh [--accept] FOLDERS FILE.t: runs it by cram, on the server in $ZKR_SERVERS, with zkr and zk from these folders, of
# which a colon is in between. What differs is printed as a diff. --accept: what came is expected from now on; read it.
set -euo pipefail

accept=no
if [ "${1:-}" = --accept ]; then
    accept=yes
    shift
fi
export PATH=$1:$PATH
file=$(readlink -f "$2")
ZKT_SOURCES=$(readlink -f "$(dirname "$file")/../..") # of zkr
export ZKT_SOURCES
work=$(mktemp -d "${TMPDIR:-/tmp}/zkt-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Debian's name, and that of others.
cram=$(command -v cram3 || command -v cram) || {
    echo 'transcript.sh: there is no cram (Debian: python3-cram)' >&2
    exit 69
}

# cram leaves what came beside the transcript.
cp "$file" "$(dirname "$file")/setup.sh" "$work"
cd "$work"
status=0
"$cram" --shell=/bin/bash "$(basename "$file")" || status=$?
if [ "$accept" = yes ] && [ -f "$(basename "$file").err" ]; then
    cp "$(basename "$file").err" "$file"
fi
exit "$status"
