#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# proof.sh [lease | claims | code], or: proof.sh --quick lease|claims
#
# Runs the proofs of test/proof/README.md, or one of them: lease proves the bound of the lease with z3; claims explores
# all states of claims; code proves, with Frama-C, that the code of the lease meets its contracts. Some releases of
# Debian lack Frama-C. With --quick, lease proves only the rules of the lease, and claims explores only the smaller
# state spaces of one claim.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh

quick=() parts=(lease claims code)
case $*:$# in
:0) ;;
'--quick lease:2' | '--quick claims:2') quick=(--quick) parts=("$2") ;;
lease:1 | claims:1 | code:1) parts=("$1") ;;
*) die 64 'usage: ./run proof [lease | claims | code]' ;;
esac

# Runs the distribution's python, which has its packages, even if another python precedes it in $PATH.
python() {
    local each
    for each in python3 /usr/bin/python3; do
        "$each" -c 'import z3, pycparser' >/dev/null 2>&1 && break
    done
    "$each" "$@"
}

prove_lease() {
    need "${packages_proof[@]}"
    mkdir -p build/proof
    python test/proof/lease.py "${quick[@]}" --tell build/proof/lease
    [ ${#quick[@]} -gt 0 ] || say '    build/proof/lease has each of these runs, as a time line'
}

prove_claims() {
    need gcc "${packages_build[@]}" "${packages_test[@]}"
    tools/build.sh plain proof_claims
    build/plain/test/proof_claims "${quick[@]}"
}

prove_code() {
    if want "${packages_frama_c[@]}"; then
        bash test/proof/code.sh
    else
        say "==> not to be had: ${packages_frama_c[*]}; the contracts of lib/session/lease.c are left out"
    fi
}

for part in "${parts[@]}"; do
    "prove_$part"
done
