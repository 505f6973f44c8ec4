#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# transcript.sh [--accept] FOLDERS FILE.t: runs the transcript with cram on the server in $ZKR_SERVERS. FOLDERS are the
# folders of zkr and zk, separated by a colon. Differences are printed as a diff. --accept stores the actual output as
# the expected output, which you should then read.
set -euo pipefail

accept=no
if [ "${1:-}" = --accept ]; then
    accept=yes
    shift
fi
export PATH=$1:$PATH
file=$(readlink -f "$2")
ZKT_SOURCES=$(readlink -f "$(dirname "$file")/../..") # the sources of zkr
export ZKT_SOURCES
work=$(mktemp -d "${TMPDIR:-/tmp}/zkt-cli.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Debian calls it cram3.
cram=$(command -v cram3 || command -v cram) || {
    echo 'transcript.sh: there is no cram (Debian: python3-cram)' >&2
    exit 69
}

# cram writes the actual output beside the transcript, so it gets a copy.
cp "$file" "$(dirname "$file")/setup.sh" "$work"
cd "$work"
status=0
"$cram" --shell=/bin/bash "$(basename "$file")" || status=$?
if [ "$accept" = yes ] && [ -f "$(basename "$file").err" ]; then
    cp "$(basename "$file").err" "$file"
fi
exit "$status"
