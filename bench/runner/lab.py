# SPDX-License-Identifier: Apache-2.0
"""Functions that all measurements use: servers, drivers, repeated rounds, and the time limit."""
import os
import random
import time

from . import figures, load
from .processes import Failed, Process, end_all
from .servers import Proxy

DISTURBED = 0.25  # processors that other programs may use during a round
REPEATS = 2  # of a round that other programs disturbed
ALL_REPEATS = 30  # of all rounds of a run


def say(words):
    print("bench: " + words, flush=True)


def await_ready(drivers):
    for driver in drivers:
        if driver.hear(90) != "ready":
            raise Failed(f"{driver.name} is not ready")


class Row:
    """The results of one peer in one scenario."""

    def __init__(self, scenario, peer):
        self.scenario, self.peer = scenario, peer
        self.rounds = []  # of figures.Round
        self.to, self.back = [], []  # packets to and from the servers for each acquire
        self.cpu = []  # microseconds of the clients' processors for each acquire
        self.values = {}  # other figures, by name
        self.left_out = ""  # why it was not measured
        self.void = ""  # why its results do not count
        self.notes = []
        self.disturbed = 0  # number of disturbed rounds

    def give_up(self, why):
        self.void = self.void or why
        say(f"{self.peer.name}, {self.scenario.title}: void: {why}")


class Lab:
    def __init__(self, build, room, seed, seconds, rounds, budget):
        self.build, self.room = build, room
        self.random = random.Random(seed)
        self.seconds, self.rounds = seconds, rounds
        self.deadline = time.monotonic() + budget
        self.servers = {}
        self.proxies = {}
        self.delay_ms = 0  # to and from all servers
        self.serial = 0
        self.repeats_left = ALL_REPEATS

    def time_is_up(self):
        return time.monotonic() > self.deadline

    def address(self, peer, delay_ms=0, counted=False):
        """Returns the address of the peer's servers, or of a proxy if traffic is delayed or counted."""
        servers = self.servers[peer.servers]
        if not (delay_ms or self.delay_ms or counted) or not servers.processes:
            return servers.address
        return self.proxy(peer, delay_ms).address

    def proxy(self, peer, delay_ms=0):
        delay_ms = delay_ms or self.delay_ms
        key = peer.servers, delay_ms
        if key not in self.proxies:
            self.proxies[key] = Proxy(self.build + "/proxy", self.servers[peer.servers],
                                      delay_ms, self.room + "/proxy.log")
        return self.proxies[key]

    def path(self, peer, scenario):
        """Returns the path of a new lock."""
        self.serial += 1
        base = self.servers[peer.servers].address if peer.servers == "files" else ""
        return f"{base}/{scenario.key}-{peer.key}-{self.serial}"

    def driver(self, peer, path, address, **settings):
        words = [f"{name}={value}" for name, value in settings.items()]
        return Process([*peer.argv(self.build), f"servers={address}", f"path={path}", *words,
                        *peer.settings], f"{self.room}/{peer.key}.log")

    def start(self, peer, scenario, path=None, processes=None, **more):
        """Starts the drivers of a scenario. Call await_ready() next."""
        path = path or self.path(peer, scenario)
        address = self.address(peer, scenario.delay_ms, more.pop("counted", False))
        each = scenario.sessions * scenario.threads
        settings = dict(sessions=scenario.sessions, threads=scenario.threads,
                        locks=scenario.locks, hold_us=scenario.hold_us)
        if scenario.lock != "mutex":
            settings.update(lock=scenario.lock, permits=scenario.permits)
        settings.update(more)
        return [self.driver(peer, path, address, first=i * each, **settings)
                for i in range(processes or scenario.processes)]

    def drivers(self, peer, scenario, path=None, processes=None, **more):
        """Starts the drivers, and waits until all are ready."""
        all_of_them = self.start(peer, scenario, path, processes, **more)
        try:
            await_ready(all_of_them)
        except Failed:
            end_all(all_of_them)
            raise
        return all_of_them

    def watch(self, drivers):
        ours = [os.getpid()] + [driver.pid for driver in drivers]
        for servers in self.servers.values():
            ours += [process.pid for process in servers.processes]
        ours += [proxy.process.pid for proxy in self.proxies.values()]
        return load.Watch(ours)

    def undisturbed(self, row, drivers, once):
        """Calls once(), and repeats it if other programs were busy meanwhile, but not for ever."""
        for repeat in range(REPEATS + 1):
            watch = self.watch(drivers)
            result = once()
            foreign = watch.foreign()
            if foreign <= DISTURBED or repeat == REPEATS or self.repeats_left == 0 or \
                    self.time_is_up():
                break
            self.repeats_left -= 1
            say(f"{row.peer.name}: others used {foreign:.1f} processors; the round again" +
                ("" if self.repeats_left else ", for the last time in this run"))
        row.disturbed += foreign > DISTURBED
        return result

    def round(self, row, drivers, seconds):
        """Lets all drivers cycle at the same time."""
        before = sum(load.cpu_of(driver.pid) for driver in drivers)
        for driver in drivers:
            driver.say(f"cycle {seconds}")
        answers = [driver.hear_json(seconds + 60) for driver in drivers]
        spent = sum(load.cpu_of(driver.pid) for driver in drivers) - before
        scenario = row.scenario
        result = figures.judge(answers, scenario.sessions * scenario.threads, scenario.locks,
                               rule=None if row.peer.alone else scenario.rule)
        if result.violations:
            row.give_up(f"held by too many at once, {result.violations} times")
        return result, spent / max(1, len(result.waits)) * 1e6, answers
