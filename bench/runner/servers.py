# SPDX-License-Identifier: Apache-2.0
"""Private servers on free ports of 127.0.0.1, with their data in a directory of the run."""
import os
import shutil
import socket
import time

from .processes import Failed, Process, await_port, end_all, free_port

JARS = "/usr/share/java/"


class Servers:
    """Servers of one kind. Clients connect to .address; .processes are measured."""

    def __init__(self, room, name):
        self.dir = os.path.join(room, name)
        os.makedirs(self.dir, exist_ok=True)
        self.log = os.path.join(room, name + ".log")
        self.processes = []
        self.address = None
        self.ports = []

    def spawn(self, *argv, **more):
        process = Process([str(word) for word in argv], self.log, **more)
        self.processes.append(process)
        return process

    def await_all(self):
        for process, port in zip(self.processes, self.ports):
            await_port(process, port)
        time.sleep(0.2)  # a server whose port is taken reports that and ends
        for process in self.processes:
            if not process.alive():
                raise Failed(f"{process.name} has ended{process.last_words()}")
        self.address = ",".join(f"127.0.0.1:{port}" for port in self.ports)

    def ready(self):
        """Waits, after await_all(), until the servers work."""

    def traffic(self):
        """Returns the packets received and sent so far, including pings and events, or None if unknown."""


class ZooKeeper(Servers):
    """The heap is so large that garbage collection has no effect. All other settings are an operator's."""

    def __init__(self, room, count):
        super().__init__(room, "zookeeper")
        self.ports = [free_port() for _ in range(count)]
        lines = ["tickTime=2000", "initLimit=10", "syncLimit=5", "clientPortAddress=127.0.0.1",
                 "maxClientCnxns=0", "admin.enableServer=false", "4lw.commands.whitelist=*"]
        if count > 1:
            lines += [f"server.{i}=127.0.0.1:{free_port()}:{free_port()}"
                      for i in range(1, count + 1)]
        for i, port in enumerate(self.ports, 1):
            data = os.path.join(self.dir, str(i))
            os.makedirs(data)
            with open(os.path.join(data, "myid"), "w", encoding="ascii") as file:
                file.write(f"{i}\n")
            config = os.path.join(data, "zoo.cfg")
            with open(config, "w", encoding="ascii") as file:
                file.write("\n".join([*lines, f"dataDir={data}", f"clientPort={port}", ""]))
            main = "quorum.QuorumPeerMain" if count > 1 else "ZooKeeperServerMain"
            self.spawn("java", "-cp", f"{JARS}zookeeper.jar:{JARS}slf4j-simple.jar",
                       "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Xmx512m",
                       "-XX:+UseSerialGC", "-Dzookeeper.admin.enableServer=false",
                       f"org.apache.zookeeper.server.{main}", config)

    def monitor(self, port):
        with socket.create_connection(("127.0.0.1", port), 2) as one:
            one.settimeout(5)
            one.sendall(b"mntr")
            text = b""
            while chunk := one.recv(65536):
                text += chunk
        return dict(line.split("\t", 1) for line in text.decode().splitlines() if "\t" in line)

    def traffic(self):
        told = [self.monitor(port) for port in self.ports]
        return [sum(int(each["zk_packets_" + way]) for each in told)
                for way in ("received", "sent")]

    def packets(self):
        """Returns the requests and pings received so far."""
        return self.traffic()[0]

    def ready(self):
        end = time.monotonic() + 30
        while not all("zk_version" in self.monitor(port) for port in self.ports):
            if time.monotonic() > end:
                raise Failed("ZooKeeper does not serve")
            time.sleep(0.1)


class Redis(Servers):
    """Default settings, except that nothing is saved to disk."""

    def __init__(self, room, count):
        super().__init__(room, f"redis{count}")
        self.ports = [free_port() for _ in range(count)]
        # redis-tools installs the server under another name. The program acts according to its argv[0].
        program = shutil.which("redis-server") or shutil.which("redis-check-rdb")
        for port in self.ports:
            self.spawn("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                       "--dir", self.dir, "--logfile", self.log, executable=program)


class Etcd(Servers):
    def __init__(self, room, count):
        super().__init__(room, "etcd")
        self.ports = [free_port() for _ in range(count)]
        peers = [free_port() for _ in range(count)]
        cluster = ",".join(f"n{i}=http://127.0.0.1:{port}" for i, port in enumerate(peers))
        for i, (port, peer) in enumerate(zip(self.ports, peers)):
            client = f"http://127.0.0.1:{port}"
            self.spawn("etcd", "--name", f"n{i}", "--data-dir", os.path.join(self.dir, str(i)),
                       "--listen-client-urls", client, "--advertise-client-urls", client,
                       "--listen-peer-urls", f"http://127.0.0.1:{peer}",
                       "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
                       "--initial-cluster", cluster, "--log-level", "error",
                       env={"ETCD_UNSUPPORTED_ARCH": "arm64"} if os.uname().machine == "aarch64"
                       else None)


class MariaDB(Servers):
    """Without user tables, because it is private."""

    def __init__(self, room, _count):
        super().__init__(room, "mariadb")
        self.ports = [free_port()]
        os.makedirs(os.path.join(self.dir, "bench"))
        self.spawn("mariadbd", "--no-defaults", f"--datadir={self.dir}", "--skip-grant-tables",
                   "--bind-address=127.0.0.1", f"--port={self.ports[0]}", "--skip-log-bin",
                   f"--socket={self.dir}/socket", f"--pid-file={self.dir}/pid",
                   f"--log-error={self.log}", "--max-connections=400",
                   *(["--user=root"] if os.getuid() == 0 else []))


class Nowhere(Servers):
    """The directory for locks on files."""

    def __init__(self, room, _count):
        super().__init__(room, "files")
        self.address = self.dir

    def await_all(self):
        pass


class Proxy:
    """Delays all traffic to the servers, and counts bytes."""

    def __init__(self, program, servers, delay_ms, log):
        self.process = Process([program, str(delay_ms), *servers.address.split(",")], log)
        self.address = self.process.hear(10)

    def bytes(self):
        self.process.say("")
        return int(self.process.hear(10))

    def end(self):
        end_all([self.process])


KINDS = {
    "zookeeper": (ZooKeeper, ["java"], [JARS + "zookeeper.jar", JARS + "slf4j-simple.jar"]),
    "redis": (lambda room, count: Redis(room, 1), ["redis-check-rdb"], []),
    "redis3": (lambda room, count: Redis(room, 3), ["redis-check-rdb"], []),
    "etcd": (Etcd, ["etcd"], []),
    "mariadb": (MariaDB, ["mariadbd"], []),
    "files": (Nowhere, [], []),
}


def missing(kind):
    """Returns the first missing program or file for servers of this kind, or None."""
    _, programs, files = KINDS[kind]
    return next((p for p in programs if not shutil.which(p)), None) or \
        next((f for f in files if not os.path.exists(f)), None)


def start(kinds, room, count):
    """Starts all kinds at once; returns them by kind. If a port was taken meanwhile, tries again with others."""
    all_of_them = {kind: KINDS[kind][0](room, count) for kind in kinds}
    for kind in kinds:
        for attempt in range(3):
            try:
                all_of_them[kind].await_all()
                all_of_them[kind].ready()
                break
            except (Failed, OSError):
                if attempt == 2:
                    raise
                end_all(all_of_them[kind].processes)
                shutil.rmtree(all_of_them[kind].dir)
                all_of_them[kind] = KINDS[kind][0](room, count)
    return all_of_them
