# SPDX-License-Identifier: Apache-2.0
"""test_dashboard.py ZKR PROMETHEUS: every query of the dashboard and of the alerts, by a real Prometheus that reads the
file of a real zkr lock --stats on the server in $ZKR_SERVERS. A query without a series fails."""
import json
import os
import re
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import lab  # noqa: E402

SHIPPED = os.path.join(HERE, "..", "..", "tools", "monitoring")
RULES = os.path.abspath(os.path.join(SHIPPED, "zkrecipes.rules.yml"))
ZKR, PROMETHEUS = sys.argv[1:3]
with open(os.path.join(SHIPPED, "dashboard.json"), encoding="utf-8") as shipped:
    DASHBOARD = json.load(shipped)


def as_grafana_sends(query):
    """With the variables replaced; all paths are chosen."""
    return query.replace("$path", ".*").replace("$__rate_interval", "5m").replace("$__range", "5m")


class DashboardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room = tempfile.TemporaryDirectory()
        cls.addClassCleanup(room.cleanup)
        cls.since = time.time()
        cls.prometheus = lab.Prometheus(PROMETHEUS, room.name, ["db1"], RULES)
        cls.addClassCleanup(cls.prometheus.end)
        path = f"/monitoring/{os.getpid()}"
        other = lab.Holder(ZKR, path)
        cls.addClassCleanup(other.end)
        other.await_hold()
        holder = lab.Holder(ZKR, path, room.name, "db1")
        cls.addClassCleanup(holder.end)
        lab.soon(lambda: cls.prometheus.holds("zkr_waiting == 1"))
        other.let_go()
        holder.await_hold()
        lab.soon(lambda: cls.prometheus.holds("zkr_held == 1 and zkr_lease_bound_seconds > 0 and "
                                              "zkr_probe_round_trip_seconds_count > 0"))
        cls.status = holder.let_go()
        # Waits until this was visible for two seconds, so that several steps of the range see it.
        lab.soon(lambda: cls.prometheus.holds("sum_over_time(zkr_hold_seconds_count[1m:250ms]) >= 8"))

    def test_every_query_of_a_panel_has_a_series(self):
        self.assertEqual(self.status, 0)
        for panel in DASHBOARD["panels"]:
            for target in panel["targets"]:
                with self.subTest(panel["title"], query=target["expr"]):
                    self.assertIn('path=~"$path"', target["expr"])
                    self.assertTrue(self.prometheus.series(as_grafana_sends(target["expr"]), self.since, "0.5"))

    def test_the_variable_path_has_values(self):
        query = DASHBOARD["templating"]["list"][1]["definition"]
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", query).groups()
        self.assertTrue(self.prometheus.get(f"label/{label}/values", **{"match[]": metric}))

    def test_every_panel_has_the_chosen_data_source_and_an_id_of_its_own(self):
        chosen = {"type": "prometheus", "uid": "${datasource}"}
        for panel in DASHBOARD["panels"]:
            for where in [panel, *panel["targets"]]:
                self.assertEqual(where["datasource"], chosen)
        ids = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(set(ids)), len(ids))

    def test_the_alerts_run_and_name_metrics_that_zkr_writes(self):
        rules = [rule for group in self.prometheus.get("rules")["groups"] for rule in group["rules"]]
        self.assertEqual(len(rules), 6)
        known = self.prometheus.get("label/__name__/values")
        for rule in rules:
            self.assertEqual(rule.get("lastError", ""), "")
            for metric in re.findall(r"\bzkr_\w+", rule["query"]):
                self.assertIn(metric, known)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
