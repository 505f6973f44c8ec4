#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fixed_layout.sh COMMAND...: runs a command without address randomisation, because some kernels randomise the memory
# layout more than programs with sanitizers allow.
arch=$(uname -m)
if setarch "$arch" -R true 2>/dev/null; then
    exec setarch "$arch" -R "$@"
fi
exec "$@"
