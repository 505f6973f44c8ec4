#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# code.sh: proves with Frama-C that lib/session/lease.c meets its contracts, and checks that the proof fails with each
# mutant that must break a contract.
set -euo pipefail

cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
out=$PWD/build/proof
rm -rf "$out/copy" && mkdir -p "$out/copy"

# why3 detects the provers, and writes them to this file.
export WHY3CONFIG=$out/why3.conf
why3 config detect >"$out/why3" 2>&1 || {
    cat "$out/why3"
    exit 70
}

frama() { # LIB SECONDS [ARGUMENT...]
    local lib=$1 seconds=$2
    shift 2
    (cd "$lib" && frama-c -wp -wp-rte -wp-prover z3,cvc4 -wp-timeout "$seconds" -wp-par "$(nproc)" \
        -cpp-extra-args=-I. -machdep gcc_x86_64 "$@" session/lease.c) >"$out/code" 2>&1
}

# Succeeds if every goal was proved. The timeouts are generous, because with -wp-par a prover may have to wait for a
# processor.
all_proved() {
    local goals
    goals=$(sed -n 's/^\[wp\] Proved goals: *//p' "$out/code")
    [[ $goals =~ ^([0-9]+)\ /\ ([0-9]+)$ ]] && [ "${BASH_REMATCH[1]}" -gt 0 ] &&
        [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}

began=$SECONDS
echo '==> the contracts of lib/session/lease.c, by Frama-C'
if ! frama lib 60 || ! all_proved; then
    grep -v ': Valid\|rte:annot' "$out/code"
    echo '==> not proved'
    exit 1
fi
sed -n 's/^\[wp\] Proved goals: */  proved    /p' "$out/code"
missed=0
while IFS= read -r name; do
    cp -R lib "$out/copy"
    perl test/mutants/apply.pl "$out/copy" "$name"
    if frama "$out/copy/lib" 5 -wp-fct learn,zkr__lease_reconnected -wp-prop=@ensures </dev/null && all_proved; then
        echo "  SURVIVES  $name"
        missed=1
    else
        printf '  %-9s %s: %s\n' broken "$name" "$(grep -v ': Valid' "$out/code" | grep -m 1 -o 'Goal typed_[a-z_0-9]*')"
    fi
done < <(perl test/mutants/apply.pl --tell | awk -F '\t' '$5 == "contract" { print $1 }')
echo "==> $((SECONDS - began)) s"
exit "$missed"
