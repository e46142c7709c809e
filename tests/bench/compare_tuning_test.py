"""How cases are tuned before they are measured, with made-up programs for normd and normctl."""

import json
import pathlib
import re
import stat
import tempfile
import time
import unittest

import bench_path
from bench.compare import hard_data, tuning
from bench.compare.grid import Case

# Says that it is ready, keeps its command line, and notes how it ended.
NORMD = """#!/bin/sh
here=$(dirname "$0")
echo "$@" > "$here/daemon"
[ -e "$here/broken" ] && { echo "normd: made to fail" >&2; exit 4; }
trap 'echo stopped >> "$here/daemon"; exit 0' TERM
echo "normd ready socket=x"
while :; do sleep 0.02; done
"""
# Answers `tune` from a file, or fails; keeps what it was asked.
NORMCTL = """#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
case "$1" in
--version) echo "normctl 9"; exit 0;;
devices) cat "$here/devices.json"; exit 0;;
esac
sleep 0.02
cat "$here/tune.json" 2>/dev/null && exit 0
echo "normctl: made to fail" >&2
exit 1
"""


class TuningTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        for name, text in (("normd", NORMD), ("normctl", NORMCTL)):
            program = self.path / name
            program.write_text(text, encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.options = tuning.TunerOptions(normctl=str(self.path / "normctl"), store="the-store",
                                           devices=("0", "2"), budget="5s")
        self.case = Case("bf16", 128, 1024, "both_fp32", "mean_rstd")

    def answer(self, text):
        (self.path / "tune.json").write_text(text, encoding="utf-8")

    def asked(self):
        return (self.path / "asked").read_text(encoding="utf-8").splitlines()

    def test_the_tuner_is_asked_for_exactly_this_problem(self):
        self.answer('{"winner": {"key": "k"}}')
        found = tuning.tune_all(self.options, [self.case])
        self.assertEqual(found, {self.case: tuning.Tuned(key="k")})
        (asked,) = self.asked()
        self.assertRegex(asked, r"^tune 128x1024 --dtype bf16 --affine both --stats mean_rstd "
                                r"--bucket-mode single_row_count "
                                r"--gamma-dtype fp32 --beta-dtype fp32 "
                                r"--socket \S+ --device [02] --json --budget 5s$")

    def test_a_shifted_case_is_tuned_for_its_alignment(self):
        self.answer('{"winner": {"key": "k"}}')
        tuning.tune_all(self.options, [Case("bf16", 128, 1001, shift=1)])
        self.assertIn("--align-bytes 2 ", self.asked()[0])

    def test_one_daemon_serves_all_devices_and_is_gone_afterwards(self):
        self.answer('{"winner": {"key": "k"}}')
        tuning.tune_all(self.options, [Case("bf16", rows, 64) for rows in range(1, 9)])
        lines = (self.path / "daemon").read_text(encoding="utf-8").splitlines()
        self.assertIn("--store the-store --devices 0,2", lines[0])
        self.assertEqual(lines[1:], ["stopped"])
        devices = {re.search(r"--device (\d)", line).group(1) for line in self.asked()}
        self.assertEqual(devices, {"0", "2"})

    def test_a_failed_tuning_says_why_and_does_not_end_the_others(self):
        found = tuning.tune_all(self.options, [self.case, Case("bf16", 1, 64)])
        self.assertEqual({one.why for one in found.values()}, {"normctl: made to fail"})
        self.answer("{}")
        found = tuning.tune_all(self.options, [self.case])
        self.assertIn("without a winner", found[self.case].why)

    def test_a_daemon_that_does_not_start_is_told_in_its_own_words(self):
        (self.path / "broken").touch()
        with self.assertRaisesRegex(tuning.TuningFailed, "normd: made to fail"):
            tuning.tune_all(self.options, [self.case])

    def test_nothing_is_begun_when_the_time_is_up(self):
        self.answer('{"winner": {"key": "k"}}')
        until = time.monotonic() + 0.15
        cases = [Case("bf16", rows, 64) for rows in range(1, 200)]
        found = tuning.tune_all(self.options, cases, lambda: time.monotonic() > until)
        self.assertTrue(0 < len(found) < len(cases))

    def test_only_cuda_devices_count(self):
        listing = {"devices": [{"kind": "cuda", "name": "NVIDIA H200"}, {"kind": "host"}]}
        (self.path / "devices.json").write_text(json.dumps(listing), encoding="utf-8")
        found = tuning.cuda_devices(self.options.normctl)
        self.assertEqual([one["name"] for one in found], ["NVIDIA H200"])


class HardDataTest(unittest.TestCase):
    def test_the_exact_templates_are_those_of_the_documentation(self):
        text = (bench_path.ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
        exact = re.findall(r"^\| `(\w+)` \| exact \|", text, re.MULTILINE)
        self.assertEqual(list(hard_data.EXACT_TEMPLATES), exact)

    def test_each_dtype_has_the_kinds_that_it_can_hold(self):
        self.assertEqual(len(hard_data.kinds_of("fp32")), 10)
        self.assertEqual(hard_data.kinds_of("bf16"), hard_data.kinds_of("fp32"))
        self.assertNotIn("scale 1e18", hard_data.kinds_of("fp16"))
        self.assertIn("mean 1e4", hard_data.kinds_of("fp16"))

    def test_every_dtype_meets_every_width(self):
        shapes = {(case.dtype, case.columns) for case in hard_data.cases()}
        self.assertEqual(len(shapes), 9)
        self.assertIn(("fp16", 262144), shapes)


if __name__ == "__main__":
    unittest.main()
