#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 with a server of the same version (Debian 12): zoo_remove_watches() removes nothing
# at the server.
#
# The header says that it "removes the watches for the given path and watcher type", and only "locally even if there is
# no server connection" if local is set. With local = 0 it makes a round trip and returns ZOK, but the request is
# checkWatches: the server keeps the watch, counts it and sends its event, and the client discards the event. The
# watches of a client that stops watching add up at the server. Only zoo_remove_all_watches() removes them there.
#
#   zoo_wget: 0, watches at the server: 1
#   zoo_remove_watches: 0, watches at the server: 1
#   zoo_remove_watches again: -121, watches at the server: 1
#   zoo_set: 0, watches at the server: 0, node events at the client: 0
#   zoo_wget: 0, watches at the server: 1
#   zoo_remove_all_watches: 0, watches at the server: 0
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2
start_zookeeper '4lw.commands.whitelist=srvr,wchs'
seen=$(run_python "$library" "$servers" <<'PYTHON'
import ctypes, socket, sys, time

zk = ctypes.CDLL(sys.argv[1])
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_set_debug_level(0)
host, port = sys.argv[2].split(":")

class AclVector(ctypes.Structure):
    _fields_ = [("count", ctypes.c_int), ("data", ctypes.c_void_p)]

@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def watcher(handle, kind, state, path, context):
    if kind > 0:
        events.append(path)

def report(call, status, *more):
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"wchs")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    print("%s: %d, watches at the server: %d" % (call, status, int(answer.split(b"watches:")[1])), *more, sep="")

def get():
    length = ctypes.c_int(len(text))
    return zk.zoo_wget(handle, b"/node", watcher, None, text, ctypes.byref(length), stat)

events = []
text, stat = ctypes.create_string_buffer(64), ctypes.create_string_buffer(256)
handle = ctypes.c_void_p(zk.zookeeper_init(sys.argv[2].encode(), None, 10000, None, None, 0))
while zk.zoo_state(handle) != 3:  # connected
    time.sleep(0.01)
acl = AclVector.in_dll(zk, "ZOO_OPEN_ACL_UNSAFE")
zk.zoo_create(handle, b"/node", b"", 0, ctypes.byref(acl), 0, text, len(text))
data = 2  # kind of the watch
report("zoo_wget", get())
report("zoo_remove_watches", zk.zoo_remove_watches(handle, b"/node", data, watcher, None, 0))
report("zoo_remove_watches again", zk.zoo_remove_watches(handle, b"/node", data, watcher, None, 0))
status = zk.zoo_set(handle, b"/node", b"x", 1, -1)
time.sleep(0.5)
report("zoo_set", status, ", node events at the client: %d" % len(events))
report("zoo_wget", get())
report("zoo_remove_all_watches", zk.zoo_remove_all_watches(handle, b"/node", data, 0))
zk.zookeeper_close(handle)
PYTHON
)
same "$seen" <<'EXPECTED'
zoo_wget: 0, watches at the server: 1
zoo_remove_watches: 0, watches at the server: 1
zoo_remove_watches again: -121, watches at the server: 1
zoo_set: 0, watches at the server: 0, node events at the client: 0
zoo_wget: 0, watches at the server: 1
zoo_remove_all_watches: 0, watches at the server: 0
EXPECTED
