#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 (Debian 12): with an even number of addresses half of them are never tried again.
#
# After the first round of failed attempts the client advances its cursor by two addresses at each failure. With an odd
# number of addresses it still visits all of them, in another order. With an even number it visits every second one, for
# as long as no attempt succeeds: of two servers, it tries only one for ever, although the other may be up again. The
# usual advice, an odd number of servers, hides this fault. "localhost" with an IPv4 and an IPv6 address shows it.
# (ZOOKEEPER-2466 describes the same fault.) The addresses here are listeners that accept a connection and close it.
#
#   addresses  tried in round 1  tried in rounds 3 to 10
#   2          2                 1
#   3          3                 3
#   4          4                 2
#   5          5                 5
#   6          6                 3
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2
seen=$(run_python "$library" <<'PYTHON'
import ctypes, socket, sys, threading, time

zk = ctypes.CDLL(sys.argv[1])
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_set_debug_level(0)

def refuse(listener, attempts):
    port = listener.getsockname()[1]
    while True:
        connection, _ = listener.accept()
        attempts.append(port)
        time.sleep(0.01)
        connection.close()

print("addresses  tried in round 1  tried in rounds 3 to 10")
for count in range(2, 7):
    attempts, addresses = [], []
    for _ in range(count):
        listener = socket.create_server(("127.0.0.1", 0))
        addresses.append("127.0.0.1:%d" % listener.getsockname()[1])
        threading.Thread(target=refuse, args=(listener, attempts), daemon=True).start()
    handle = ctypes.c_void_p(zk.zookeeper_init(",".join(addresses).encode(), None, 2000, None, None, 0))
    end = time.monotonic() + 8
    while len(attempts) < 10 * count and time.monotonic() < end:
        time.sleep(0.01)
    zk.zookeeper_close(handle)
    print("%-9d  %-16d  %d" % (count, len(set(attempts[:count])), len(set(attempts[2 * count:10 * count]))))
PYTHON
)
same "$seen" <<'EXPECTED'
addresses  tried in round 1  tried in rounds 3 to 10
2          2                 1
3          3                 3
4          4                 2
5          5                 5
6          6                 3
EXPECTED
