#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
#
# build.sh: builds the fuzz targets for OSS-Fuzz, which runs this script in its own container. OSS-Fuzz sets $SRC,
# $WORK, $OUT, $CC, $CFLAGS and $LIB_FUZZING_ENGINE. The script needs the packages libzookeeper-mt-dev, uthash-dev,
# libcmocka-dev, libjansson-dev, cmake and ninja-build. libzookeeper and jansson are linked statically, because they are
# missing where the targets run.
here=$(cd "$(dirname "$0")" && pwd)
lib=$(find /usr/lib -name libzookeeper_mt.a | head -n 1)
jansson=$(find /usr/lib -name libjansson.a | head -n 1)

cmake -S "$here/../.." -B "$WORK/zkrecipes" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$CFLAGS" -DZKR_BUILD_TESTS=ON -DZKR_BUILD_FUZZ=ON -DZKR_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    -DZooKeeper_LIBRARY="$lib" -DJANSSON_LIBRARY="$jansson"
cmake --build "$WORK/zkrecipes" --target fuzz

find "$WORK/zkrecipes/test/fuzz" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -exec cp {} "$OUT/" \;
for dict in "$here"/*.dict; do
    cp "$dict" "$OUT/fuzz_${dict##*/}"
done
