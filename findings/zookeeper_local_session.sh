#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper server 3.8.0-11+deb12u2 (Debian 12): a follower reports a local session as expired that lives on.
#
# With localSessionsEnabled and without localSessionsUpgradingEnabled a session cannot own an ephemeral node. A create
# outside a transaction fails with -120 ("ephemeral on local session"). In a transaction, the same create fails with
# -112 ("session expired") on a follower, and with -120 on the leader. The session with the -112 has not expired: its
# connection stays, and it can still read, create persistent nodes and check versions. A client that takes the code
# literally opens one session after another.
#
#   leader: alone -120, in a transaction -120, persistent ok, same session True
#   follower: alone -120, in a transaction -112, persistent ok, same session True
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch python3-kazoo=2.8.0-2 python3-six=1.16.0-4
start_ensemble localSessionsEnabled=true
seen=$(run_python "$servers" <<'PYTHON'
import socket
import sys
from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ZookeeperError

class EphemeralOnLocalSession(ZookeeperError):
    code = -120

EXCEPTIONS[-120] = EphemeralOnLocalSession

def mode(address):
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as s:
        s.sendall(b"srvr")
        answer = b"".join(iter(lambda: s.recv(4096), b"")).decode()
    return answer.split("Mode: ")[1].split("\n")[0] if "Mode: " in answer else "none"

def code(result):
    return result.code if isinstance(result, ZookeeperError) else "ok"

def in_transaction(zk):
    transaction = zk.transaction()
    transaction.create("/in-transaction", ephemeral=True)
    try:
        return code(transaction.commit()[0])
    except ZookeeperError as e:
        return e.code

def alone(zk):
    try:
        return code(zk.create("/alone", ephemeral=True))
    except ZookeeperError as e:
        return e.code

addresses = sys.argv[1].split(",")
while {mode(a) for a in addresses} != {"leader", "follower"}:
    pass
for address in sorted(addresses, key=mode, reverse=True):
    zk = KazooClient(hosts=address)
    zk.start()
    before = zk.client_id[0]
    codes = alone(zk), in_transaction(zk)
    zk.create("/" + mode(address))
    zk.get("/" + mode(address))
    print("%s: alone %s, in a transaction %s, persistent ok, same session %s"
          % (mode(address), *codes, zk.client_id[0] == before))
    zk.stop()
PYTHON
)
same "$seen" <<'EXPECTED'
leader: alone -120, in a transaction -120, persistent ok, same session True
follower: alone -120, in a transaction -112, persistent ok, same session True
EXPECTED
