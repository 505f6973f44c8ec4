#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fixed_layout.sh COMMAND...: programs built with sanitizers want a memory layout that some kernels randomise away.
arch=$(uname -m)
if setarch "$arch" -R true 2>/dev/null; then
    exec setarch "$arch" -R "$@"
fi
exec "$@"
