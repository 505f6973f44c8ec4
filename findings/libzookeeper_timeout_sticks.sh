#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 with a server of the same version (Debian 12): a session timeout that one server has
# cut short stays short for the rest of the session, whichever server comes next.
#
# A client requests a session timeout at each connection, and the server grants what its limits allow. libzookeeper
# overwrites the requested timeout with the granted one, and requests the granted one from then on. One short connection
# to a server with a lower maxSessionTimeout is enough. kazoo 2.8.0-2 requests the application's value each time, as the
# Java client does.
#
#   maxSessionTimeout 10000: libzookeeper has 10000, kazoo 10000
#   maxSessionTimeout 3000: libzookeeper has 3000, kazoo 3000
#   maxSessionTimeout 10000: libzookeeper has 3000, kazoo 10000
#   a new handle of libzookeeper: 10000
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2 python3-kazoo=2.8.0-2 python3-six=1.16.0-4
fetch_zookeeper
at=$(free_port)

serve() { # MAXIMUM: replaces the running server, and keeps its data
    if [ ${#started[@]} -gt 0 ]; then
        kill "${started[-1]}"
        wait "${started[-1]}" 2>/dev/null || true
        unset 'started[-1]'
    fi
    start_server "$tmp" "$at" ZooKeeperServerMain '4lw.commands.whitelist=srvr,cons' minSessionTimeout=1000 \
        maxSessionTimeout="$1"
    await_server "$tmp" "$at"
}

serve 10000
run_python "$library" "$at" "$tmp" >"$tmp/seen" <<'PYTHON' &
import ctypes, logging, os, re, socket, sys, time
from kazoo.client import KazooClient

logging.disable()  # kazoo logs each connection
zk = ctypes.CDLL(sys.argv[1])
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_client_id.restype = ctypes.POINTER(ctypes.c_int64)
zk.zoo_set_debug_level(0)
address = "127.0.0.1:" + sys.argv[2]

@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def watcher(handle, kind, state, path, context):
    pass

def open_handle():
    handle = ctypes.c_void_p(zk.zookeeper_init(address.encode(), watcher, 10000, None, None, 0))
    while zk.zoo_state(handle) != 3:  # connected
        time.sleep(0.01)
    return handle

def granted(session):
    """The timeout of a connected session, as the server has it; waits for it."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", int(sys.argv[2]))) as connection:
                connection.sendall(b"cons")
                answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        except OSError:
            answer = ""
        found = re.search("sid=0x%x,.*?,to=(\\d+)," % (session & (1 << 64) - 1), answer)
        if found:
            return int(found.group(1))
        time.sleep(0.05)

def report(limit):
    print("maxSessionTimeout %d: libzookeeper has %d, kazoo %d"
          % (limit, granted(sessions[0]), granted(sessions[1])), flush=True)

handle = open_handle()
kazoo = KazooClient(hosts=address, timeout=10.0)
kazoo.start()
sessions = zk.zoo_client_id(handle)[0], kazoo.client_id[0]
for step, limit in enumerate((10000, 3000, 10000)):
    while not os.path.exists("%s/step%d" % (sys.argv[3], step)):
        time.sleep(0.05)
    report(limit)
    open("%s/done%d" % (sys.argv[3], step), "w").close()
other = open_handle()
print("a new handle of libzookeeper: %d" % granted(zk.zoo_client_id(other)[0]), flush=True)
os._exit(0)
PYTHON
program=$!
step=0
for limit in 10000 3000 10000; do
    [ "$step" = 0 ] || serve "$limit"
    touch "$tmp/step$step"
    until [ -e "$tmp/done$step" ]; do
        kill -0 "$program"
        sleep 0.05
    done
    step=$((step + 1))
done
wait "$program"
same "$(cat "$tmp/seen")" <<'EXPECTED'
maxSessionTimeout 10000: libzookeeper has 10000, kazoo 10000
maxSessionTimeout 3000: libzookeeper has 3000, kazoo 3000
maxSessionTimeout 10000: libzookeeper has 3000, kazoo 10000
a new handle of libzookeeper: 10000
EXPECTED
