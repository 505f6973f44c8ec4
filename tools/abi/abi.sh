#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# abi.sh compare RECORD HEADERS SOVERSION: tests whether the binary interface of the public headers in HEADERS/zkr, with
# that SOVERSION, is compatible with the interface in RECORD. judge.awk defines what may change: functions and constants
# may be added, and options may grow. abi.sh record RECORD HEADERS SOVERSION: writes a new RECORD.
#
# The script does not compare the library, but the interface against which programs are compiled: an object file with
# pointers to all public functions, and with all public constants. testing.h is left out, because its library is linked
# into tests. The test static.symbols checks that the library exports just these functions.
set -euo pipefail
export LC_ALL=C

usage='usage: abi.sh compare|record RECORD HEADERS SOVERSION'
[ $# -eq 4 ] || { echo "$usage" >&2; exit 64; }
verb=$1 record=$2 headers=$3 soversion=$4
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
soname=libzkrecipes.so.$soversion
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Prints a library of variables. Each has the type of a public function or of a public enum.
interface() {
    (cd "$headers" && find zkr -name '*.h' ! -name testing.h -type f | sort | sed 's/.*/#include <&>/')
    sh "$here/../names.sh" "$headers/zkr" zkrecipes | sed 's/.*/__typeof__(\&&) function_&;/'
    # The constants of anonymous enums in the headers count, too.
    (cd "$headers" && find zkr -name '*.h' ! -name testing.h -type f -exec cat {} +) | sed -n 's/^enum \([a-z_]*\) {$/enum \1 constants_\1;/p' | sort -u
}

dump() { # OUT
    interface >"$tmp/interface.c"
    "${CC:-cc}" -std=gnu11 -g -O0 -w -shared -fPIC -I "$headers" "-Wl,-soname,$soname" \
        "-ffile-prefix-map=$headers=include" -o "$tmp/interface.so" "$tmp/interface.c"
    abidw --no-architecture --no-corpus-path --no-comp-dir-path --no-elf-needed --no-show-locs --no-write-default-sizes \
        --type-id-style hash "$tmp/interface.so" >"$1"
}

soname_of() { # RECORD
    sed -n "1s/.* soname='\([^']*\)'.*/\1/p" "$1"
}

case $verb in
record)
    dump "$tmp/abi"
    {
        echo '<!-- SPDX-License-Identifier: Apache-2.0 -->'
        sed -e "s,$tmp/,," "$tmp/abi"
    } >"$record"
    echo "recorded: $soname in $record"
    ;;
compare)
    sed '/^<!-- SPDX/d' "$record" >"$tmp/old.abi"
    if [ "$(soname_of "$tmp/old.abi")" != "$soname" ]; then
        echo "$soname is a new interface, $(soname_of "$tmp/old.abi") was the last"
        exit 0
    fi
    dump "$tmp/new.abi"
    status=0
    abidiff --leaf-changes-only --harmless --no-added-syms "$tmp/old.abi" "$tmp/new.abi" >"$tmp/report" || status=$?
    # Bits 1 and 2 mean errors of the tool itself.
    if [ $((status & 3)) -ne 0 ]; then
        cat "$tmp/report"
        exit 70
    fi
    if ! awk -f "$here/judge.awk" "$tmp/report"; then
        echo "Programs that were compiled for $soname as it is recorded may break. Undo that, or raise ZKR_SOVERSION"
        echo "in CMakeLists.txt and the version in include/zkr/version.h."
        exit 1
    fi
    echo "$soname: compatible with what is recorded"
    ;;
*)
    echo "$usage" >&2
    exit 64
    ;;
esac
