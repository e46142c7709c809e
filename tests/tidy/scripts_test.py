"""scripts/test, scripts/run-packaged-tests and scripts/sanitize-gpu call nothing passed that did
not run: a missing program, a label without tests and a run that ended badly are failures, a named
lack is left out."""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

# What scripts/test does with one label.
COUNT = """
set -euo pipefail
root=$2
. "$2/scripts/steps.sh"
. "$2/scripts/results.sh"
setup=$1
run_label "$1/build" tried 1 -L "$3"
report_results
"""

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tried NONE)
enable_testing()
foreach(label ok good lacking bad crash)
  add_test(NAME ${label} COMMAND sh ${CMAKE_SOURCE_DIR}/${label}.sh)
  set_tests_properties(${label} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endforeach()
set_tests_properties(good PROPERTIES LABELS ok)
add_test(NAME missing COMMAND ${CMAKE_BINARY_DIR}/never_built)
set_tests_properties(missing PROPERTIES LABELS missing)
"""


class Counting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        for name, text in {"ok": "", "good": "", "bad": "exit 3", "crash": "kill -SEGV $$",
                           "lacking": "echo 'left out: no <GPU>'; exit 77"}.items():
            (cls.path / f"{name}.sh").write_text(text + "\n", encoding="utf-8")
        (cls.path / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        subprocess.run(["cmake", "-S", cls.path, "-B", cls.path / "build"], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def count(self, label):
        done = subprocess.run(["bash", "-c", COUNT, "count", self.path, ROOT, f"^({label})$"],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def expect(self, label, code, *words):
        got, out = self.count(label)
        self.assertEqual(got, code, out)
        for word in words:
            self.assertIn(word, out)

    def test_what_passed_is_counted(self):
        self.expect("ok", 0, "2 passed, 0 failed, 0 skipped")

    def test_a_failure_and_a_crash_are_named(self):
        self.expect("ok|bad|crash", 1, "failed: bad", "failed: crash", "2 passed, 2 failed")

    def test_a_missing_program_is_a_failure(self):
        self.expect("ok|missing", 1, "failed: missing (Unable to find executable)",
                    "2 passed, 1 failed, 0 skipped")

    def test_a_named_lack_is_left_out_with_its_name(self):
        self.expect("ok|lacking", 0, "left out: lacking: left out: no &lt;GPU&gt;",
                    "2 passed, 0 failed, 1 skipped")

    def test_nothing_but_lacks_is_no_success(self):
        self.expect("lacking", 1, "0 passed, 0 failed, 1 skipped")

    def test_a_label_without_a_test_is_a_failure(self):
        self.expect("no_such_label", 1, "failed: tried (there is no such test)")

    def test_a_folder_that_ctest_cannot_read_is_a_failure(self):
        done = subprocess.run(
            ["bash", "-c", COUNT.replace("$1/build", "$1/nowhere"), "count", self.path, ROOT, "ok"],
            capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("failed: tried", done.stdout)


class Package(unittest.TestCase):
    def run_package(self, *tests, labels=("unit",)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for below in ("scripts", "share/normd"):
                (path / below).mkdir(parents=True)
            runner = path / "scripts/run-packaged-tests"
            runner.write_bytes((ROOT / "scripts/run-packaged-tests").read_bytes())
            lines = "".join(f"{name}|unit|10||{command}\n" for name, command in tests)
            (path / "share/normd/tests.list").write_text(lines, encoding="utf-8")
            done = subprocess.run(["bash", runner, *labels], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout

    def test_what_passes_passes(self):
        code, out = self.run_package(("good", "/bin/true"))
        self.assertEqual((code, "1 passed, 0 failed, 0 skipped" in out), (0, True), out)

    def test_a_missing_program_is_a_failure(self):
        code, out = self.run_package(("good", "/bin/true"), ("gone", "@DIR@/libexec/gone"))
        self.assertEqual((code, "1 passed, 1 failed, 0 skipped" in out), (1, True), out)

    def test_a_label_without_a_test_is_a_failure(self):
        code, out = self.run_package(("good", "/bin/true"), labels=("unit", "e2e"))
        self.assertEqual((code, "no test has the label e2e" in out), (1, True), out)


# A compute-sanitizer that says what it is told to.
RAN = "[==========] 3 tests from 1 test suite ran. (1 ms total)"


class Sanitize(unittest.TestCase):
    def sanitize(self, says, code, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            for below in ("scripts", "libexec/normd/tests"):
                (path / below).mkdir(parents=True)
            (path / "said").write_text("\n".join(says) + "\n", encoding="utf-8")
            for name, text in {"libexec/normd/tests/sanitized_gpu_test": "exit 1",
                               "tool": f"cat {path}/said; exit {code}"}.items():
                (path / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                (path / name).chmod(0o755)
            script = path / "scripts/sanitize-gpu"
            script.write_bytes((ROOT / "scripts/sanitize-gpu").read_bytes())
            done = subprocess.run(["bash", script, "--sanitizer", path / "tool", *options],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def expect(self, says, code, expected, *words, options=()):
        got, out = self.sanitize(says, code, *options)
        self.assertEqual(got, expected, out)
        for word in words:
            self.assertIn(word, out)

    def test_four_clean_tools_are_clean(self):
        self.expect([RAN, "========= ERROR SUMMARY: 0 errors"], 0, 0,
                    *(f"{tool:10} clean, 3 cases" for tool in
                      ("memcheck", "racecheck", "initcheck", "synccheck")))

    def test_a_report_a_bad_end_and_silence_are_failures(self):
        self.expect([RAN, "========= ERROR SUMMARY: 2 errors"], 99, 1, "FAILED, 2 reports")
        self.expect([RAN, "========= ERROR SUMMARY: 0 errors"], 1, 1, "exit code 1")
        self.expect([RAN], 0, 1, "FAILED, no reports")
        self.expect(["========= ERROR SUMMARY: 0 errors"], 0, 1, "no cases")

    def test_a_hazard_is_a_failure_whatever_its_severity(self):
        self.expect([RAN, "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)"],
                    0, 1, "racecheck  FAILED, 1 reports", options=("--tool", "racecheck"))

    def test_a_planted_fault_must_be_found(self):
        found = [RAN, "========= ERROR SUMMARY: 1 error"]
        self.expect(found, 99, 0, "synccheck  found the planted fault", options=("--self-test",))
        clean = [RAN, "========= ERROR SUMMARY: 0 errors"]
        self.expect(clean, 0, 1, "did not find the planted fault", options=("--self-test",))

    def test_no_gpu_is_left_out_and_no_sanitizer_an_error(self):
        self.expect(["skipped: no GPU is visible"], 77, 77, "left out: skipped: no GPU")
        self.expect([], 0, 2, "no compute-sanitizer", options=("--sanitizer", "/nowhere/tool"))


if __name__ == "__main__":
    unittest.main()
