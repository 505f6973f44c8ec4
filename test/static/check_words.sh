#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_words.sh ROOT: checks that each file names its licence near its top, that each source file ends with a newline,
# and that no line ends in white space.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

# Lists source files by name or place. The products of a build are ignored.
list() {
    find . \( -name .git -o -name 'build*' -o -name .cache \) -prune -o -type f \( \
        -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.cmake' -o -name '*.in' \
        -o -name CMakeLists.txt -o -name '*.py' -o -name '*.java' -o -name '*.go' \
        -o -name '*.yaml' -o -name '*.yml' -o -name '*.[1-9]' -o -name '*.supp' \
        -o -name 'Dockerfile*' -o -name .clang-format -o -name .clang-tidy \
        -o -name .editorconfig -o -name .gitignore -o -path './run' -o -path './.ci/run' \
        -o -path './tools/*completion*' \) -print | sed 's|^\./||' | LC_ALL=C sort
}

files=$(list)
[ -n "$files" ] || { echo "no source file found"; exit 1; }

failed=0
printf '%s\n' "$files" | tr '\n' '\0' | xargs -0 awk '
    function complain(words) {
        print words
        failed = 1
    }
    function finish() {
        read[file] = 1
    }
    FNR == 1 { finish(); file = FILENAME }
    /[ \t]$/ { complain(file ":" FNR ": white space at the end of the line") }
    { lines = FNR }
    END {
        finish()
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in read))
                complain(ARGV[i] ": nothing in it")
        exit failed
    }' || failed=1

# Checks all files, including those that are not sources, because each may be copied alone. The licence itself needs no
# such line.
bash -c '. "$1/../../tools/files.sh" && files "*"' bash "$here" | grep -vxE "LICENSE|debian/(changelog|source/format)|test/(history|kubernetes)/go.sum" | tr '\n' '\0' | xargs -0 awk '
    FNR > 10 { nextfile }
    /SPDX-License-Identifier: Apache-2\.0/ { named[FILENAME] = 1 }
    END {
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in named)) {
                print ARGV[i] ": no line SPDX-License-Identifier: Apache-2.0 near its top"
                failed = 1
            }
        exit failed
    }' || failed=1

while IFS= read -r file; do
    if [ -n "$(tail -c 1 "$file")" ]; then
        echo "$file: no newline at its end"
        failed=1
    fi
done <<FILES
$files
FILES
exit "$failed"
