#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_words.sh ROOT: each source file names its licence near its top and ends with a
# newline; no line ends in white space; files under lib/ have at most 400 lines.
set -eu
cd "$1"

# Source files by name or place; what a build left behind is none of our business.
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

printf '%s\n' "$files" | {
    failed=0
    while IFS= read -r file; do
        head -n 10 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0' || {
            echo "$file: no line SPDX-License-Identifier: Apache-2.0 near its top"
            failed=1
        }
        if [ -n "$(tail -c 1 "$file")" ]; then
            echo "$file: no newline at its end"
            failed=1
        fi
        if grep -n '[[:blank:]]$' "$file" | sed "s|^\([0-9]*\):.*|$file:\1: white space at the end of the line|" | grep .; then
            failed=1
        fi
        case $file in
        lib/*.[ch]) limit=400 ;;
        *) continue ;;
        esac
        lines=$(wc -l <"$file")
        if [ "$lines" -gt "$limit" ]; then
            echo "$file: $lines lines, more than $limit"
            failed=1
        fi
    done
    exit "$failed"
}
