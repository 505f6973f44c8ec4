# SPDX-License-Identifier: Apache-2.0
"""The processes that the runner starts, talks to line by line, and ends."""
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)
started = []


class Failed(Exception):
    """A process has ended or does not answer."""


def die_with_us():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A process that writes its errors to a file, and dies with the runner."""

    def __init__(self, argv, log, executable=None, env=None):
        with open(log, "ab") as errors:
            self.popen = subprocess.Popen(
                argv, executable=executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors, preexec_fn=die_with_us, env={**os.environ, **(env or {})})
        self.name = os.path.basename(argv[0])
        self.log = log
        self.rest = b""
        started.append(self)

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def say(self, line):
        try:
            self.popen.stdin.write(line.encode() + b"\n")
            self.popen.stdin.flush()
        except OSError as error:
            raise Failed(self.how_it_ended()) from error

    def hear(self, seconds):
        """Returns the next line."""
        end = time.monotonic() + seconds
        descriptor = self.popen.stdout.fileno()
        chunks = [self.rest]
        while b"\n" not in chunks[-1]:
            left = end - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise Failed(f"{self.name} says nothing for {seconds:.0f} s{self.last_words()}")
            chunks.append(os.read(descriptor, 1 << 20))
            if not chunks[-1]:
                raise Failed(self.how_it_ended())
        line, _, self.rest = b"".join(chunks).partition(b"\n")
        return line.decode()

    def ask(self, line, seconds):
        self.say(line)
        return self.hear_json(seconds)

    def hear_json(self, seconds):
        line = self.hear(seconds)
        try:
            return json.loads(line)
        except ValueError as error:
            raise Failed(f"{self.name} says {line[:80]}") from error

    def how_it_ended(self):
        try:
            status = self.popen.wait(1)
        except subprocess.TimeoutExpired:
            return f"{self.name} says nothing more{self.last_words()}"
        return f"{self.name} has ended, status {status}{self.last_words()}"

    def last_words(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
        except OSError:
            lines = []
        return ": " + lines[-1][:200] if lines else ""

    def kill(self):
        if self.alive():
            self.popen.kill()
        self.popen.wait()


def end_all(processes, patience=5):
    """Ends the processes: by closing their input, then by SIGTERM, then by SIGKILL."""
    processes = list(processes)
    for process in processes:
        try:
            process.popen.stdin.close()
        except OSError:
            pass
    for number, seconds in ((None, patience), (signal.SIGTERM, patience), (signal.SIGKILL, 5)):
        end = time.monotonic() + seconds
        for process in processes:
            if number and process.alive():
                process.popen.send_signal(number)
        for process in processes:
            try:
                process.popen.wait(max(0.01, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
    for process in processes:
        process.popen.stdout.close()
        if process in started:
            started.remove(process)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_port(process, port, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            pass
        if not process.alive():
            break
        time.sleep(0.05)
    raise Failed(f"{process.name} does not serve{process.last_words()}")
