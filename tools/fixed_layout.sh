#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fixed_layout.sh COMMAND...: runs a command without address randomisation, because programs with sanitizers need a
# memory layout that some kernels randomise.
arch=$(uname -m)
if setarch "$arch" -R true 2>/dev/null; then
    exec setarch "$arch" -R "$@"
fi
exec "$@"
