"""Figures of tuning studies from made-up lines of tuning_study."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import bench_path  # noqa: F401
from bench import tuning_studies as studies


def life(number, winner, default="d", ties="", elapsed=1000, first=100, course="50:200,300:100",
         shape="s"):
    return ["life", str(number), shape, "bucketed", winner, default, ties, "1000", str(elapsed),
            str(first), "10", "1", course]


def time(shape, edge, candidate, ns, kind="truth"):
    return [kind, shape, edge, candidate, str(ns), str(ns), str(ns), "90.0"]


class RepeatTest(unittest.TestCase):
    def test_a_winner_inside_a_reported_tie_is_the_same_answer(self):
        lines = [life(0, "a", ties="b"), life(1, "a"), life(2, "b"), life(3, "c"),
                 life(4, "e", ties="a;x")]
        row = studies.repeats(studies.lives_of(lines))[0]
        self.assertEqual((row["winner"], row["same"], row["same_or_tie"]), ("a", 2, 4))

    def test_shapes_are_kept_apart(self):
        lines = [life(0, "a"), life(0, "b", shape="t")]
        found = studies.documents(lines)["repeat"]
        self.assertEqual((found["shapes"], found["same"]), (2, 1.0))

    def test_the_budget_and_the_way_to_the_best(self):
        lines = [life(0, "a", elapsed=1100), life(1, "a", elapsed=900, first=300,
                                                  course="10:102,700:100")]
        found = studies.documents(lines)["repeat"]
        self.assertAlmostEqual(found["overrun_max"], 0.1)
        self.assertEqual((found["first_ms_median"], found["first_ms_p95"]), (100, 300))
        self.assertEqual((found["close_ms_median"], found["close_ms_p95"]), (10, 300))
        self.assertEqual((found["rounds_kept"], found["rounds_discarded"]), (20, 2))

    def test_the_best_is_close_from_0_97_on(self):
        self.assertEqual(studies.close_ms([(1, 104.0), (2, 103.0), (3, 100.0)]), 2)
        self.assertIsNone(studies.close_ms([]))


class RegretTest(unittest.TestCase):
    LINES = [time("s bucketed", "1:cold:ranks", "a", 100),
             time("s bucketed", "1:cold:ranks", "b", 90),
             time("s bucketed", "8:warm:decides", "a", 200),
             time("s bucketed", "8:warm:decides", "b", 240),
             time("s bucketed", "1:cold:ranks", "d", 120),
             time("s bucketed", "8:warm:decides", "d", 198)]

    def test_the_loss_is_that_of_the_worst_edge(self):
        times = studies.times_of(self.LINES, "truth")["s bucketed"]
        self.assertAlmostEqual(studies.loss(times, "a"), 100 / 90)
        self.assertAlmostEqual(studies.loss(times, "b"), 240 / 198)

    def test_regret_is_against_the_least_loss_and_the_default_counts_where_it_decides(self):
        lines = self.LINES + [life(0, "a"), life(1, "b")]
        rows = studies.documents(lines)["regret"]["rows"]
        self.assertAlmostEqual(rows[0]["regret"], 0)
        self.assertAlmostEqual(rows[0]["over_default"], 200 / 198 - 1)
        self.assertAlmostEqual(rows[1]["regret"], (240 / 198) / (100 / 90) - 1)

    def test_a_winner_that_was_not_measured_is_counted_apart(self):
        found = studies.documents(self.LINES + [life(0, "a"), life(1, "gone")])["regret"]
        self.assertEqual((found["tunings"], found["not_known"]), (1, 1))


class BucketTest(unittest.TestCase):
    def test_the_buckets_winner_comes_first_and_only_deciding_edges_count(self):
        lines = [time("s", "5:cold:ranks", "a", 500, "bucket"),
                 time("s", "5:cold:ranks", "b", 100, "bucket"),
                 time("s", "5:warm:decides", "a", 103, "bucket"),
                 time("s", "5:warm:decides", "b", 100, "bucket"),
                 time("t", "9:cold:decides", "c", 50, "bucket"),
                 time("t", "9:cold:decides", "c", 50, "bucket")]
        found = studies.documents(lines)["buckets"]
        self.assertEqual(found["points"], 2)
        self.assertAlmostEqual(found["regret_max"], 0.03)
        self.assertAlmostEqual(found["regret_median"], 0)


class FilesTest(unittest.TestCase):
    def run_main(self, folder, text):
        path = pathlib.Path(folder) / "lines.txt"
        path.write_text(text, encoding="utf-8")
        said, complained = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            status = studies.main([str(path), "--gpu", "H200", "--out", folder])
        return status, said.getvalue(), complained.getvalue()

    def test_each_study_has_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            status, said, _ = self.run_main(folder, "\t".join(life(0, "a")) + "\n")
            self.assertEqual(status, 0)
            self.assertIn("repeat", said)
            document = json.loads((pathlib.Path(folder) / "repeat-h200.json").read_text())
            self.assertEqual((document["gpu"], document["tunings"]), ("H200", 1))
            self.assertFalse((pathlib.Path(folder) / "regret-h200.json").exists())

    def test_a_line_that_is_none_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, complained = self.run_main(folder, "\t".join(life(0, "a")) + "\nhello\n")
            self.assertEqual(status, 2)
            self.assertIn("lines.txt:2: ", complained)


if __name__ == "__main__":
    unittest.main()
