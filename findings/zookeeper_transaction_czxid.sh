#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper server 3.8.0-11+deb12u2 (Debian 12): the czxid of a node is not unique, and a failed write uses a zxid but
# no sequence number.
#
# The czxid looks like an identity of a node and like a fencing token for it. However, all nodes that one transaction
# creates share one czxid; if they are sequential, only their sequence numbers differ. A create that fails with "node
# exists" and a transaction that fails each use a zxid, although they change nothing. They use no sequence number: the
# next sequential child continues without a gap. The next number can be computed from the parent's Stat as
# (cversion + numChildren) / 2. The cversion that clients see is not a stored count, but
# 2 x (children created so far) - numChildren.
#
#   after 3 creates and 3 transactions that failed: number +1, zxid +7
#   3 sequential creates in one transaction: numbers 2 3 4, different czxids: 1
#   2 children deleted: cversion 7, numChildren 3, half of their sum 5, next number 5
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch python3-kazoo=2.8.0-2 python3-six=1.16.0-4
start_zookeeper maxClientCnxns=0
seen=$(run_python "$servers" <<'PYTHON'
import sys
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

zk = KazooClient(hosts=sys.argv[1])
zk.start()
zk.create("/queue")

def number(path):
    return int(path.split("-")[-1])

first, first_stat = zk.create("/queue/a-", sequence=True, include_data=True)
for _ in range(3):
    try:
        zk.create(first)
    except NodeExistsError:
        pass
    transaction = zk.transaction()
    transaction.create("/queue/b-", sequence=True)
    transaction.check("/missing", 0)
    transaction.commit()
second, second_stat = zk.create("/queue/a-", sequence=True, include_data=True)
print("after 3 creates and 3 transactions that failed: number +%d, zxid +%d"
      % (number(second) - number(first), second_stat.czxid - first_stat.czxid))

transaction = zk.transaction()
for _ in range(3):
    transaction.create("/queue/c-", sequence=True)
made = transaction.commit()
print("3 sequential creates in one transaction: numbers %d %d %d, different czxids: %d"
      % (*map(number, made), len({zk.get(path)[1].czxid for path in made})))

zk.delete(first)
zk.delete(made[0])
stat = zk.get("/queue")[1]
print("2 children deleted: cversion %d, numChildren %d, half of their sum %d, next number %d"
      % (stat.cversion, stat.numChildren, (stat.cversion + stat.numChildren) // 2,
         number(zk.create("/queue/d-", sequence=True))))
zk.stop()
PYTHON
)
same "$seen" <<'EXPECTED'
after 3 creates and 3 transactions that failed: number +1, zxid +7
3 sequential creates in one transaction: numbers 2 3 4, different czxids: 1
2 children deleted: cversion 7, numChildren 3, half of their sum 5, next number 5
EXPECTED
