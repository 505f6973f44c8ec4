#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_english.sh ROOT: checks that no text uses a construction that readers have to read twice. The texts are those
# for users and maintainers: Markdown, manual pages, headers, messages, and comments, except those of the tests.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

# shellcheck disable=SC2016 # the dollars are for bash and awk
bash -c '. "$1/../../tools/files.sh" && files "*"' bash "$here" |
    grep -vE '^(test/|debian/|LICENSE|findings/)|\.(json|svg|go|sum)$' |
    { cat; ls test/README.md 2>/dev/null || :; } | tr '\n' '\0' | xargs -0 awk '
    BEGIN {
        start = "(^|[.:;!?)] |/[*][*]? |^ *[*#] |// )"
        first = start "(Who|Whoever|What is|What was|Those|So does|So do|The same goes)([ ,]|$)"
        inside = "(^|[^a-z])(is told|are told|is asked|are asked|by hand|who waits)([^a-z]|$)"
        # Parts of sentences in which the words are natural.
        allowed["who holds a lock and who waits"]
        allowed["who holds a lock, and who waits"]
        allowed["who holds the lock at PATH (position 1) and who waits"]
    }
    function is_allowed(words) {
        for (words in allowed)
            if (index($0, words))
                return 1
        return 0
    }
    ($0 ~ first || $0 ~ inside) && !is_allowed() {
        match($0, first) || match($0, inside)
        words = substr($0, RSTART, RLENGTH)
        gsub(/^[^A-Za-z]+|[^A-Za-z]+$/, "", words)
        print FILENAME ":" FNR ": \"" words "\": put the subject first, and say what happens"
        failed = 1
    }
    END { exit failed }'
