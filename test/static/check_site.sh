#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_site.sh ROOT BUILD: checks that the HTML manual can be generated, that tidy finds no fault in any page, that
# each internal link leads to a target, and that the index leads to every page.
set -eu
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

bash tools/docs/docs.sh "$2" "$tmp/site" >/dev/null
cd "$tmp/site"
for page in *.html; do
    tidy -e -q "$page" >"$tmp/said" 2>&1 || {
        sed "s,^,$page: ," "$tmp/said"
        failed=1
    }
    grep -oE 'href="[^"]*"' "$page" | cut -d '"' -f 2 | grep -vE '^[a-z]+:' | sort -u >"$tmp/links" || true
    while IFS= read -r link; do
        file=${link%%#*}
        file=${file:-$page}
        anchor=
        case $link in *'#'*) anchor=${link#*#} ;; esac
        if [ ! -f "$file" ] || { [ -n "$anchor" ] && ! grep -qF "id=\"$anchor\"" "$file"; }; then
            echo "$page: $link leads nowhere"
            failed=1
        fi
    done <"$tmp/links"
    [ "$page" = index.html ] || grep -qF "href=\"$page\"" index.html || {
        echo "index.html: does not name $page"
        failed=1
    }
done
pages=$(find . -name '*.html' | wc -l)
[ "$pages" -gt 15 ] || failed=1
echo "$pages pages"
exit "$failed"
