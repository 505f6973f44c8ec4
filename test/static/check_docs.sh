#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_docs.sh ROOT: checks that every public function has its contract right above it, with each part of the template
# that a caller needs, and that every prototype is marked ZKR_API.
set -eu
cd "$1"

# shellcheck disable=SC2016 # the dollars are for awk
find include/zkr -name '*.h' -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 awk '
function bad(what) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, name, what
    failed = 1
}

function check(    n, i, parts) {
    if (doc == "") {
        bad("no /** */ comment right above it")
        return
    }
    n = split("Blocks: Threads: Cost: Curator:", parts, " ")
    for (i = 1; i <= n; i++)
        if (index(doc, parts[i]) == 0)
            bad("its comment has no \"" parts[i] "\"")
    if ($0 !~ /^ZKR_API[ \t]+void[ \t]+[a-z]/ && doc !~ /[Rr]eturns/)
        bad("its comment does not say what it returns")
}

FNR == 1 { doc = ""; inside = 0 }

# A /** */ comment. A /**< comment belongs to a member.
inside {
    doc = doc "\n" $0
    if (/\*\//)
        inside = 0
    next
}
/^\/\*\*([^<]|$)/ {
    doc = $0
    inside = !/\*\//
    next
}

/^ZKR_API/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[^a-zA-Z0-9_]/, "", name)
    check()
    count++
}
/^[a-z].*[ *]zkr_[a-z0-9_]+\(/ && !/^typedef/ && !/^static/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[^a-zA-Z0-9_]/, "", name)
    bad("not marked ZKR_API")
}

{ doc = "" }

END {
    if (count == 0 && !failed) {
        print "no public function found"
        failed = 1
    }
    exit failed
}
'
