#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# kazoo 2.8.0-2 (Debian 12): Lock.acquire(timeout=T) does not return within T, and Lock.cancel() cancels later calls.
#
# The timeout starts anew each time the waiter wakes up. The waiter wakes up when the contender before it leaves,
# whether or not the waiter then holds the lock. In a queue whose waiters give up one after another, acquire() returns T
# after the last of them. cancel() sets a flag that only a failing acquire() clears. If cancel() is called while no
# thread waits, or by mistake after the lock was acquired, the next acquire() raises CancelledError, although the lock
# is free.
#
#   acquire(timeout=2) behind 4 waiters that go 1 s apart: LockTimeout, after less than 3 s: False
#   cancel() with nobody waiting, then acquire(): CancelledError
#   acquire() again: True
#   cancel() of the held lock, release(), then acquire(): CancelledError
set -eu
# shellcheck source=findings/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"

fetch python3-kazoo=2.8.0-2 python3-six=1.16.0-4
start_zookeeper maxClientCnxns=0
seen=$(run_python "$servers" <<'PYTHON'
import sys, threading, time
from kazoo.client import KazooClient
from kazoo.exceptions import CancelledError, LockTimeout

zk = KazooClient(hosts=sys.argv[1])
zk.start()

def acquire(lock, **options):
    try:
        return lock.acquire(**options)
    except (CancelledError, LockTimeout) as error:
        return type(error).__name__

zk.create("/busy")
queue = [zk.create("/busy/%032x__lock__" % i, sequence=True, ephemeral=True) for i in range(5)]

def give_up():
    for node in reversed(queue[1:]):
        time.sleep(1)
        zk.delete(node)

thread = threading.Thread(target=give_up)
start = time.monotonic()
thread.start()
result = acquire(zk.Lock("/busy"), timeout=2)
print("acquire(timeout=2) behind 4 waiters that go 1 s apart: %s, after less than 3 s: %s"
      % (result, time.monotonic() - start < 3))
thread.join()

lock = zk.Lock("/free")
lock.cancel()
print("cancel() with nobody waiting, then acquire():", acquire(lock))
print("acquire() again:", acquire(lock))
lock.cancel()
lock.release()
print("cancel() of the held lock, release(), then acquire():", acquire(lock))
zk.stop()
PYTHON
)
same "$seen" <<'EXPECTED'
acquire(timeout=2) behind 4 waiters that go 1 s apart: LockTimeout, after less than 3 s: False
cancel() with nobody waiting, then acquire(): CancelledError
acquire() again: True
cancel() of the held lock, release(), then acquire(): CancelledError
EXPECTED
