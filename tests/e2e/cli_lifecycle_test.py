"""One shape's whole way as the tool sees it: fallback, tuned, remembered, inspected, forgotten."""

import re
import unittest

from cli_daemon import DATA, DaemonTest


class Lifecycle(DaemonTest):
    # The steps follow one another; unittest runs methods in the order of their names.

    def test_1_a_new_shape_is_answered_at_once_by_the_fallback(self):
        answer = self.layer_norm("--policy", "fallback", "--expect", DATA / "expected.npy")
        self.assertEqual(answer["origin"], "fallback")
        self.assertTrue(answer["check"]["ok"])
        self.assertLess(answer["expect"]["difference_max"], 2e-6)

    def test_2_waiting_gives_a_tuned_answer_and_the_next_one_comes_from_memory(self):
        self.assertIn(self.layer_norm("--policy", "wait")["origin"], ("joined", "tuned", "memory"))
        again = self.layer_norm("--policy", "fail")
        self.assertEqual(again["origin"], "memory")
        self.assertTrue(again["check"]["ok"])

    def test_3_the_winner_is_listed_shown_and_explained(self):
        winners = self.json("ls", "columns=384")["winners"]
        self.assertEqual(len(winners), 1)
        shown = self.json("show", "columns=384")
        self.assertEqual(shown["winner"]["key"], winners[0]["key"])
        self.assertIn(shown["winner"]["candidate"], [t["candidate"] for t in shown["trials"]])
        explained = self.json("explain", "158x384", "--dtype", "fp32")
        self.assertEqual(explained["origin"], "memory")
        miss = self.json("explain", "158x384", "--dtype", "fp32", "--affine", "none")
        self.assertEqual(miss["origin"], "fallback")
        self.assertEqual(miss["nearest_key"], winners[0]["key"])

    def test_4_tuning_a_tuned_shape_answers_at_once(self):
        tuned = self.json("tune", "158x384", "--dtype", "fp32")
        self.assertIn(tuned["origin"], ("memory", "store"))
        self.assertEqual(tuned["compiles"], 0)
        self.assertEqual(tuned["rounds_kept"], 0)

    def test_4_tuning_anew_says_and_logs_how_many_rounds_it_raced(self):
        tuned = self.tool("tune", "158x384", "--dtype", "fp32", "--again", "--budget", "1s")
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        logged = re.findall(r"rounds_kept=([0-9]+) rounds_discarded=0$", self.log(), re.MULTILINE)
        # On a machine with much else to do there may be none.
        rounds = re.findall(r"^race       ([0-9]+) rounds?$", tuned.stdout, re.MULTILINE)
        self.assertEqual(rounds or ["0"], logged[-1:], tuned.stdout)

    def test_5_after_a_restart_nothing_is_compiled_and_nothing_is_tuned(self):
        self.stop()
        self.start()
        answer = self.layer_norm("--policy", "fail")
        self.assertEqual(answer["origin"], "store")
        self.assertTrue(answer["check"]["ok"])
        counters = self.json("status")["counters"]
        self.assertEqual(counters["compiles"], 0)
        self.assertEqual(counters["tunings"], 0)

    def test_6_inspection_needs_no_daemon(self):
        self.stop()
        try:
            store = str(self.place / "store")
            before = sorted((p.name, p.stat().st_size) for p in (self.place / "store").iterdir())
            self.assertEqual(len(self.json("ls", "--store", store)["winners"]), 1)
            self.assertTrue(self.json("show", "1", "--store", store)["trials"])
            hits = self.json("explain", "158x384", "--dtype", "fp32", "--store", store)["hits"]
            self.assertEqual([hit["stale_because"] for hit in hits], [""])
            after = sorted((p.name, p.stat().st_size) for p in (self.place / "store").iterdir())
            self.assertEqual(before, after)
            self.assertEqual(self.tool("status").returncode, 3)
        finally:
            self.start()

    def test_7_a_forgotten_shape_is_a_miss_for_the_running_daemon(self):
        self.layer_norm("--policy", "fail")
        self.assertGreater(self.json("forget", "columns=384", "--yes")["rows_removed"], 0)
        refused = self.layer_norm("--policy", "fail", status=1)
        self.assertEqual(refused["error"]["code"], "failed_precondition")
        self.assertEqual(self.tool("show", "columns=384").returncode, 4)

    def test_8_bad_input_names_what_is_wrong_and_the_next_request_is_fine(self):
        wrong = self.tool("run", "--x", DATA / "README.md")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("README.md: byte 0", wrong.stderr)
        wrong = self.tool("run", "--x", DATA / "x.npy", "--device", "GPU-none")
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("GPU-none", wrong.stderr)
        self.assertTrue(self.layer_norm()["check"]["ok"])

    def test_9_bf16_is_converted_checked_and_written_back_as_bits(self):
        out = self.place / "y.npy"
        x = DATA / "x.npy"
        answer = self.json("run", "--x", x, "--x-dtype", "bf16", "--out", out, "--check")
        self.assertTrue(answer["check"]["ok"])
        self.assertIn(b"'<u2'", out.read_bytes()[:128])
        again = self.json("run", "--x", out, "--dtype", "bf16", "--check")
        self.assertEqual(again["x_dtype"], "bf16")


class WithoutDaemon(DaemonTest):
    def test_a_shape_tuned_without_a_daemon_is_served_by_one_that_starts_later(self):
        self.stop()
        try:
            tuned = self.json("tune", "8x96", "--dtype", "fp32", "--no-daemon", "--device", "host",
                              "--store", self.place / "store")
            self.assertEqual(tuned["origin"], "tuned")
            self.assertGreater(tuned["compiles"], 0)
            # The winner is in every round; without one it has the samples of before the race.
            self.assertEqual(tuned["winner"]["measurements"][0]["samples"],
                             tuned["rounds_kept"] or 2)
            self.assertEqual(tuned["winner"]["candidate"], tuned["trials"][0]["candidate"])
        finally:
            self.start()
        explained = self.json("explain", "8x96", "--dtype", "fp32")
        self.assertEqual(explained["origin"], "store")


if __name__ == "__main__":
    unittest.main(verbosity=2)
