#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_blocking.sh ROOT: a function whose header says "Blocks: yes" is called in test/engine/test_callbacks.c, which
# shows that callbacks cannot call it. Those of testing.h and test_*.h are no part of the library.
set -eu

calls=$1/test/engine/test_callbacks.c
failed=0
headers=$(find "$1/include/zkr" -name '*.h' ! -name 'test*.h')
# shellcheck disable=SC2086 # a list of files
blocking=$(awk '
/\/\*\*/ { blocks = 0 }
/Blocks: *yes/ { blocks = 1 }
blocks && /^ZKR_API/ { declares = 1 }
declares && match($0, /zkr_[a-z_]+\(/) {
    print substr($0, RSTART, RLENGTH - 1)
    blocks = declares = 0
}' $headers)
[ -n "$blocking" ] || failed=1
for name in $blocking; do
    grep -qw "$name" "$calls" || {
        echo "$name() blocks, and is not in $calls"
        failed=1
    }
done
exit $failed
