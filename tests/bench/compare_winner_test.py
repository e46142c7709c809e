"""A winner out of a store of the real schema's tables, and how a stored launch becomes a grid."""

import ctypes
import pathlib
import re
import sqlite3
import tempfile
import unittest

import bench_path  # noqa: F401
from bench.compare import launch, winner
from bench.compare.grid import Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCH = ("entries=normd_kernel block=256 cluster=4 shared_bytes=1024 cooperative=0 "
          "programmatic=1 rows_per_block=2 blocks_per_row=4 resident=0 strides=1 blocks_max=528 "
          "workspace_bytes=0 workspace_bytes_per_row=8")

class LaunchTest(unittest.TestCase):
    def test_the_text_of_the_store_is_read(self):
        parsed = launch.parse_launch(LAUNCH)
        self.assertEqual(parsed.entries, ("normd_kernel",))
        self.assertEqual((parsed.block, parsed.cluster, parsed.workspace_bytes_per_row),
                         (256, 4, 8))

    def test_a_launch_with_a_field_more_or_less_is_refused(self):
        for text in (LAUNCH + " priority=1", LAUNCH.replace(" cooperative=0", "")):
            with self.assertRaisesRegex(ValueError, "priority|cooperative"):
                launch.parse_launch(text)

    def test_the_grid_covers_all_rows_and_stops_at_its_most_blocks(self):
        parsed = launch.parse_launch(LAUNCH)
        self.assertEqual(launch.grid_blocks(parsed, 1, 100), 4)
        self.assertEqual(launch.grid_blocks(parsed, 5, 100), 12)
        self.assertEqual(launch.grid_blocks(parsed, 10 ** 6, 100), 528)
        short = launch.parse_launch(LAUNCH.replace("strides=1", "strides=0"))
        self.assertEqual(launch.grid_blocks(short, 264, 100), 528)
        with self.assertRaisesRegex(ValueError, "265 rows"):
            launch.grid_blocks(short, 265, 100)
        resident = launch.parse_launch(LAUNCH.replace("resident=0", "resident=1"))
        self.assertEqual(launch.grid_blocks(resident, 5, 100), 12)
        self.assertEqual(launch.grid_blocks(resident, 10 ** 6, 100), 100)

    def test_the_argument_has_the_layout_that_the_kernels_compile(self):
        header = ROOT / "kernels" / "arguments.h"
        if not header.exists():
            self.skipTest("the package has no sources")
        text = header.read_text(encoding="utf-8")
        body = text[text.index("struct NormArguments {"):text.index("static_assert")]
        names = re.findall(r"(\w+);", re.sub(r"//.*", "", body))
        self.assertEqual([name for name, _ in launch.NormArguments._fields_], names)
        size = int(re.search(r"sizeof\(NormArguments\) == (\d+)", text).group(1))
        self.assertEqual(ctypes.sizeof(launch.NormArguments), size)

    def test_the_fields_of_a_launch_are_those_that_the_program_writes(self):
        source = ROOT / "kernels" / "launch.cc"
        if not source.exists():
            self.skipTest("the package has no sources")
        written = re.findall(r'text \+= " (\w+)="', source.read_text(encoding="utf-8"))
        self.assertEqual(written, re.findall(r" (\w+)=", LAUNCH))

    def test_flags_tell_the_dtypes(self):
        self.assertEqual(launch.argument_flags(Case("bf16", 1, 1)), 0x3333)
        self.assertEqual(launch.argument_flags(Case("fp16", 1, 1, "both_fp32")), 0x1122)
        self.assertEqual(launch.argument_flags(Case("fp32", 1, 1, "gamma")), 0x0111)
        self.assertEqual(launch.argument_flags(Case("fp32", 1, 1, "none")), 0x0011)


def make_store(folder, application_id=winner.APPLICATION_ID):
    connection = sqlite3.connect(pathlib.Path(folder) / "normd.db")
    connection.executescript(f"""
        PRAGMA application_id = {application_id};
        CREATE TABLE winner (key TEXT PRIMARY KEY, candidate TEXT, launch TEXT,
                             binary_digest TEXT);
        CREATE TABLE binary (digest TEXT, bytes BLOB);""")
    connection.execute("INSERT INTO winner VALUES ('k', 'sub_warp', ?1, 'd')", (LAUNCH,))
    connection.execute("INSERT INTO binary VALUES ('d', x'7f454c46')")
    connection.commit()
    connection.close()


class WinnerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_a_stored_winner_is_read_with_its_launch_and_binary(self):
        make_store(self.path)
        found = winner.read_winner(self.folder.name, "k")
        self.assertEqual((found.candidate, found.binary), ("sub_warp", b"\x7fELF"))
        self.assertEqual(found.launch.block, 256)

    def test_a_file_that_is_no_store_is_refused(self):
        make_store(self.path, application_id=1)
        with self.assertRaisesRegex(winner.NoWinner, "no store"):
            winner.read_winner(self.folder.name, "k")

    def test_a_key_without_a_binary_is_told(self):
        make_store(self.path)
        with self.assertRaisesRegex(winner.NoWinner, "no winner with a binary"):
            winner.read_winner(self.folder.name, "other")

    def test_the_store_has_the_columns_that_are_read(self):
        schema = ROOT / "tuner" / "store" / "sql.h"
        if not schema.exists():
            self.skipTest("the package has no sources")
        text = schema.read_text(encoding="utf-8")
        self.assertIn(f"PRAGMA application_id = {winner.APPLICATION_ID};", text)
        for table, columns in (("winner", ("key", "candidate", "launch", "binary_digest")),
                               ("binary", ("digest", "bytes"))):
            body = re.search(rf"CREATE TABLE {table} \((.*?)\n\)", text, re.DOTALL).group(1)
            for column in columns:
                self.assertRegex(body, rf"\n  {column} ")


if __name__ == "__main__":
    unittest.main()
