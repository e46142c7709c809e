"""Processes that share the work: who gets what, deaths, time limits, and the slice that resumes."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

import bench_path
from bench.compare import fleet, measuring, preparing, results
from bench.compare.grid import Case
from bench.compare.tuning import Tuned

HERE = pathlib.Path(__file__).resolve().parent
CASES = [Case("bf16", 128, 64 * number) for number in range(1, 9)]


class FleetCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        quiet = mock.patch.object(measuring, "say", self.hear)
        quiet.start()
        self.addCleanup(quiet.stop)
        also = mock.patch.object(preparing, "say", self.hear)
        also.start()
        self.addCleanup(also.stop)
        self.heard = []

    def hear(self, words):
        self.heard.append(words)

    def fleet(self, visible=("0", "1"), each=2, **settings):
        def settings_of(number, device):
            return {"log": str(self.path / f"log-{number}"), "device": f"dev{device}", **settings}

        command = [sys.executable, "-B", str(HERE / "made_up_worker.py")]
        return fleet.Fleet(visible, each, settings_of, self.folder.name, command)

    def orders(self):
        """Of every process, in its order."""
        return [path.read_text(encoding="utf-8").split("\n")[:-1]
                for path in sorted(self.path.glob("log-?"))]

    def machine(self, each=1, seconds=1e9, resume=False, **settings):
        options = types.SimpleNamespace(out=self.folder.name, slice="1/1", resume=resume,
                                        fresh=False, processes=each)
        made = {"format": 1, "gpu": "NVIDIA H200", "driver": "13.0 (580.1)", "versions": {},
                "date": "", "command": "", "l2_bytes": 1, "not_installed": {}, "slices": [],
                "reference_copy": {"bytes": 1, "ns": None}, "rows": []}
        until = time.monotonic() + seconds
        return types.SimpleNamespace(
            options=options, gpu="NVIDIA H200", new_document=lambda _: made,
            seconds=lambda: 0.0, out_of_time=lambda: time.monotonic() > until,
            fleet=lambda each, name, share_device: self.fleet(("0",), each, **settings))


class FleetTest(FleetCase):
    def work(self, members, tasks, **more):
        taken = {}

        def took(task, answer, why):
            taken[task] = why or answer["row"]["columns"]

        left = members.work(tasks, lambda case: measuring.measure_order(case, Tuned(key="k")),
                            took, **more)
        return taken, left

    def test_every_case_is_measured_once_by_whoever_is_free(self):
        with self.fleet(slow_s=0.01) as members:
            taken, left = self.work(members, CASES)
        self.assertEqual(taken, {case: case.columns for case in CASES})
        self.assertEqual(left, [])
        self.assertEqual(len(self.orders()), 4)
        self.assertEqual(sorted(sum(self.orders(), [])),
                         sorted(f"measure {case.columns}" for case in CASES))

    def test_a_process_sees_its_own_device_only(self):
        with mock.patch.object(subprocess, "Popen") as started:
            with mock.patch.object(fleet.Member, "stop"):
                with self.fleet():
                    pass
        visible = [call.kwargs["env"]["CUDA_VISIBLE_DEVICES"] for call in started.mock_calls
                   if "env" in call.kwargs]
        self.assertEqual(visible, ["0", "1", "0", "1"])

    def test_one_of_each_device_is_asked_for_its_reference(self):
        with self.fleet() as members:
            answers = members.ask_leaders({"do": "reference"})
        self.assertEqual([one["device"] for one in answers], ["dev0", "dev1"])

    def test_the_task_of_a_process_that_dies_is_tried_again(self):
        with self.fleet(("0",), 1, die_at=128, deaths=2) as members:
            taken, _ = self.work(members, CASES)
        self.assertEqual(taken, {case: case.columns for case in CASES})

    def test_a_task_that_always_kills_is_given_up_and_the_others_go_on(self):
        with self.fleet(("0",), 1, die_at=128, deaths=99) as members:
            taken, _ = self.work(members, CASES)
        self.assertIn("made to die", taken[CASES[1]])
        self.assertEqual(taken[CASES[7]], CASES[7].columns)

    def test_a_process_that_hangs_is_ended(self):
        member = self.fleet(("0",), 1, slow_s=60).members[0]
        with self.assertRaises(fleet.MemberLost):
            member.ask({"do": "hello"}, patience_s=0.3)

    def test_what_the_time_does_not_allow_is_returned(self):
        with self.fleet(("0",), 1, slow_s=0.05) as members:
            until = time.monotonic() + 0.6
            taken, left = self.work(members, CASES * 50,
                                    out_of_time=lambda: time.monotonic() > until)
        self.assertTrue(taken)
        self.assertTrue(left)


class MeasuringTest(FleetCase):
    tuned = {case: Tuned(key="k") for case in CASES}

    def test_a_slice_ends_with_the_reference_copies_of_its_devices_and_merges(self):
        one = measuring.Measuring(self.machine(each=2))
        part = one.run(CASES, self.tuned)
        self.assertEqual(len(part["rows"]), 8)
        self.assertEqual(part["slices"][0]["reference"],
                         [{"device": "dev0", "begin_ns": 65000.0, "end_ns": 65000.0}])
        self.assertEqual(part["not_installed"], {"apex": "absent"})
        document = one.merge()
        self.assertEqual(results.read(one.path), document)
        self.assertFalse(one.part_path.exists())

    def test_a_slice_goes_on_where_its_time_ended(self):
        first = measuring.Measuring(self.machine(seconds=0.7, slow_s=0.15))
        self.assertIsNone(first.run(first.left_of(CASES), self.tuned))
        second = measuring.Measuring(self.machine(resume=True))
        left = second.left_of(CASES)
        self.assertTrue(0 < len(left) < 8)
        part = second.run(left, self.tuned)
        self.assertEqual({measuring.case_of(row) for row in part["rows"]}, set(CASES))
        self.assertEqual(len(part["slices"]), 2)
        second.merge()

    def test_an_unfinished_slice_of_another_clock_does_not_count(self):
        first = measuring.Measuring(self.machine(seconds=0.7, slow_s=0.15))
        first.run(CASES, self.tuned)
        second = measuring.Measuring(self.machine(resume=True, reference=[66000.0] * 4))
        left = second.left_of(CASES)
        part = second.run(left, self.tuned)
        self.assertEqual(len(part["rows"]), len(left))

    def test_untuned_cases_are_left_for_later(self):
        one = measuring.Measuring(self.machine())
        self.assertIsNone(one.run(CASES, {CASES[0]: Tuned(key="k")}))
        self.assertEqual(len(results.read(one.part_path)["rows"]), 1)

    def test_a_reading_that_differs_is_taken_anew_before_the_slice_is_refused(self):
        one = measuring.Measuring(self.machine(reference=[65000.0, 66000.0, 65100.0]))
        one.run(CASES[:1], self.tuned)
        one.merge()
        other = measuring.Measuring(self.machine(reference=[65000.0] + [66000.0] * 3))
        other.run(CASES[:1], self.tuned)
        with self.assertRaisesRegex(results.MergeRefused, "slice's end"):
            other.merge()

    def test_a_case_whose_process_always_dies_is_named_in_the_document(self):
        one = measuring.Measuring(self.machine(die_at=64, deaths=99))
        part = one.run(CASES[:2], self.tuned)
        self.assertEqual(len(part["rows"]), 1)
        self.assertIn("made to die", part["not_measured"][str(CASES[0])])


class PreparingTest(FleetCase):
    def test_every_case_is_prepared_and_failures_are_told(self):
        one = preparing.Preparing(self.machine(), CASES, 2)
        one.finish()
        self.assertEqual(one.count, 8)
        self.assertIn("  liger: error: made up (such as ", "\n".join(self.heard))

    def test_processes_fill_the_cores_that_the_tuner_leaves(self):
        given = types.SimpleNamespace(prepare=None)
        self.assertEqual(preparing.processes_each(given, 32, 2), 7)
        self.assertEqual(preparing.processes_each(given, 16, 1), 7)
        self.assertEqual(preparing.processes_each(given, 2, 1), 1)
        given.prepare = 0
        self.assertEqual(preparing.processes_each(given, 32, 2), 0)

    def test_choices_made_while_others_used_the_device_are_forgotten(self):
        chosen, code = self.path / "a" / "x.best_config", self.path / "a" / "x.py"
        chosen.parent.mkdir()
        for path in (chosen, code):
            path.touch()
        preparing.forget_choices(self.folder.name)
        self.assertFalse(chosen.exists())
        self.assertTrue(code.exists())


class TurnTest(unittest.TestCase):
    HOLDER = ("import sys, time; sys.path.insert(0, sys.argv[2]); "
              "from bench.compare.turn import Turn\n"
              "with Turn(sys.argv[1]):\n"
              "    print('held', flush=True); time.sleep(float(sys.argv[3]))\n")

    def hold(self, path, seconds):
        process = subprocess.Popen([sys.executable, "-B", "-c", self.HOLDER, path,
                                    str(bench_path.ROOT), str(seconds)],
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "held\n")
        return process

    def test_who_waits_gets_the_turn_when_it_is_given_and_not_before(self):
        from bench.compare.turn import Turn
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "turn")
            with self.hold(path, 0.4) as holder:
                begun = time.monotonic()
                with Turn(path) as turn, turn:  # within one's own turn it is there already
                    self.assertGreater(time.monotonic() - begun, 0.2)
                holder.wait()

    def test_a_process_that_dies_gives_the_turn(self):
        from bench.compare.turn import Turn
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "turn")
            with self.hold(path, 60) as holder:
                holder.kill()
                with Turn(path):
                    pass


if __name__ == "__main__":
    unittest.main()
