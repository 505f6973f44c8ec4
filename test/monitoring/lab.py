# SPDX-License-Identifier: Apache-2.0
"""A Prometheus on loopback that reads files of zkr lock --stats, without node_exporter."""
import functools
import http.server
import json
import os
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request

SECONDS = 120  # the longest wait for a condition, on a loaded machine


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".prom": "text/plain; version=0.0.4"}

    def log_message(self, *args):
        pass


def serve(room):
    """Serves the files of this directory, and returns the server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=room))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def soon(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {SECONDS} s")
        time.sleep(0.05)


class Prometheus:
    """Reads NAME.prom of the room for each of the names, as the instance NAME."""

    def __init__(self, program, room, names, rules):
        self.files = serve(room)
        at = f"127.0.0.1:{self.files.server_port}"
        config = {
            "global": {"scrape_interval": "250ms", "scrape_timeout": "250ms", "evaluation_interval": "1s"},
            "rule_files": [rules],
            "scrape_configs": [{"job_name": "node", "static_configs": [
                {"targets": [at], "labels": {"instance": name, "__metrics_path__": f"/{name}.prom"}}
                for name in names]}]}
        path = os.path.join(room, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)  # JSON is YAML, too
        self.log = os.path.join(room, "log")
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={path}", f"--storage.tsdb.path={room}/data",
                 "--web.listen-address=127.0.0.1:0"], stderr=log, stdout=log)
        self.address = None
        soon(self._listens)
        soon(self._is_ready)

    def _listens(self):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8") as log:
                raise RuntimeError(log.read())
        with open(self.log, encoding="utf-8") as log:
            found = re.search(r'"?Listening on"? address=(\S+:[1-9]\d*)', log.read())
        self.address = found and found[1]
        return found

    def _is_ready(self):
        try:
            return self.get("query", query="1")
        except OSError:
            return False

    def get(self, what, **parameters):
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:
            return json.load(answer)["data"]

    def holds(self, query):
        """Whether it has a result now."""
        return bool(self.get("query", query=query)["result"])

    def series(self, query, since, step):
        """(labels, [(time, value)]) of each series since then, without NaN."""
        result = self.get("query_range", query=query, start=since, end=time.time(), step=step)["result"]
        all_of_them = [(each["metric"], [(t, float(v)) for t, v in each["values"] if v != "NaN"]) for each in result]
        return [(labels, points) for labels, points in all_of_them if points]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.files.shutdown()
        self.files.server_close()


class Holder:
    """zkr lock on this path, with the file of this name if there is one, until it is let go."""

    def __init__(self, zkr, path, room=None, name=None):
        stats = ["--stats", os.path.join(room, f"{name}.prom")] if name else []
        self.process = subprocess.Popen([zkr, "lock", *stats, path, "sh", "-c", "echo held; exec cat"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def await_hold(self):
        if self.process.stdout.readline() != "held\n":
            raise RuntimeError("zkr lock does not hold")

    def let_go(self):
        self.process.communicate()
        return self.process.returncode

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.communicate()
