#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install.sh CMAKE BUILD_DIR STAGE: installs the build into an empty STAGE.
set -eu
cmake=$1 build=$2 stage=$3
rm -rf "$stage"
"$cmake" --install "$build" --prefix "$stage"
