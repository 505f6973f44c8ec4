# SPDX-License-Identifier: Apache-2.0
"""kazoo under remote control, see peer.h. Argument: servers."""
import logging
import os
import sys
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

# As in docs/interop.md: a lock whose nodes have Curator's names.
from kazoo.recipe.lock import Lock


class CuratorLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class Peer:
    client = path = kind = lock = None

    def begin(self, number, path, session_ms):
        self.end()
        self.path = path
        self.client = KazooClient(sys.argv[1], timeout=int(session_ms) / 1000)
        self.client.start(timeout=30)
        return "ready " + number

    def end(self):
        if self.client:
            self.client.stop()
            self.client.close()
        self.client = None
        return "ok"

    def make(self):
        """Returns a plain lock, the subclass, or a lock with Curator's names as extra patterns."""
        if self.kind == "subclass":
            return CuratorLock(self.client, self.path)
        if self.kind == "patterns":
            return Lock(self.client, self.path, extra_lock_patterns=["-lock-"])
        return Lock(self.client, self.path)

    def kind_of_lock(self, kind):
        self.kind = kind
        return "ok"

    def acquire(self, ms):
        self.lock = self.make()
        try:
            return str(self.lock.acquire(timeout=int(ms) / 1000)).lower()
        except LockTimeout:
            return "false"

    def release(self):
        return "ok" if self.lock.release() else "error"

    def add(self, name):
        with open(name) as f:
            n = int(f.read())
        time.sleep(0.001)  # for others to come between
        with open(name, "w") as f:
            f.write(f"{n + 1}\n")
        return "ok"

    def soak(self, name):
        count = 0
        while not os.path.exists(name + "-end"):
            if self.acquire(60000) != "true":
                return "error"
            self.add(name)
            self.release()
            count += 1
        return count


logging.disable(logging.CRITICAL)
peer = Peer()
words = {"lock": peer.kind_of_lock}
for line in sys.stdin:
    word, *rest = line.split()
    print(words.get(word) and words[word](*rest) or getattr(peer, word)(*rest), flush=True)
peer.end()
