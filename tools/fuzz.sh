#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# fuzz.sh [--seconds N] [TARGET...]: runs each fuzz target for N seconds (default: 60).
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh

seconds=60
if [ "${1:-}" = --seconds ]; then
    [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die 64 '--seconds wants a number above 0'
    seconds=$2
    shift 2
fi
need "${packages_build[@]}" "${packages_fuzz[@]}"
need_sanitizers
tools/build.sh fuzz fuzz
exec tools/fixed_layout.sh test/fuzz/fuzz.sh build/fuzz "$seconds" "$(nproc)" "$@"
