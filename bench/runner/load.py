# SPDX-License-Identifier: Apache-2.0
"""Processor time: of processes of ours, and of everybody else on the machine."""
import contextlib
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Seconds that a process has used; 0 when it is gone."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # its CPU clock, see clock_getcpuclockid(3)
    except OSError:
        return 0.0


def resident_of(pid):
    """Bytes of memory of a process."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def busy():
    """Seconds that all processors were not idle, steal by other machines included."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / TICK


@contextlib.contextmanager
def apart(servers, clients):
    """Meanwhile the servers have the first processor, and the clients the others."""
    all_of_them = os.sched_getaffinity(0)
    first = {min(all_of_them)}
    for pid in servers:
        place(pid, first)
    for pid in clients:
        place(pid, all_of_them - first or first)
    try:
        yield
    finally:
        for pid in servers + clients:
            place(pid, all_of_them)


def place(pid, processors):
    """All threads of a process; those to come are like the one that makes them."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), processors)


class Watch:
    """How much of the processors others used, between start and end."""

    def __init__(self, pids):
        self.pids = list(pids)
        self.begin = self.read()

    def read(self):
        return time.monotonic(), busy(), sum(cpu_of(pid) for pid in self.pids)

    def foreign(self):
        """Processors that others kept busy on average: 0.1 is a tenth of one."""
        span, total, ours = (b - a for a, b in zip(self.begin, self.read()))
        # What interrupts cost on our behalf is nobody's process: a tenth of ours is let pass.
        return max(0.0, total - ours * 1.1) / max(span, 1e-3)
