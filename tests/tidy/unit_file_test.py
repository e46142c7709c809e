"""The system service keeps its protections, and its limits agree with what the daemon says."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
UNIT = (ROOT / "service/daemon/normd.service").read_text(encoding="utf-8")


def values(name):
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


class UnitFile(unittest.TestCase):
    def test_the_service_runs_as_a_user_without_privileges(self):
        self.assertEqual(values("User"), ["normd"])
        self.assertEqual(values("NoNewPrivileges"), ["yes"])
        self.assertEqual(values("CapabilityBoundingSet"), [""])

    def test_the_file_system_is_closed_but_for_its_two_directories(self):
        self.assertEqual(values("ProtectSystem"), ["strict"])
        self.assertEqual(values("ProtectHome"), ["yes"])
        self.assertEqual(values("PrivateTmp"), ["yes"])
        self.assertEqual(values("RuntimeDirectory") + values("StateDirectory"), ["normd", "normd"])
        self.assertEqual(values("RuntimeDirectoryMode") + values("StateDirectoryMode"),
                         ["0700", "0700"])

    def test_memory_and_tasks_are_limited(self):
        for name in ("MemoryMax", "TasksMax", "LimitNOFILE"):
            self.assertEqual(len(values(name)), 1, name)

    def test_exit_codes_that_a_restart_cannot_mend_are_the_daemons_own(self):
        codes = dict(re.findall(r"^  (\w+) = (\d+),",
                                (ROOT / "service/daemon/exit_code.h").read_text(), re.MULTILINE))
        hopeless = [codes[name] for name in ("usage", "already_running", "no_device",
                                             "place_unusable")]
        self.assertEqual(values("RestartPreventExitStatus"), [" ".join(hopeless)])


class SecurityPage(unittest.TestCase):
    def test_the_known_issues_of_our_libraries_are_named(self):
        page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        for issue in ("CVE-2023-4785", "CVE-2023-33953", "CVE-2023-32731", "WAL-reset"):
            self.assertIn(issue, page)


if __name__ == "__main__":
    unittest.main()
