"""The document: its schema, merging of slices, what is refused, and its file."""

import json
import pathlib
import tempfile
import unittest

import bench_path  # noqa: F401
from bench.compare import results
from sample_document import document, figures, peer, row


class SchemaTest(unittest.TestCase):
    def test_a_whole_document_has_nothing_to_complain_of(self):
        warm = figures(3000.0, 3500.0, {"liger": peer(4000.0)})
        self.assertEqual(results.complaints(document([row(), row(rows=128, warm=warm)])), [])

    def test_each_missing_field_is_named(self):
        for name in results.ROW:
            broken = row()
            del broken[name]
            found = results.complaints(document([broken]))
            self.assertIn(f"row 0: no '{name}'", found)
        for name in results.TOP:
            broken = document([row()])
            del broken[name]
            self.assertIn(f"document: no '{name}'", results.complaints(broken))

    def test_a_peer_without_its_error_is_named(self):
        broken = row()
        del broken["peers"]["liger"]["error"]
        self.assertEqual(results.complaints(document([broken])), ["row 0 liger: no 'error'"])

    def test_a_shape_that_fits_in_l2_must_have_warm_figures(self):
        found = results.complaints(document([row(fits_l2=True)]))
        self.assertEqual(found, ["row 0: fits in L2 but has no warm figures"])

    def test_a_shifted_case_is_another_than_the_aligned_one(self):
        self.assertEqual(results.complaints(document([row(), row(shift=1)])), [])

    def test_two_rows_of_one_case_are_refused(self):
        self.assertEqual(results.complaints(document([row(), row()])),
                         ["two rows are of one case"])


class BestPeerTest(unittest.TestCase):
    def test_a_wrong_peer_is_never_the_best(self):
        entry = figures(1.0, 100.0, {"a": peer(50.0, wrong=True), "b": peer(110.0)})
        self.assertEqual(results.best_peer(entry)[0], "b")
        self.assertAlmostEqual(results.speed_over_best(entry), 1.1)

    def test_without_a_timed_peer_or_our_own_time_nothing_is_claimed(self):
        self.assertIsNone(results.speed_over_best(figures(1.0, 100.0, {"a": peer(None)})))
        self.assertIsNone(results.overlaps_best(figures(1.0, 100.0, {})))
        self.assertIsNone(results.speed_over_best(figures(1.0, None, {"a": peer(90.0)})))
        self.assertIsNone(results.overlaps_best(figures(1.0, None, {"a": peer(90.0)})))

    def test_intervals_that_meet_overlap(self):
        self.assertTrue(results.overlaps_best(figures(1.0, 100.0, {"a": peer(101.0)})))
        self.assertFalse(results.overlaps_best(figures(1.0, 100.0, {"a": peer(90.0)})))


class MergeTest(unittest.TestCase):
    def test_a_slice_adds_its_rows_and_replaces_those_of_the_same_case(self):
        before = document([row(ours_ns=70000.0), row(columns=1024)])
        part = document([row(ours_ns=66000.0), row(dtype="fp32")], reference_ns=65400.0)
        merged = results.merge(before, part)
        self.assertEqual([one["ours_ns"] for one in merged["rows"]], [66000.0, 67000.0, 67000.0])
        self.assertEqual(len(merged["slices"]), 2)
        self.assertEqual(merged["reference_copy"]["ns"], 65000.0)
        self.assertEqual(results.complaints(merged), [])

    def test_merging_the_same_slice_twice_changes_no_row(self):
        part = document([row(), row(dtype="fp32")])
        once = results.merge(document([row(columns=64)]), part)
        self.assertEqual(results.merge(once, part)["rows"], once["rows"])

    def test_a_reference_copy_more_than_one_percent_off_is_refused(self):
        for begin, end in ((66000.0, 65000.0), (65000.0, 64300.0)):
            part = document([row()])
            part["slices"][0]["reference"][0].update(begin_ns=begin, end_ns=end)
            with self.assertRaisesRegex(results.MergeRefused, "reference copy"):
                results.merge(document([row()]), part)

    def test_each_device_is_held_to_its_own_reference_copy(self):
        other = {"device": "0b", "begin_ns": 67000.0, "end_ns": 67100.0}
        part = document([row()])
        part["slices"][0]["reference"].append(other)
        merged = results.merge(document([row()]), part)
        self.assertEqual(results.known_reference_ns(merged, "0b"), 67000.0)
        later = document([row()])
        later["slices"][0]["reference"] = [{**other, "begin_ns": 65000.0}]
        with self.assertRaisesRegex(results.MergeRefused, "device 0b"):
            results.merge(merged, later)

    def test_a_device_that_drifts_within_its_first_slice_is_refused(self):
        part = document([row()])
        part["slices"][0]["reference"][0]["end_ns"] = 66000.0
        with self.assertRaisesRegex(results.MergeRefused, "slice's end"):
            results.check_references(part, part)
        part["slices"][0]["reference"][0]["end_ns"] = None
        results.check_references(part, part)

    def test_another_driver_gpu_or_library_version_is_refused(self):
        for changes in ({"driver": "14.0"}, {"gpu": "NVIDIA B200"},
                        {"versions": {"normd": "0.1.0", "torch": "2.12.0"}}):
            with self.assertRaises(results.MergeRefused, msg=changes):
                results.merge(document([row()]), document([row()], **changes))

    def test_a_library_that_only_one_slice_had_does_not_keep_them_apart(self):
        part = document([row()], versions={"normd": "0.1.0", "liger-kernel": "0.8"})
        merged = results.merge(document([row()]), part)
        self.assertEqual(merged["versions"],
                         {"normd": "0.1.0", "torch": "2.11.0", "liger-kernel": "0.8"})

    def test_errors_of_an_earlier_run_stay(self):
        before = document([row()], errors=[{"kind": "normal"}])
        self.assertEqual(results.merge(before, document([row()]))["errors"], [{"kind": "normal"}])


class FileTest(unittest.TestCase):
    def test_what_is_written_reads_back_the_same_with_a_row_a_line(self):
        made = document([row(), row(dtype="fp32")], errors=[{"kind": "normal"}])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results" / "compare-h200.json"
            results.write(path, made)
            self.assertEqual(results.read(path), made)
            self.assertEqual(list(path.parent.iterdir()), [path])
            lines = path.read_text(encoding="utf-8").splitlines()
        self.assertEqual(sum(line.startswith('  {"dtype"') for line in lines), 2)

    def test_a_document_without_rows_is_valid_json(self):
        self.assertEqual(json.loads(results.text_of(document([]))), document([]))

    def test_the_gpu_names_the_file(self):
        self.assertEqual(results.slug("NVIDIA H200"), "h200")
        self.assertEqual(results.slug("NVIDIA A100-SXM4-80GB"), "a100-sxm4-80gb")


if __name__ == "__main__":
    unittest.main()
