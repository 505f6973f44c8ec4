#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh BUILD OUT: the manual as HTML in OUT, from the pages that a build has made. See ./run.
set -euo pipefail

build=$1 out=$2
rm -rf "$out"
mkdir -p "$out"
pages=("$build"/tools/docs/zkrecipes.7 "$build"/tools/zkr.1)
[ -f "$build/tools/zkr.1" ] || pages[1]=tools/zkr/zkr.1
mapfile -t -O 2 pages < <(grep -L '^\.so ' "$build"/tools/docs/man3/*.3)

# page FILE: without the pages that only show another.
page() {
    mandoc -Thtml -O "style=style.css,man=%N.%S.html" "$1" >"$out/$(basename "$1").html"
}

for file in "${pages[@]}"; do
    page "$file"
done
# Links to a function lead to the page of its header.
grep -l '^\.so ' "$build"/tools/docs/man3/*.3 | while IFS= read -r file; do
    name=$(basename "$file" .3)
    target=$(sed -n 's,^\.so man3/,,p' "$file")
    printf '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=%s.html#%s"><title>%s</title>\n' \
        "$target" "$name()" "$name" >"$out/$name.3.html"
done
cat >"$out/style.css" <<'CSS'
body { max-width: 48em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; }
pre, code, .Bf, dt { font-family: monospace; }
pre { background: #f4f4f4; padding: 0.5em 1em; overflow-x: auto; }
table.head, table.foot { width: 100%; color: #666; }
td.head-vol { text-align: center; }
td.head-rtitle, td.foot-os { text-align: right; }
a.permalink { color: inherit; text-decoration: none; }
dd { margin-bottom: 0.5em; }
CSS
{
    printf '<!DOCTYPE html>\n<meta charset="utf-8"><title>zkrecipes</title>\n'
    printf '<link rel="stylesheet" href="style.css"><h1>zkrecipes</h1><ul>\n'
    for file in "${pages[@]}"; do
        name=$(basename "$file")
        printf '<li><a href="%s.html">%s(%s)</a>\n' "$name" "${name%.*}" "${name##*.}"
    done
    printf '</ul>\n'
} >"$out/index.html"
echo "$out/index.html"
