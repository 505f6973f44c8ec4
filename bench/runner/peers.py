# SPDX-License-Identifier: Apache-2.0
"""The peers: how a driver is built and started, and what the lock promises."""
import dataclasses
import os
import shutil
import subprocess

from .servers import JARS, missing

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers")
CURATOR_JARS = [JARS + name + ".jar" for name in (
    "curator-recipes", "curator-framework", "curator-client", "zookeeper", "zookeeper-jute",
    "guava", "slf4j-nop")]
GO_SOURCES = "/usr/share/gocode"


@dataclasses.dataclass(eq=False)
class Peer:
    key: str
    name: str
    servers: str  # kind of servers
    command: list  # of the driver; {build} is replaced by the directory of the programs
    needs: list  # required programs and files; the first missing one is reported
    make: object = None  # function that builds the driver
    works: tuple = ("cycle", "once", "try", "hold")
    locks: tuple = ("mutex",)  # supported kinds of locks
    settings: tuple = ()  # arguments of the driver
    alone: bool = False  # not a lock: the lower bound
    asked_for: bool = False  # measured only with --peer
    warm: float = 0.3  # seconds of warm-up
    jit: bool = False  # each process starts cold and compiles its code while it runs
    most_waiters: int = 100
    survives: str = ""  # whether it survives the loss of one server of three
    fair: str = ""
    fencing: str = ""
    loss: str = ""  # whether a holder learns in time that it has lost the lock
    note: str = ""

    def warm_for(self, processes):
        """Returns the seconds of warm-up for this many processes on these processors."""
        return min(20.0, self.warm * max(1, processes / os.cpu_count())) if self.jit else self.warm

    def argv(self, build):
        return [word.format(build=build) for word in self.command]

    def what_is_missing(self, build):
        """Returns what is missing, or None if the peer can be measured."""
        lacks = missing(self.servers)
        if lacks:
            return lacks
        for need in self.needs:
            need = need.format(build=build)
            if not (os.path.exists(need) if "/" in need else shutil.which(need)):
                return need
        if self.make:
            return self.make(build)
        program = self.argv(build)[0]
        return None if shutil.which(program) else f"its driver, {os.path.basename(program)}"


def newer(target, sources):
    return os.path.exists(target) and all(
        os.path.getmtime(target) >= os.path.getmtime(source) for source in sources)


def built(command, **more):
    """Returns None, or why the build failed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    return None if done.returncode == 0 else f"{command[0]}: {done.stderr.strip()[-200:]}"


def make_java(build):
    sources = [os.path.join(HERE, name) for name in ("Curator.java", "CuratorLock.java")]
    if newer(build + "/java/CuratorLock.class", sources):
        return None
    return built(["javac", "-d", build + "/java", "-cp", ":".join(CURATOR_JARS), *sources])


def go_maker(name):
    def make(build):
        source, place = os.path.join(HERE, name), os.path.join(build, "go", "src", "golock")
        target = os.path.join(build, name)
        shared = os.path.join(HERE, "golock")
        if newer(target, [os.path.join(source, "main.go"), os.path.join(shared, "contract.go")]):
            return None
        shutil.copytree(shared, place, dirs_exist_ok=True)
        print(f"bench: {name} is built; the first time takes a while", flush=True)
        return built(["/usr/bin/go", "build", "-o", target, "."], cwd=source, env={
            "PATH": os.environ["PATH"], "HOME": build, "GO111MODULE": "off", "GOFLAGS": "",
            "GOPATH": build + "/go:" + GO_SOURCES, "GOCACHE": build + "/gocache"})
    return make


def java(main):
    return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
            "{build}/java:" + ":".join(CURATOR_JARS), main]


QUORUM, SINGLE = "yes", "no"
PEERS = [
    Peer("zkr", "zkrecipes", "zookeeper", ["{build}/zkr-bench"], [],
         works=("cycle", "once", "try", "hold", "lead"), most_waiters=5000,
         locks=("mutex", "rw", "semaphore"),
         survives=QUORUM, fair="yes", fencing="yes", loss="yes"),
    Peer("never-ahead", "zkrecipes, look_ahead -1", "zookeeper", ["{build}/zkr-bench"], [],
         settings=("kind=never_ahead",), works=("cycle",), asked_for=True,
         survives=QUORUM, fair="yes", fencing="yes", loss="yes"),
    Peer("always-ahead", "zkrecipes, look_ahead 1", "zookeeper", ["{build}/zkr-bench"], [],
         settings=("kind=always_ahead",), works=("cycle",), asked_for=True,
         survives=QUORUM, fair="yes", fencing="yes", loss="yes"),
    Peer("nearby", "zkrecipes, nearby", "zookeeper", ["{build}/zkr-bench"], [],
         settings=("kind=nearby",), works=("cycle",), asked_for=True,
         survives=QUORUM, fair="yes", fencing="yes", loss="yes"),
    Peer("keeper", "zkrecipes, keep_ms 100", "zookeeper", ["{build}/zkr-bench"], [],
         settings=("kind=keeper",), works=("cycle",), asked_for=True,
         survives=QUORUM, fair="within a client", fencing="with pass", loss="yes"),
    Peer("guarded", "zkrecipes, guardian", "zookeeper", ["{build}/zkr-bench"], [],
         settings=("kind=guarded",), works=("die",),
         survives=QUORUM, fair="yes", fencing="yes", loss="yes",
         note="as above, but a separate process ends the session of a killed holder"),
    Peer("zkr-lock", "zkr lock", "zookeeper", ["{build}/../tools/zkr"], [], works=("die",),
         survives=QUORUM, fair="yes", fencing="yes", loss="yes",
         note="as above, with a command under the lock, which is dead before the next command starts"),
    Peer("floor", "create, delete", "zookeeper", ["{build}/floor"], [], works=("cycle",),
         alone=True, survives="–", fair="–", fencing="–", loss="–",
         note="no lock, only two requests, one after another"),
    Peer("curator", "Curator 5.4", "zookeeper", java("Curator"),
         ["javac", *CURATOR_JARS], make_java,
         works=("cycle", "once", "try", "hold", "lead"), warm=2.0, jit=True, most_waiters=1000,
         locks=("mutex", "rw", "semaphore"),
         survives=QUORUM, fair="yes", fencing="no", loss="by a connection listener",
         note="its virtual machine compiles only once, which is better for short runs"),
    Peer("gozk", "go-zookeeper", "zookeeper", ["{build}/gozk"],
         ["/usr/bin/go", GO_SOURCES + "/src/github.com/samuel/go-zookeeper/zk"],
         go_maker("gozk"), works=("cycle", "once", "hold"), most_waiters=5000,
         survives=QUORUM, fair="yes", fencing="no", loss="no",
         note="its lock has no try"),
    Peer("kazoo", "kazoo 2.8", "zookeeper", ["/usr/bin/python3", HERE + "/kazoo_lock.py"],
         ["/usr/bin/python3", "/usr/lib/python3/dist-packages/kazoo/client.py"], warm=0.5,
         most_waiters=1000,
         survives=QUORUM, fair="yes", fencing="no", loss="by a connection listener"),
    Peer("etcd", "etcd 3.4", "etcd", ["{build}/goetcd"],
         ["/usr/bin/go", GO_SOURCES + "/src/go.etcd.io/etcd/clientv3/concurrency/mutex.go"],
         go_maker("goetcd"), works=("cycle", "once", "hold"), most_waiters=1000,
         survives=QUORUM, fair="yes", fencing="yes", loss="a channel, by the lease",
         note="its lock has no try before 3.5; each contender has its own lease; a watch that "
              "begins in the past, as its lock's do, is served every 100 ms"),
    Peer("redis", "Redis SET NX PX", "redis", ["{build}/redis"], [],
         survives=SINGLE, fair="no", fencing="no", loss="no",
         note="a contender that finds the lock held tries again after 100 ms; not on disk"),
    Peer("redlock", "Redlock, 3 servers", "redis3", ["{build}/redis"], [],
         survives="yes, if clocks stay in step", fair="no", fencing="no", loss="by TTL and clocks",
         note="as above, after 50 to 150 ms"),
    Peer("getlock", "MariaDB GET_LOCK", "mariadb", ["{build}/mariadb"], [],
         settings=("kind=get_lock",), survives=SINGLE, fair="not promised", fencing="no",
         loss="no", note="a connection for each contender"),
    Peer("forupdate", "MariaDB FOR UPDATE", "mariadb", ["{build}/mariadb"], [],
         settings=("kind=for_update",), survives=SINGLE, fair="not promised", fencing="no",
         loss="in the transaction", note="a connection for each contender"),
    Peer("flock", "flock(2)", "files", ["{build}/flock"], [], survives="one host", fair="no",
         fencing="no", loss="cannot be lost", note="one host and one kernel, as a reference"),
]
