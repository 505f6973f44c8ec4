#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_release.sh ROOT: checks that the version and the date of the last release are the same in all places. A version
# in development has no date yet.
set -eu
cd "$1"
failed=0

version=$(awk '/^#define ZKR_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' include/zkr/version.h)
day=$(sed -n 's/^set(ZKR_DATE \(.*\))$/\1/p' CMakeLists.txt)

same() { # WHERE SAID WANTED
    [ "$2" = "$3" ] || { echo "$1: '$2', not '$3'"; failed=1; }
}

heading=$(sed -n '/^## /{s/^## //p;q}' CHANGELOG.md)
case $heading in
*unreleased*) same CHANGELOG.md "$heading" "$version (unreleased)" ;;
*) same CHANGELOG.md "$heading" "$version ($day)" ;;
esac
same tools/ports/vcpkg "$(sed -n 's/^  "version": "\(.*\)",$/\1/p' tools/ports/vcpkg/zkrecipes/vcpkg.json)" "$version"
same debian/changelog "$(sed -n '1s/^zkrecipes (\(.*\)) .*/\1/p' debian/changelog)" "$version"
same debian/changelog "$(sed -n '/^ -- /{s/.*>  //p;q}' debian/changelog)" \
    "$(LC_ALL=C date -u -d "$day" '+%a, %d %b %Y %H:%M:%S +0000')"
exit "$failed"
