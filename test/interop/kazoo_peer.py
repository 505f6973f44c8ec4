# SPDX-License-Identifier: Apache-2.0
"""kazoo under remote control: a line in, a line out. Arguments: servers, path."""
import logging
import sys

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout
from kazoo.recipe.lock import Lock


class CuratorLock(Lock):
    """As the README has it: nodes with Curator's names."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def make(kind):
    """A lock as it comes, the subclass, or one that is told of Curator's names."""
    if kind == "subclass":
        return CuratorLock(client, path)
    if kind == "patterns":
        return Lock(client, path, extra_lock_patterns=["-lock-"])
    return Lock(client, path)


def acquire(timeout_ms):
    try:
        return lock.acquire(timeout=timeout_ms / 1000)
    except LockTimeout:
        return False


logging.disable(logging.CRITICAL)
servers, path = sys.argv[1:3]
client = KazooClient(servers, timeout=10)
client.start(timeout=30)
lock = None
print("ready", flush=True)
for line in sys.stdin:
    word = line.split()
    if word[0] == "kind":
        lock = make(word[1])
        print("ok", flush=True)
    elif word[0] == "acquire":
        print("true" if acquire(int(word[1])) else "false", flush=True)
    elif word[0] == "release":
        lock.release()
        print("ok", flush=True)
client.stop()
