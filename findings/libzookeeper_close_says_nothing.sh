#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 with a server of the same version (Debian 12): zookeeper_close() does not tell
# whether a server has ended the session.
#
# A program submits the delete of its ephemeral node, and then closes the handle. In the first case, the server gets
# both requests. In the second case, a relay between them withholds everything that the program sends. In both cases,
# the close returns ZOK, and the delete completes with ZCLOSING (-116). In the first case, the node is gone. In the
# second case, it stays until the session times out.
#
#   server reached: close 0, delete -116, node gone
#   server not reached: close 0, delete -116, node there
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2
start_zookeeper '4lw.commands.whitelist=srvr'
seen=$(run_python "$library" "$servers" <<'PYTHON'
import ctypes, socket, sys, threading, time

zk = ctypes.CDLL(sys.argv[1])
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_set_debug_level(0)
server = sys.argv[2]
EPHEMERAL, CONNECTED, NO_NODE = 1, 3, -101
everybody = (ctypes.c_char * 16).in_dll(zk, "ZOO_OPEN_ACL_UNSAFE")
passes = threading.Event()
completed = []

def pump(source, sink, gate):
    try:
        while data := source.recv(65536):
            gate.wait()
            sink.sendall(data)
        sink.close()
    except OSError:  # the other direction has ended first
        pass

def relay():
    free = threading.Event()
    free.set()
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", int(server.split(":")[1])))
        threading.Thread(target=pump, args=(near, far, passes), daemon=True).start()
        threading.Thread(target=pump, args=(far, near, free), daemon=True).start()

def connect(address):
    handle = ctypes.c_void_p(zk.zookeeper_init(address.encode(), None, 10000, None, None, 0))
    while zk.zoo_state(handle) != CONNECTED:
        time.sleep(0.01)
    return handle

@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
def note(status, _):
    completed.append(status)

listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=relay, daemon=True).start()
observer = connect(server)
for reached in True, False:
    path = b"/reached" if reached else b"/not-reached"
    passes.set()
    handle = connect("127.0.0.1:%d" % listener.getsockname()[1])
    zk.zoo_create(handle, path, None, -1, everybody, EPHEMERAL, None, 0)
    if not reached:
        passes.clear()
    zk.zoo_adelete(handle, path, -1, note, None)
    status = zk.zookeeper_close(handle)
    there = zk.zoo_exists(observer, path, 0, None) != NO_NODE
    print("server", "reached:" if reached else "not reached:", "close %d," % status,
          "delete %d," % completed[-1], "node", "there" if there else "gone")
zk.zookeeper_close(observer)
PYTHON
)
same "$seen" <<'EXPECTED'
server reached: close 0, delete -116, node gone
server not reached: close 0, delete -116, node there
EXPECTED
