#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ZooKeeper server 3.8.0-11+deb12u2 (Debian 12): at 2147483647 the number of sequential nodes sticks.
#
# The manual says that the counter overflows when it is incremented beyond 2147483647, "resulting in a name
# <path>-2147483648". Instead, it stays at 2147483647. A second create with the same prefix fails with "node exists", so
# a queue of equal prefixes stops. Creates with different prefixes, as lock recipes use them, all get the same
# number, so the order in the queue is lost. The pzxid of the parent no longer moves either, although children are
# created. Negative numbers do appear, but only within a transaction (and from the second create on), and each
# transaction starts over. The counter comes from a transaction log in the server's own format, of a parent that has had
# 2^31 - 2 children.
#
#   create a-: a-2147483646
#   create a-: a-2147483647
#   create a-: node exists
#   create b-: b-2147483647
#   create c-: c-2147483647
#   transaction of d-, e-, f-: d-2147483647 e--2147483648 f--2147483647
#   transaction of g-, h-, i-: g-2147483647 h--2147483648 i--2147483647
#   pzxid is the czxid of the first, though 8 more were made: True
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch python3-kazoo=2.8.0-2 python3-six=1.16.0-4
mkdir -p "$tmp/data/version-2"
run_python >"$tmp/data/version-2/log.1" <<'PYTHON'
import struct, sys, zlib

def text(words):
    return struct.pack(">i", len(words)) + words

def create(zxid, path, children_so_far):
    body = struct.pack(">qiqqi", 1, zxid, zxid, 1700000000000, 1)  # session, request, zxid, time, create
    body += text(path) + text(b"") + struct.pack(">ii", 1, 31) + text(b"world") + text(b"anyone")
    body += struct.pack(">?i", False, children_so_far)
    return struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B"

log = struct.pack(">4siq", b"ZKLG", 2, 0) + create(1, b"/queue", 1) + create(2, b"/queue/old", 2 ** 31 - 2)
sys.stdout.buffer.write(log)
PYTHON
start_zookeeper snapshot.trust.empty=true
seen=$(run_python "$servers" <<'PYTHON'
import sys
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError

zk = KazooClient(hosts=sys.argv[1])
zk.start()
made = []
for prefix in "a-", "a-", "a-", "b-", "c-":
    try:
        made.append(zk.create("/queue/" + prefix, sequence=True))
        print("create %s: %s" % (prefix, made[-1].split("/")[-1]))
    except NodeExistsError:
        print("create %s: node exists" % prefix)
for prefixes in ("d-", "e-", "f-"), ("g-", "h-", "i-"):
    transaction = zk.transaction()
    for prefix in prefixes:
        transaction.create("/queue/" + prefix, sequence=True)
    names = transaction.commit()
    made += names
    print("transaction of %s: %s" % (", ".join(prefixes), " ".join(name.split("/")[-1] for name in names)))
stuck = zk.get("/queue")[1].pzxid == zk.get(made[0])[1].czxid
print("pzxid is the czxid of the first, though %d more were made: %s" % (len(made) - 2, stuck))
zk.stop()
PYTHON
)
same "$seen" <<'EXPECTED'
create a-: a-2147483646
create a-: a-2147483647
create a-: node exists
create b-: b-2147483647
create c-: c-2147483647
transaction of d-, e-, f-: d-2147483647 e--2147483648 f--2147483647
transaction of g-, h-, i-: g-2147483647 h--2147483648 i--2147483647
pzxid is the czxid of the first, though 8 more were made: True
EXPECTED
