#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh BUILD OUT: writes the manual as HTML to OUT, from the pages that a build has made, with an index. See ./run.
set -euo pipefail

build=$1 out=$2
rm -rf "$out"
mkdir -p "$out"
man3=$build/tools/docs/man3
command=$build/tools/zkr.1
[ -f "$command" ] || command=tools/zkr/zkr.1

# Pages that only include another page are left out. Links to a function lead to the page of its header.
mapfile -t headers < <(grep -L '^\.so ' "$man3"/*.3)
for file in "$build"/tools/docs/*.7 "$command" "${headers[@]}"; do
    mandoc -Thtml -O style=style.css "$file" >"$out/$(basename "$file").html"
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

# entry FILE: prints a line of the index, with the text of the page's section NAME.
entry() {
    local name
    name=$(basename "$1")
    printf '<li><a href="%s.html">%s(%s)</a> %s</li>\n' "$name" "${name%.*}" "${name##*.}" \
        "$(sed -n '/^\.SH NAME/,/^\.SH [^N]/s/.*\\- //p' "$1" |
            sed -E 's/\\f[BIPR]//g; s/\\([-e])/\1/g; s/&/\&amp;/g; s/</\&lt;/g')"
}
{
    cat <<'HTML'
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>zkrecipes</title><link rel="stylesheet" href="style.css"></head>
<body>
<h1>zkrecipes</h1>
<p>Distributed locks and leader election on ZooKeeper, for C programs and, with the command zkr, for any program.</p>
<h2>Start here</h2>
<ul>
HTML
    for file in "$build"/tools/docs/zkrecipes.7 "$build"/tools/docs/zkrecipes-guide.7 "$command"; do
        entry "$file"
    done
    printf '</ul>\n<h2>Tasks</h2>\n<ul>\n'
    grep -o '<h1 class="Sh" id="[^"]*"' "$out/zkrecipes-guide.7.html" | cut -d '"' -f 4 |
        grep -vE '^(NAME|DESCRIPTION|SEE_ALSO)$' | while IFS= read -r id; do
        printf '<li><a href="zkrecipes-guide.7.html#%s">%s</a></li>\n' "$id" "${id//_/ }"
    done
    printf '</ul>\n<h2>Headers</h2>\n<ul>\n'
    for file in "${headers[@]}"; do
        entry "$file"
    done
    printf '</ul>\n</body>\n</html>\n'
} >"$out/index.html"

# mandoc breaks lines of code twice, and makes no links of the page names in man(7) markup.
perl -0777 -i -pe '
    BEGIN {
        my ($out, $man3) = splice @ARGV, 0, 2;
        for (glob "$out/*.html") { m{([^/]+)\.(\d)\.html$} and $page{"$1($2)"} = "$1.$2.html" }
        for (glob "$man3/*.3") {
            my ($name) = m{([^/]+)\.3$};
            open my $in, "<", $_ or die;
            $page{"$name(3)"} //= "$1.html#$name()" if <$in> =~ m{^\.so man3/(\S+)};
        }
        @ARGV = grep { !m{/index\.html$} } glob "$out/*.html";
    }
    s{<pre>(.*?)</pre>}{ (my $code = $1) =~ s{<br/>\n}{}g; "<pre>$code</pre>" }gse;
    s{(?:<a class="permalink" href="[^"]*">)?<b>([\w-]+)</b>\((\d)\)(?:</a>)?}{
        my $to = $page{"$1($2)"}; $to ? qq(<a href="$to"><b>$1</b>($2)</a>) : $& }ge;
    s{<html>}{<html lang="en">};
    s{<body>}{<body>\n<p><a href="index.html">zkrecipes</a></p>};
    s{<p class="Pp"></p>\n}{}g;
' "$out" "$man3"
echo "$out/index.html"
