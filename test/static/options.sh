# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced by checks of the options of $zkr.

# Prints the options in standard input, one per line. -h, -V and --verbose are omitted, because each subcommand has
# them.
options() {
    grep -oE -- '(^|[ ,"])--?[A-Za-z][a-z-]*' | sed 's/^[ ,"]*//' |
        grep -vxE -- '--(help|version|verbose)|-[hVv]' | LC_ALL=C sort -u
}

helped() { # SUBCOMMAND
    # shellcheck disable=SC2086,SC2154 # none for all of them; $zkr is the caller's
    "$zkr" $1 --help | sed -nE 's/^  ((-[A-Za-z]|    +--)[A-Za-z, -]*).*/ \1/p' | options
}
