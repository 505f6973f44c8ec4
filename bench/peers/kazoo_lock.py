# SPDX-License-Identifier: Apache-2.0
"""kazoo's Lock. The contract is in ../README.md."""
import json
import sys
import threading
import time

from kazoo.client import KazooClient

MOST_GRANTS = 20000

options = dict(argument.split("=", 1) for argument in sys.argv[1:])
now = time.monotonic_ns


def number(name, otherwise):
    return int(options.get(name, otherwise))


def open_client():
    client = KazooClient(hosts=options["servers"], timeout=number("ttl_ms", 10000) / 1000)
    client.start(timeout=15)
    return client


def be_busy():
    until = now() + number("hold_us", 0) * 1000
    while now() < until:
        pass


class Round:
    """One round, in which all contenders work at the same time."""

    def __init__(self, work, seconds):
        self.work = work
        self.begun = now()
        self.until = self.begun + int(seconds * 1e9)
        self.grants = [[] for _ in locks]

    def take_turn(self, lock, grants):
        asked = now()
        got = lock.acquire(blocking=self.work != "try")
        granted = now()
        released = 0
        if got:
            be_busy()
            released = now()
            lock.release()
        grants += (asked, granted, released)

    def contend(self, i):
        grants = self.grants[i]
        self.take_turn(locks[i], grants)
        while self.work != "once" and now() < self.until and len(grants) < 3 * MOST_GRANTS:
            self.take_turn(locks[i], grants)
        if len(grants) == 3 * MOST_GRANTS:
            self.until = min(self.until, now())

    def run(self):
        threads = [threading.Thread(target=self.contend, args=[i]) for i in range(len(locks))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        to = now() if self.work == "once" else self.until
        return {"from": self.begun, "to": to, "grants": self.grants}


def obey(command, seconds=0.0):
    if command == "hold":
        locks[0].acquire()
        return {"at": now()}
    if command == "release":
        before = now()
        locks[0].release()
        return {"at": before}
    return Round(command, float(seconds)).run()


clients = [open_client() for _ in range(number("sessions", 1))]
locks = []
for session in clients:
    for _ in range(number("threads", 1)):
        which = (number("first", 0) + len(locks)) % number("locks", 1)
        locks.append(session.Lock(f"{options['path']}-{which}", "bench"))
        session.ensure_path(f"{options['path']}-{which}")
threading.stack_size(256 * 1024)
print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(obey(*line.split()), separators=(",", ":")), flush=True)
for session in clients:
    session.stop()
