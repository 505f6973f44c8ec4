#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_headers.sh ROOT LANGUAGE STANDARD COMPILER [ARG...]: each public header compiles
# alone, and twice in a row.
set -eu
root=$1 language=$2 standard=$3
shift 3

failed=0 count=0
for header in "$root"/include/zkr/*.h; do
    name=zkr/${header##*/}
    printf '#include <%s>\n#include <%s>\ntypedef int end;\n' "$name" "$name" |
        "$@" -x "$language" "-std=$standard" -fsyntax-only -I "$root/include" \
            -Wall -Wextra -Wpedantic -Wundef -Wshadow -Werror - || {
        echo "$name: does not compile alone as $standard"
        failed=1
    }
    count=$((count + 1))
done
echo "$count headers as $standard"
exit "$failed"
