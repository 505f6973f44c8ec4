# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Scripts that run in the root of the tree and need the list of its files source this file.

# Prints the files of the project: those in git, and new files. Without git, prints all files except those of a build.
files() { # GLOB...
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -co --exclude-standard -- "$@" | sort -u | while IFS= read -r file; do
            [ ! -f "$file" ] || printf '%s\n' "$file"
        done
        return
    fi
    local glob first=yes expression=()
    for glob; do
        [ "$first" = yes ] || expression+=(-o)
        expression+=(-path "./$glob")
        first=no
    done
    find . \( -name 'build*' -o -name .git \) -prune -o -type f \
        \( "${expression[@]}" \) -print | sed 's|^\./||' | sort
}

# Prints the files that differ from the branch into which this branch will be merged.
changed() { # GLOB...
    local base
    if ! base=$(base_of_changes); then
        files "$@"
        return
    fi
    files "$@" | grep -xF -f <(
        git diff --name-only --relative "$base"
        git ls-files -o --exclude-standard
    ) || true
}

# Prints the commit at which this branch left the main branch or, on the main branch, the last commit.
base_of_changes() {
    local branch
    for branch in origin/HEAD origin/main main HEAD; do
        git merge-base HEAD "$branch" 2>/dev/null && return
    done
    return 1
}
