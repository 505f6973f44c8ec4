#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper server 3.8.0-11+deb12u2 (Debian 12): the commands that list watches leave out the watches on children.
#
# According to the manual, wchp lists watches by path, wchc lists them by session, and wchs counts them. All three
# report only the watches that a read or an exists() sets, and none that a list of children sets. The metric
# zk_watch_count of mntr counts both kinds. So a client that waits for children looks as if it watched nothing.
#
# The output with one watch of each kind, the third on the children of /children:
#   wchp: /data /missing
#   wchc: /data /missing
#   wchs: Total watches:2
#   mntr: 3
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch python3-kazoo=2.8.0-2 python3-six=1.16.0-4
start_zookeeper '4lw.commands.whitelist=*'
seen=$(run_python "$servers" <<'PYTHON'
import socket, sys
from kazoo.client import KazooClient

def ask(word):
    with socket.create_connection((host, int(port))) as s:
        s.sendall(word.encode())
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()

host, port = sys.argv[1].split(":")
zk = KazooClient(hosts=sys.argv[1])
zk.start()
for path in "/data", "/children":
    zk.create(path)
zk.get("/data", watch=print)
zk.exists("/missing", watch=print)
zk.get_children("/children", watch=print)
print("wchp:", " ".join(sorted(line for line in ask("wchp").splitlines() if line.startswith("/"))))
print("wchc:", " ".join(sorted(line.strip() for line in ask("wchc").splitlines() if line.startswith("\t"))))
print("wchs:", ask("wchs").splitlines()[-1])
print("mntr:", *[line.split()[1] for line in ask("mntr").splitlines() if line.startswith("zk_watch_count")])
zk.stop()
PYTHON
)
same "$seen" <<'EXPECTED'
wchp: /data /missing
wchc: /data /missing
wchs: Total watches:2
mntr: 3
EXPECTED
