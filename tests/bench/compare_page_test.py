"""docs/performance.md from a made-up document: every figure is computed from the rows again, and
what people wrote stays."""

import contextlib
import copy
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import bench_path
from bench.compare import __main__ as program
from bench.compare import findings, page, results
from sample_document import document, figures, peer, row

PAGE = bench_path.ROOT / "docs" / "performance.md"


def large(columns, ours_ns, candidate="block_registers threads=128", **peers):
    return row(rows=(128 << 20) // (2 * columns), columns=columns, candidate=candidate,
               **figures(64600.0, ours_ns, {name: peer(ns) for name, ns in peers.items()}))


def sample():
    """Against torch_eager 2, 1 and 4 times as fast; against quack, which is not of the usual, 1."""
    warm = figures(1000.0, 2000.0, {"torch_eager": peer(1500.0)})
    return document([
        large(1024, 64600.0, torch_eager=129200.0, quack=64600.0),
        large(16384, 68000.0, "cluster_pipeline cluster=1", torch_eager=68000.0),
        row(rows=128, columns=1024, warm=warm, candidate="sub_warp threads=64",
            **figures(2000.0, 2500.0, {"torch_eager": peer(10000.0)}))],
        errors=[{"dtype": "fp32", "rows": 64, "columns": 4096, "kind": "scale 1e18",
                 "half_unit": 1e-7, "normd": 5e-7, "templates": {"sub_warp": 4e-7},
                 "peers": {"torch_eager": "not finite", "liger": 5e-7}}])


def odd_sample():
    def one(columns, ours_ns, shift=0):
        return row(rows=(128 << 20) // (2 * columns), columns=columns, shift=shift,
                   **figures(64600.0, ours_ns, {}))
    return document([one(1000, 67108.0), one(1001, 134216.0), one(1001, 67041.0, shift=1)])


class FindingsTest(unittest.TestCase):
    def test_means_are_over_the_peers_that_are_meant(self):
        usual = findings.speeds(sample(), "cold", findings.USUAL_PEERS)
        self.assertEqual([round(one[0], 6) for one in usual], [1.0, 2.0, 4.0])
        value, count = findings.mean(one[0] for one in usual)
        self.assertAlmostEqual(value, 2.0)
        self.assertEqual(count, 3)
        value, _ = findings.mean(one[0] for one in findings.speeds(sample(), "cold"))
        self.assertAlmostEqual(value, 4 ** (1 / 3))

    def test_a_wrong_peer_is_not_what_we_are_compared_with(self):
        made = document([row(**figures(1.0, 100.0, {"torch_eager": peer(50.0, wrong=True)}))])
        self.assertEqual(findings.speeds(made, "cold", ("torch_eager",)), [])

    def test_bands_hold_the_large_plain_shapes_of_their_widths(self):
        first, second, third = findings.bands(sample())
        self.assertEqual([one for one, _ in first[3]], [1.0])
        self.assertAlmostEqual(second[3][0][0], 64600 / 68000)
        self.assertEqual((second[0], second[1], second[2], third[3]), (8193, 16384, 0.93, []))

    def test_the_map_counts_templates_by_rows_and_columns(self):
        won = findings.winners_map(sample())
        self.assertEqual(won[findings.cell_of(65536, findings.ROW_EDGES),
                             findings.cell_of(1024, findings.COLUMN_EDGES)],
                         {"block_registers": 1})
        self.assertEqual(sum(sum(cell.values()) for cell in won.values()), 3)
        self.assertEqual(findings.cell_of(10 ** 6, findings.ROW_EDGES), len(findings.ROW_EDGES))

    def test_odd_widths_are_compared_for_each_element_with_the_even_neighbour(self):
        found = findings.odd_ratios(odd_sample())
        self.assertEqual([(one["columns"], one["shift"]) for one, _ in found],
                         [(1001, 0), (1001, 1)])
        self.assertAlmostEqual(found[0][1], 0.5, places=3)
        self.assertAlmostEqual(found[1][1], 1.001, places=3)

    def test_without_the_neighbour_nothing_is_said(self):
        made = odd_sample()
        del made["rows"][0]
        self.assertEqual(findings.odd_ratios(made), [])


class PartsTest(unittest.TestCase):
    def line(self, text, begin):
        return next(line for line in text.splitlines() if line.startswith(f"| {begin}"))

    def test_each_mean_is_computed_from_the_rows(self):
        text = page.means(sample())
        self.assertEqual(self.line(text, "the best of torch_eager"),
                         "| the best of torch_eager | 2.00 | 3 | 0 | 0.75 | 1 | 1 |")
        self.assertEqual(self.line(text, "the best of all"),
                         "| the best of all | 1.59 | 3 | 0 | 0.75 | 1 | 1 |")
        faster = sample()
        for one in faster["rows"]:
            one["ours_ns"] /= 2
        self.assertIn("| the best of all | 3.17 |", page.means(faster))

    def test_the_share_of_the_copy_is_said_for_each_band_with_its_least(self):
        line = self.line(page.against_copy(sample()), "8193 to 16384")
        self.assertEqual(line, "| 8193 to 16384 | 1 | 0.950 | 0.950 | "
                               "bf16 4096x16384 both none | 0.93 | 0 |")

    def test_the_worst_come_first_with_the_peer_that_is_faster(self):
        lines = page.worst(sample()).splitlines()
        self.assertTrue(lines[2].startswith("| bf16 65536x1024 both none | cold | 1.000 | quack"))
        self.assertIn("| in the cache | 0.750 | torch_eager | 1.50 | 2.00 |", lines[5])

    def test_errors_that_are_not_finite_are_said_to_be(self):
        line = self.line(page.errors(sample()), "fp32")
        self.assertIn("| scale 1e18 | 1e-07 | 5e-07 | 4e-07 | not finite | 5e-07 |", line)

    def test_a_document_without_rows_or_errors_makes_every_part(self):
        for name, part in page.PARTS.items():
            self.assertIsInstance(part(document([])), str, name)


class UpdateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name) / "page.md"

    def update(self, text, made=None):
        self.path.write_text(text, encoding="utf-8")
        page.update(made or sample(), pathlib.Path(self.folder.name) / "compare-h200.json",
                    self.path)
        return self.path.read_text(encoding="utf-8")

    def test_only_what_stands_between_markers_is_written_anew(self):
        text = self.update("Mine.\n<!-- compare: means -->\nyesterday\n<!-- end of means -->\n"
                           "Also mine.\n")
        self.assertTrue(text.startswith("Mine.\n<!-- compare: means -->\n| against |"))
        self.assertTrue(text.endswith("<!-- end of means -->\nAlso mine.\n"))
        self.assertNotIn("yesterday", text)

    def test_the_command_of_every_part_of_the_run_is_named(self):
        made = sample()
        made["slices"] += [{**made["slices"][0], "command": "python3 -m bench.compare --list some"}]
        text = self.update("<!-- compare: made with -->\n<!-- end of made with -->\n", made)
        self.assertIn("    python3 -m bench.compare\n    python3 -m bench.compare --list some\n",
                      text)

    def test_writing_twice_changes_nothing(self):
        once = self.update(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(self.update(once), once)

    def test_the_page_of_the_project_has_every_part(self):
        text = PAGE.read_text(encoding="utf-8")
        for name in ("plots", *page.PARTS):
            self.assertEqual(text.count(f"<!-- compare: {name} -->\n"), 1, name)
            self.assertEqual(text.count(f"<!-- end of {name} -->"), 1, name)

    def test_an_unknown_part_is_refused(self):
        with self.assertRaisesRegex(ValueError, "weather"):
            self.update("<!-- compare: weather -->\n<!-- end of weather -->\n")

    def test_the_command_renders_the_page_beside_table_and_plots(self):
        self.path.write_text("<!-- compare: worst -->\n<!-- end of worst -->\n"
                             "<!-- compare: plots -->\n<!-- end of plots -->\n", encoding="utf-8")
        file = pathlib.Path(self.folder.name) / "compare-h200.json"
        results.write(file, copy.deepcopy(sample()))
        words = ["compare", "--render", str(file), "--page", str(self.path)]
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(program.main(), 0)
        text = self.path.read_text(encoding="utf-8")
        self.assertIn("quack", text)
        self.assertIn("(./compare-h200-throughput.svg)", text)


if __name__ == "__main__":
    unittest.main()
