"""The table, the summary and the plots, from made-up documents."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from unittest import mock

import bench_path  # noqa: F401
from bench.compare import __main__ as program
from bench.compare import plots, results, table
from sample_document import document, figures, peer, row


def sample():
    warm = figures(3000.0, 4000.0, {"torch_eager": peer(3500.0), "liger": peer(None)})
    small = row(rows=128, columns=1024, warm=warm)
    behind = row(dtype="fp32", rows=1024, columns=32768,
                 **figures(64700.0, 80000.0, {"torch_eager": peer(122660.0),
                                                "liger": peer(73000.0)}))
    wrong = row(columns=1000, rows=67108,
                **figures(65000.0, 70000.0, {"liger": peer(60000.0, True, "9 times the error")}))
    return document([row(), small, behind, wrong], not_installed={"quack": "ModuleNotFoundError"})


class TableTest(unittest.TestCase):
    def test_each_cache_state_of_a_shape_has_a_line_with_its_figures(self):
        lines = table.shapes_table(sample()).splitlines()
        self.assertEqual(len(lines), 1 + 4 + 1)
        self.assertEqual(lines[1].split()[:12], ["bf16", "16384", "4096", "both", "none", "0",
                                                 "cold", "64.60", "67.00", "0.96", "1.07",
                                                 "liger"])
        self.assertEqual(lines[3].split()[6], "warm")

    def test_a_shape_behind_the_best_peer_is_called_slower(self):
        line = next(line for line in table.shapes_table(sample()).splitlines() if "32768" in line)
        self.assertIn("slower", line)
        self.assertIn("0.91", line)

    def test_overlapping_intervals_are_not_called_slower(self):
        self.assertFalse(table.passes(figures(1.0, 100.0, {"a": peer(98.0)})))
        self.assertTrue(table.passes(figures(1.0, 100.0, {"a": peer(98.9)})))

    def test_a_shape_is_also_judged_against_some_of_the_peers(self):
        entry = figures(1.0, 100.0, {"a": peer(90.0), "b": peer(110.0)})
        self.assertFalse(table.passes(entry))
        self.assertTrue(table.passes(entry, ("b",)))
        self.assertIsNone(table.passes(entry, ("c",)))

    def test_a_wrong_peer_is_marked_and_an_absent_one_is_a_dash(self):
        text = table.shapes_table(sample())
        self.assertIn("60.00!", text)
        warm_line = next(line for line in text.splitlines() if "warm" in line)
        self.assertTrue(warm_line.endswith("-"))

    def test_our_own_wrong_answer_stands_out(self):
        self.assertIn("WRONG", table.shapes_table(document([row(wrong=True)])))

    def test_a_shape_without_our_time_is_no_division_by_nothing(self):
        bare = row(ours_ns=None, interval=None, candidate=None, note="no winner: refused")
        text = table.text_of(document([bare]))
        self.assertIn("normd at bf16 16384x4096 both none: no winner: refused", text)

    def test_the_summary_names_means_the_worst_and_who_is_missing(self):
        text = table.summary(sample())
        self.assertIn("cold: 4 shapes, 3 with a peer", text)
        self.assertIn("warm: 1 shapes, 1 with a peer", text)
        self.assertIn("slower than 0.99 of the best peer, intervals apart: 1", text)
        self.assertIn("0.912  fp32 1024x32768 both none", text)
        self.assertIn("not installed: quack", text)
        self.assertIn("liger: 9 times the error (1 shapes", text)

    def test_an_error_larger_than_a_peers_is_called_so_beyond_half_a_unit(self):
        rows = [{"dtype": "fp32", "rows": 64, "columns": 4096, "kind": "normal",
                 "half_unit": 1e-7, "normd": ours, "peers": {"torch_eager": 5e-7, "liger": None}}
                for ours in (5.5e-7, 7e-7)]
        lines = table.errors_table(rows).splitlines()
        self.assertNotIn("larger", lines[1])
        self.assertTrue(lines[2].endswith("larger"))

    def test_a_template_of_ours_counts_as_ours(self):
        rows = [{"dtype": "fp32", "rows": 64, "columns": 4096, "kind": "normal", "half_unit": 1e-7,
                 "normd": 5e-7, "templates": {"sub_warp": theirs},
                 "peers": {"torch_eager": 5e-7, "liger": "not finite"}}
                for theirs in (5.5e-7, 7e-7, "not finite")]
        lines = table.errors_table(rows).splitlines()
        self.assertEqual(lines[0].split()[5:], ["normd", "sub_warp", "torch_eager", "liger"])
        self.assertTrue(lines[1].endswith("not finite"))
        self.assertTrue(lines[2].endswith("larger"))
        self.assertTrue(lines[3].endswith("WRONG"))


class PlotsTest(unittest.TestCase):
    def parse(self, text):
        return xml.etree.ElementTree.fromstring(text)

    def test_both_plots_are_well_formed_and_hold_a_point_a_shape(self):
        made = sample()
        name = "{http://www.w3.org/2000/svg}"
        speed = self.parse(plots.speed_plot(made))
        titles = [element.text for element in speed.iter(f"{name}title")]
        self.assertIn("bf16 16384x4096 both none: 1.07", titles)
        self.assertEqual(len(titles), 4)
        throughput = self.parse(plots.throughput_plot(made))
        self.assertTrue(list(throughput.iter(f"{name}polyline")))

    def test_plots_say_how_they_look_on_a_dark_page(self):
        self.assertIn("prefers-color-scheme:dark", plots.speed_plot(sample()))

    def test_a_document_without_rows_still_makes_plots(self):
        for plot in (plots.speed_plot, plots.throughput_plot):
            self.parse(plot(document([])))

    def test_no_point_lies_outside_the_drawing(self):
        far = row(**figures(64600.0, 1000.0, {"liger": peer(1e6)}))
        drawing = self.parse(plots.speed_plot(document([far])))
        for circle in drawing.iter("{http://www.w3.org/2000/svg}circle"):
            self.assertTrue(0 < float(circle.get("cy")) < 300)


class ProgramTest(unittest.TestCase):
    def test_a_document_is_rendered_again_without_a_gpu(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "compare-h200.json"
            results.write(path, sample())
            shown = io.StringIO()
            with mock.patch.object(sys, "argv", ["compare", "--render", str(path)]), \
                    contextlib.redirect_stdout(shown):
                self.assertEqual(program.main(), 0)
            self.assertIn("NVIDIA H200, driver 13.0", shown.getvalue())
            names = sorted(file.name for file in path.parent.iterdir())
        self.assertEqual(names, ["compare-h200-speed.svg", "compare-h200-throughput.svg",
                                 "compare-h200.json"])

    def test_an_unknown_peer_or_slice_is_told_and_ends_with_2(self):
        for words in (["--peers", "nobody"], ["--slice", "3/2"]):
            complaint = io.StringIO()
            with mock.patch.object(sys, "argv", ["compare", *words]), \
                    contextlib.redirect_stderr(complaint):
                self.assertEqual(program.main(), 2)
            self.assertIn("bench.compare:", complaint.getvalue())


if __name__ == "__main__":
    unittest.main()
