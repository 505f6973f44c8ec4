# SPDX-License-Identifier: Apache-2.0
"""Tests the runner of ./run bench with drivers that player.py plays, without servers or real time."""
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "bench"))

from runner import figures, lab, measure, peers, processes, report, scenarios  # noqa: E402


def peer_of(kind, key="it"):
    player = os.path.join(HERE, "player.py")
    return peers.Peer(key, kind, "files", [sys.executable, "-IS", player, kind], [])


class Files:
    """Locks on files, which have no servers."""

    def __init__(self, room):
        self.address, self.processes = room, []
        self.seen = 0

    def traffic(self):
        """Between two queries, a thousand packets arrive and two thousand are sent."""
        self.seen += 1
        return [1000 * self.seen, 2000 * self.seen]


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)
        self.lab = lab.Lab("", self.room.name, 1, 0.01, 2, 60)
        self.lab.servers["files"] = Files(self.room.name)
        self.said, lab.say = lab.say, lambda words: None
        self.watch = lab.load.Watch
        self.addCleanup(self.restore)
        lab.load.Watch = lambda pids: self
        self.foreign = lambda: 0.0

    def restore(self):
        lab.say, lab.load.Watch = self.said, self.watch
        processes.end_all(processes.started)

    def rows(self, *kinds, count=2):
        scenario = scenarios.Scenario("short", "a short one", processes=count)
        return [lab.Row(scenario, peer_of(kind, kind)) for kind in kinds]

    def test_honest_driver_has_its_figures(self):
        row, = self.rows("honest")
        measure.cycle(self.lab, [row])
        self.assertEqual(row.void, "")
        self.assertEqual(len(row.rounds), 2)
        self.assertEqual(row.rounds[0].counts, [100, 100])
        self.assertEqual(row.rounds[0].fairness, 1.0)
        self.assertEqual(set(row.rounds[0].waits), {1})
        self.assertAlmostEqual(row.rounds[0].rate, 200 / 10000e-9)
        self.assertEqual((row.to, row.back), ([5.0] * 2, [10.0] * 2))

    def test_server_and_clients_are_apart_during_a_round(self):
        servers, clients = (processes.Process(["sleep", "60"], os.devnull).pid for _ in range(2))
        before = os.sched_getaffinity(0)
        with lab.load.apart([servers], [clients]):
            self.assertEqual(os.sched_getaffinity(servers), {min(before)})
            self.assertEqual(os.sched_getaffinity(clients), before - {min(before)} or before)
        self.assertEqual([os.sched_getaffinity(pid) for pid in (servers, clients)], [before] * 2)

    def test_whoever_has_a_target_has_more_rounds(self):
        row, = self.rows("honest")
        row.scenario.targets = {"honest": 1}
        measure.cycle(self.lab, [row])
        self.assertEqual(len(row.rounds), 4)

    def test_violation_voids_the_row(self):
        rows = self.rows("liar", "honest")
        measure.cycle(self.lab, rows)
        self.assertIn("held by too many at once", rows[0].void)
        self.assertEqual(rows[1].void, "")
        text = "\n".join(report.scenario_table(rows))
        self.assertRegex(text, r"\| liar \| –.*void.*held by too many at once")
        self.assertIn("| liar | void |", "\n".join(report.summary([self.as_free(rows)], {})))

    def as_free(self, rows):
        for row in rows:
            row.scenario.key = "free"
            row.peer.key = "zkr" if row.void else "floor"
        known = report.PEERS
        self.addCleanup(lambda: setattr(report, "PEERS", known))
        report.PEERS = [row.peer for row in rows]
        return rows

    def test_driver_that_fails_voids_its_row_and_no_other(self):
        rows = self.rows("dies", "mumbles", "honest")
        measure.cycle(self.lab, rows)
        self.assertIn("too much", rows[0].void)
        self.assertIn("nonsense", rows[1].void)
        self.assertEqual(rows[2].void, "")

    def test_disturbed_round_is_repeated_and_not_for_ever(self):
        row, = self.rows("honest", count=1)
        loads = [0.0, 1.0, 0.0]
        tries = []
        self.foreign = lambda: loads[len(tries)]
        self.assertEqual(self.lab.undisturbed(row, [], lambda: tries.append(0) or len(tries)), 2)
        self.assertEqual(row.disturbed, 0)
        self.foreign, tries = lambda: 1.0, []
        self.lab.undisturbed(row, [], lambda: tries.append(0))
        self.assertEqual((len(tries), row.disturbed), (1 + lab.REPEATS, 1))
        self.lab.repeats_left, tries = 0, []
        self.lab.undisturbed(row, [], lambda: tries.append(0))
        self.assertEqual(len(tries), 1)

    @unittest.skipUnless("ZKR_BENCH_PROGRAMS" in os.environ, "the drivers are not built")
    def test_driver_in_c_keeps_the_contract(self):
        self.lab.build = os.environ["ZKR_BENCH_PROGRAMS"]
        flock = next(peer for peer in peers.PEERS if peer.key == "flock")
        crowd = scenarios.Scenario("crowd", "a crowd", processes=2, sessions=2, threads=2)
        row = lab.Row(crowd, flock)
        measure.cycle(self.lab, [row])
        self.assertEqual(row.void, "")
        self.assertEqual([len(each.counts) for each in row.rounds], [8, 8])
        row = lab.Row(scenarios.Scenario("one", "one", kind="try"), flock)
        measure.try_held(self.lab, [row])
        self.assertEqual(row.void, "")
        self.assertEqual(len(row.rounds), 1)

    def test_missing_peer_is_named(self):
        there = peer_of("honest")
        gone = peers.Peer("gone", "Gone 1.0", "files", ["{build}/gone"], ["/no/such/file"])
        self.assertIsNone(there.what_is_missing("/tmp"))
        self.assertEqual(gone.what_is_missing("/tmp"), "/no/such/file")
        missing = {gone: "/no/such/file"}
        path = os.path.join(self.room.name, "table.md")
        lines = report.write_tables(path, [], missing, ["about"])
        self.assertIn("Missing: **Gone 1.0**, which needs /no/such/file.", lines)
        report.write_json(path, [], missing, [])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["missing"], {"gone": "/no/such/file"})

    def test_every_peer_has_all_that_the_table_says(self):
        for peer in peers.PEERS:
            self.assertTrue(all((peer.survives, peer.fair, peer.fencing, peer.loss)), peer.name)
            self.assertTrue(set(peer.works) <= {"cycle", "once", "try", "hold", "lead", "die"})

    def test_target_is_met_or_missed(self):
        rows = self.rows("zkr", "slower", "slow")
        rows[0].scenario.targets = {"slow": 2, "slower": 3}
        for row, rate in zip(rows, (100, 40, 40)):
            row.rounds = [figures.Round(rate, [1], [], [1], None, 0)] * 3
        text = "\n".join(report.target_lines([rows]))
        self.assertIn("| slower | 3 | 2.5 | **missed** |", text)
        self.assertIn("| slow | 2 | 2.5 | met |", text)
        rows[0].void = "held by too many at once"
        self.assertEqual(report.target_lines([rows]), [])

    def test_readme_is_changed_between_its_marks_only(self):
        path = os.path.join(self.room.name, "README.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
        report.put_into_readme(path, ["new"])
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), f"before\n{report.BEGIN}\nnew\n{report.END}\nafter\n")


class FiguresTest(unittest.TestCase):
    def test_shares(self):
        self.assertEqual(figures.median([5, 1, 3]), 3)
        self.assertEqual(figures.median([1, 4]), 2.5)
        self.assertEqual(figures.at(range(100), 0.99), 99)
        self.assertEqual(figures.at([7], 0.9), 7)
        self.assertIsNone(figures.median([]))

    def test_fairness(self):
        self.assertEqual(figures.fairness_of([10, 11, 10]), 1.0)
        self.assertEqual(figures.fairness_of([4, 10]), 0.5)
        self.assertEqual(figures.fairness_of([0, 10]), 0.0)
        self.assertIsNone(figures.fairness_of([0, 0]))

    def answer(self, *grants):
        return {"from": 0, "to": 1000, "grants": [list(times) for times in grants]}

    def test_overlap_is_seen_across_drivers_and_only_on_one_lock(self):
        first, second = self.answer([10, 20, 40]), self.answer([10, 39, 50])
        self.assertEqual(figures.judge([first, second], 1).violations, 1)
        self.assertEqual(figures.judge([first, second], 1, locks=2).violations, 0)
        self.assertEqual(figures.judge([first, second], 1, rule=None).violations, 0)
        touching = self.answer([10, 40, 50])
        self.assertEqual(figures.judge([first, touching], 1).violations, 0)

    def test_overlap_with_an_earlier_and_longer_hold_is_seen(self):
        longest = self.answer([0, 10, 100], [0, 20, 30], [0, 50, 60])
        self.assertEqual(figures.judge([longest], 3).violations, 2)

    def test_readers_may_be_together_and_not_beside_a_writer(self):
        holds = [(10, 40, 0, 1), (20, 30, 0, 2), (40, 50, 0, 0), (50, 60, 0, 3)]
        self.assertEqual(figures.overlaps(holds, figures.READ_WRITE), 0)
        self.assertEqual(figures.overlaps([(10, 40, 0, 1), (39, 50, 0, 0)], figures.READ_WRITE), 1)
        self.assertEqual(figures.overlaps([(10, 40, 0, 8), (20, 50, 0, 1)], figures.READ_WRITE), 1)

    def test_semaphore_has_so_many_permits(self):
        holds = [(10, 40, 0, 0), (20, 30, 0, 1), (30, 50, 0, 2), (35, 60, 0, 3)]
        self.assertEqual(figures.overlaps(holds, figures.semaphore(3)), 0)
        self.assertEqual(figures.overlaps(holds, figures.semaphore(2)), 1)

    def test_only_what_lies_in_the_common_time_counts(self):
        early = {"from": 0, "to": 100, "grants": [[10, 20, 30, 90, 110, 120]]}
        late = {"from": 50, "to": 200, "grants": [[60, 70, 80, 85, 90, 95]]}
        result = figures.judge([early, late], 1)
        self.assertEqual(result.counts, [0, 2])
        self.assertAlmostEqual(result.rate, 2 / 50e-9)

    def test_handover_is_to_one_who_waited(self):
        waited, came_later = (20, 30, 5, 1), (60, 70, 55, 2)
        self.assertEqual(figures.handovers_of([(0, 15, 0, 0), waited, came_later]), [5])

    def test_tries_that_failed_are_no_holds(self):
        result = figures.judge([self.answer([10, 20, 0, 30, 35, 0])], 1)
        self.assertEqual((result.waits, result.violations), ([10, 5], 0))

    def test_contract_is_checked(self):
        good = self.answer([1, 2, 3, 3, 4, 5])
        figures.check_answer(good, 1)
        for bad in ({}, [], {"from": 0, "to": 1}, self.answer(), self.answer([1, 2]),
                    self.answer([2, 1, 3]), self.answer([1, 3, 2]), self.answer([1, 2, "3"]),
                    self.answer([1, 2, 3, 2, 4, 5])):
            with self.assertRaises(figures.BadAnswer, msg=str(bad)):
                figures.check_answer(bad, 1)


if __name__ == "__main__":
    unittest.main()
