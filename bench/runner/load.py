# SPDX-License-Identifier: Apache-2.0
"""Processor time of our processes and of all other programs on the machine."""
import contextlib
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Returns the seconds that a process has used, or 0 if it has ended."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # its CPU clock, see clock_getcpuclockid(3)
    except OSError:
        return 0.0


def resident_of(pid):
    """Returns the resident memory of a process in bytes."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def busy():
    """Returns the seconds for which the processors were not idle, including steal by other machines."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / TICK


@contextlib.contextmanager
def apart(servers, clients):
    """During the context, the servers run on the first processor and the clients on the others."""
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
    """Places all threads of a process. New threads inherit the placement."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            os.sched_setaffinity(int(thread), processors)


class Watch:
    """Measures how much of the processors other programs use."""

    def __init__(self, pids):
        self.pids = list(pids)
        self.begin = self.read()

    def read(self):
        return time.monotonic(), busy(), sum(cpu_of(pid) for pid in self.pids)

    def foreign(self):
        """Returns how many processors other programs kept busy on average: 0.1 is a tenth of one."""
        span, total, ours = (b - a for a, b in zip(self.begin, self.read()))
        # Interrupts on our behalf belong to no process, so a tenth of our time is allowed for them.
        return max(0.0, total - ours * 1.1) / max(span, 1e-3)
