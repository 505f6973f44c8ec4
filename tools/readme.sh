# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Scripts that run in the root of the tree and execute code of README.md source this file.

# readme_block SECTION N: prints the Nth block of code in the section with that heading.
readme_block() {
    local block
    block=$(awk -v section="## $1" -v wanted="$2" '
        /^## / { here = $0 == section; n = 0 }
        here && /^```/ { inside = !inside; n += inside; next }
        here && inside && n == wanted' README.md)
    [ -n "$block" ] || die 65 "README.md: no block $2 of code below '$1'"
    printf '%s\n' "$block"
}

# with_server SERVERS: copies standard input, and replaces the address in README.md with SERVERS.
with_server() {
    sed "s/127\.0\.0\.1:2181/$1/g"
}
