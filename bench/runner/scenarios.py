# SPDX-License-Identifier: Apache-2.0
"""The scenarios to measure."""
import dataclasses

from . import figures


@dataclasses.dataclass(eq=False)
class Scenario:
    key: str
    title: str
    kind: str = "cycle"  # function of measure.py
    lock: str = "mutex"  # mutex, rw (one in eight contenders writes) or semaphore
    permits: int = 1
    processes: int = 1
    sessions: int = 1  # sessions of each process
    threads: int = 1  # threads of each session
    own: bool = False  # each contender has its own lock
    apart: bool = False  # servers run on one processor, clients on the others
    hold_us: int = 20  # how long each holder is busy
    delay_ms: int = 0
    quick: bool = False  # part of --quick
    count: int = 0  # waiters to drain; units of the stock
    ttl_ms: int = 4000  # of leases, for failover
    targets: dict = dataclasses.field(default_factory=dict)  # by peer: how many times as fast, at least

    @property
    def contenders(self):
        return self.processes * self.sessions * self.threads

    @property
    def rule(self):
        return {"mutex": figures.MUTEX, "rw": figures.READ_WRITE,
                "semaphore": figures.semaphore(self.permits)}[self.lock]

    @property
    def locks(self):
        return self.contenders if self.own else 1


def drain(count, **targets):
    return Scenario(f"drain{count}", f"drain of {count} waiters, 2 processes, 10 sessions",
                    "drain", processes=2, sessions=5, threads=count // 10, hold_us=0, count=count, targets=targets)


# The most important scenarios come first, because the rest is omitted when the time is over.
SCENARIOS = [
    Scenario("free", "free lock", own=True, hold_us=0, quick=True,
             targets={"curator": 2, "gozk": 1.8, "floor": 1.4}),
    Scenario("processes8", "8 processes, one lock", processes=8, quick=True,
             targets={"gozk": 1.2}),
    Scenario("threads8", "8 threads of one session, one lock", threads=8, quick=True,
             targets={"gozk": 2.8}),
    Scenario("failover", "fail-over of a holder or leader, leases of 4 s", "failover",
             quick=True),
    Scenario("failover30", "fail-over of a holder or leader, leases of 30 s", "failover",
             ttl_ms=30000),
    Scenario("command", "a command under a lock, free and with 8 contenders", "command", quick=True),
    Scenario("free5ms", "free lock, 5 ms to the servers one way", own=True, hold_us=0,
             delay_ms=5, quick=True),
    Scenario("processes2", "2 processes, one lock", processes=2),
    Scenario("processes32", "32 processes, one lock", processes=32),
    drain(100),
    drain(1000, gozk=1.1),
    drain(5000, gozk=1.2),
    Scenario("many", "eight locks of one session, one thread for each", threads=8, own=True,
             hold_us=0, targets={"curator": 1.3, "gozk": 1.3}),
    Scenario("sessions8", "8 sessions of one process, one lock", sessions=8,
             targets={"gozk": 1.1}),
    Scenario("processes8-apart", "8 processes, one lock, the server on a separate processor",
             processes=8, apart=True, targets={"gozk": 1.1}),
    Scenario("sessions8-apart", "8 sessions of one process, one lock, the server on a separate processor",
             sessions=8, apart=True, targets={"gozk": 1.1}),
    Scenario("processes8-1ms", "8 processes, one lock, 1 ms to the servers one way", processes=8,
             delay_ms=1, targets={"gozk": 1.8}),
    Scenario("processes8-5ms", "8 processes, one lock, 5 ms to the servers one way", processes=8,
             delay_ms=5, quick=True, targets={"gozk": 1.9}),
    Scenario("sessions8-5ms", "8 sessions of one process, one lock, 5 ms to the servers one way",
             sessions=8, delay_ms=5, targets={"gozk": 1.9}),
    Scenario("stock", "a stock of 100 sold by 30 clients, one at a time", "stock",
             processes=6, sessions=5, count=100),
    Scenario("rw", "a read-write lock, 7 processes read and 1 writes", lock="rw", processes=8),
    Scenario("semaphore", "a semaphore with 3 permits and 8 processes", lock="semaphore", permits=3,
             processes=8),
    Scenario("try", "a try on a held lock", "try"),
    Scenario("idle", "an idle holder, leases of 10 s", "idle"),
]
