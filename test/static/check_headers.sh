#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_headers.sh ROOT LANGUAGE STANDARD COMPILER [ARG...]: checks that each public header compiles alone, and twice in
# a row. All headers except guard.h must also compile on a machine without zookeeper.h. Headers named .hpp are for C++.
set -eu
root=$1 language=$2 standard=$3
shift 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# These precede the real headers, except for guard.h.
mkdir -p "$tmp/without/zookeeper" "$tmp/with"
for name in zookeeper.h zookeeper.jute.h proto.h recordio.h zookeeper_version.h; do
    echo '#error "this machine has no zookeeper.h"' >"$tmp/without/zookeeper/$name"
done

failed=0 count=0
for header in "$root"/include/zkr/*.h "$root"/include/zkr/*.hpp; do
    case $language:$header in c:*.hpp) continue ;; esac
    name=zkr/${header##*/} first=without
    [ "$name" != zkr/guard.h ] || first=with
    printf '#include <%s>\n#include <%s>\ntypedef int end;\n' "$name" "$name" |
        "$@" -x "$language" "-std=$standard" -fsyntax-only -I "$tmp/$first" -I "$root/include" \
            -Wall -Wextra -Wpedantic -Wundef -Wshadow -Werror - || {
        echo "$name: does not compile alone as $standard"
        failed=1
    }
    count=$((count + 1))
done
echo "$count headers as $standard"
exit "$failed"
