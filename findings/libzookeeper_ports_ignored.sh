#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# libzookeeper_mt 3.8.0-11+deb12u2 with two servers of the same version on one host (Debian 12): zoo_set_servers() does
# not compare ports.
#
# A handle is connected to the first server, and is given the address of the second, which differs only in its port. The
# call returns ZOK and changes nothing: the handle stays at the first server, and zoo_get_current_server() names it.
# libzookeeper compares only the address of the host with the old list. If the second server is given by another address
# of the same host, the handle moves.
#
#   zookeeper_init 127.0.0.1:FIRST: connected to 127.0.0.1:FIRST
#   zoo_set_servers 127.0.0.1:SECOND: 0, connected to 127.0.0.1:FIRST
#   zoo_set_servers 127.0.0.2:SECOND: 0, connected to 127.0.0.2:SECOND
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch libzookeeper-mt2=3.8.0-11+deb12u2
start_ensemble '4lw.commands.whitelist=srvr'
seen=$(run_python "$library" "$servers" <<'PYTHON'
import ctypes, socket, sys, threading, time

zk = ctypes.CDLL(sys.argv[1])
zk.zookeeper_init.restype = ctypes.c_void_p
zk.zoo_get_current_server.restype = ctypes.c_char_p
zk.zoo_set_debug_level(0)
first, second = sys.argv[2].split(",")
port = second.split(":")[1]

def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.close()
    except OSError:  # the other direction has ended first
        pass

def relay():
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", int(port)))
        threading.Thread(target=pump, args=(near, far), daemon=True).start()
        threading.Thread(target=pump, args=(far, near), daemon=True).start()

listener = socket.create_server(("127.0.0.2", int(port)))
threading.Thread(target=relay, daemon=True).start()

def plain(text):
    return text.replace(first.split(":")[1], "FIRST").replace(port, "SECOND")

def report(call, *status):
    time.sleep(3)
    while zk.zoo_state(handle) != 3:  # connected
        time.sleep(0.01)
    print(plain(call) + ":", *status, "connected to", plain(zk.zoo_get_current_server(handle).decode()))

handle = ctypes.c_void_p(zk.zookeeper_init(first.encode(), None, 10000, None, None, 0))
zk.zoo_set_servers_resolution_delay(handle, -1)
report("zookeeper_init " + first)
for address in second, "127.0.0.2:" + port:
    report("zoo_set_servers " + address, "%d," % zk.zoo_set_servers(handle, address.encode()))
zk.zookeeper_close(handle)
PYTHON
)
same "$seen" <<'EXPECTED'
zookeeper_init 127.0.0.1:FIRST: connected to 127.0.0.1:FIRST
zoo_set_servers 127.0.0.1:SECOND: 0, connected to 127.0.0.1:FIRST
zoo_set_servers 127.0.0.2:SECOND: 0, connected to 127.0.0.2:SECOND
EXPECTED
