#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# lint.sh [--changed] PART...: checks the texts of the tree, or only those that differ from the target branch of a
# merge. The parts are format, shell, python, man, go and tidy. "texts" means all parts except tidy. The tools are those
# of Debian 12. Tools of another release have other warnings, which are shown but are not failures. lint.sh fix: formats
# the code.
# shellcheck disable=SC2317 # parts are called by name
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
# shellcheck source=tools/files.sh
. tools/files.sh

release=bookworm
clang=14

only_changed=no
linted() { # GLOB...
    if [ "$only_changed" = no ]; then files "$@"; else changed "$@"; fi
}

# Each version formats differently, and has different warnings.
clang_tool() { # NAME
    command -v "$1-$clang" >/dev/null || {
        say "==> not run: $1; that of version $clang is not here"
        return 1
    }
}

lint_format() {
    clang_tool clang-format || return 0
    linted '*.c' '*.cpp' '*.h' '*.hpp' | tr '\n' '\0' | xargs -0 -r "clang-format-$clang" --dry-run -Werror
}

lint_fix() {
    clang_tool clang-format || return
    files '*.c' '*.cpp' '*.h' '*.hpp' | tr '\n' '\0' | xargs -0 -r "clang-format-$clang" -i
}

# Lints the files that have a compile command. A part that is not built has none.
lint_tidy() {
    clang_tool clang-tidy || return 0
    linted 'lib/*.c' 'tools/*.c' | while IFS= read -r file; do
        if grep -qF "\"$PWD/$file\"" build/plain/compile_commands.json; then
            printf '%s\0' "$file"
        fi
    done | xargs -0 -r -n 1 -P "$(nproc)" "clang-tidy-$clang" -p build/plain --quiet 2>&1 |
        sed -u '/^[0-9]* warnings* generated\.$/d'
}

# Checks scripts, and the files that they source.
lint_shell() {
    linted '*' | while IFS= read -r file; do
        case $(head -n 1 "$file" | tr -d '\0') in
        '#!'*sh | '#!'*sh\ *) printf '%s\0' "$file" ;;
        *) [[ $file != *.sh ]] || printf '%s\0' "$file" ;;
        esac
    done | xargs -0 -r shellcheck -x
}

lint_go() {
    local said
    command -v gofmt >/dev/null || return 0 # ./run ci installs gofmt
    said=$(linted '*.go' | tr '\n' '\0' | xargs -0 -r gofmt -d)
    [ -z "$said" ] || {
        say "$said"
        return 1
    }
}

lint_python() {
    linted '*.py' | tr '\n' '\0' | xargs -0 -r pyflakes3
}

lint_man() {
    local page said failed=0
    while IFS= read -r page; do
        said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
            man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null) || failed=1
        if [ -n "$said" ]; then
            say "$page: $said"
            failed=1
        fi
    done < <(files '*.1' '*.3' '*.7')
    return "$failed"
}

here() {
    # shellcheck disable=SC1091 # of the system
    (. /etc/os-release && echo "${VERSION_CODENAME:-another system}") 2>/dev/null || echo 'another system'
}

parts=()
for argument; do
    case $argument in
    --changed) only_changed=yes ;;
    texts) parts+=(format shell python man go) ;;
    format | fix | shell | python | man | go | tidy) parts+=("$argument") ;;
    *) die 64 "there is nothing to lint that is called $argument" ;;
    esac
done
failed=0
for part in "${parts[@]}"; do
    "lint_$part" && continue
    if [ "$part" = fix ] || [ "$(here)" = "$release" ]; then
        say "==> lint has failed: $part"
        failed=1
    else
        say "==> lint, not counted: $part; the tools are those of $(here), not of $release"
    fi
done
exit "$failed"
