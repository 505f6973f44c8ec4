#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# static.sh ROOT CMAKE WORK: builds zkr as a single file. It needs no other files, and resolves host names.
set -eu
root=$1 cmake=$2 work=$3
rm -rf "$work"
if ! { "$cmake" -S "$root" -B "$work" -DZKR_STATIC=ON -DZKR_BUILD_TOOLS=ON &&
    "$cmake" --build "$work" -j 2 --target zkr; } >"$work.out" 2>&1; then
    cat "$work.out"
    exit 1
fi
zkr=$work/tools/zkr
if readelf -d "$zkr" | grep NEEDED; then
    echo "it needs other files"
    exit 1
fi

# Nothing listens on this port.
status=0
said=$("$zkr" -z localhost:1 --connect-timeout 1 status /x 2>&1) || status=$?
case $status:$said in
75:*"no answer from 127.0.0.1:1"* | 75:*"no answer from [::1]:1"*) ;;
*)
    echo "status $status: $said"
    exit 1
    ;;
esac
