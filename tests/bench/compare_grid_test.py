"""Which shapes are compared, how they are sliced, and the statistics of samples."""

import unittest

import bench_path  # noqa: F401
from bench.compare import grid, options, peers, statistics
from bench.compare.grid import Case


class GridTest(unittest.TestCase):
    def test_the_full_grid_has_every_width_at_128_mib_in_each_dtype(self):
        cases = set(grid.full_grid())
        for dtype, element_bytes in (("bf16", 2), ("fp16", 2), ("fp32", 4)):
            for columns in grid.WIDTHS:
                self.assertIn(Case(dtype, (128 << 20) // (columns * element_bytes), columns), cases)
        self.assertEqual(len(grid.WIDTHS), 20)

    def test_the_full_grid_has_few_rows_with_each_of_five_widths(self):
        cases = set(grid.full_grid())
        for rows in (1, 16, 128, 1024, 4096):
            for columns in (1024, 4096, 8192, 16384, 65536):
                self.assertIn(Case("fp32", rows, columns), cases)

    def test_variants_stand_at_four_widths_only(self):
        variants = [case for case in grid.full_grid()
                    if case.affine != "both" or case.stats != "none"]
        self.assertEqual({case.columns for case in variants}, {128, 1024, 8192, 65536})
        self.assertEqual(len(variants), 4 * 11)
        self.assertFalse([case for case in variants
                          if case.affine == "both_fp32" and case.dtype == "fp32"])

    def test_no_case_comes_twice(self):
        for name, make in grid.GRIDS.items():
            cases = make()
            self.assertEqual(len(cases), len(set(cases)), name)

    def test_the_shapes_of_models_are_those_of_the_project_list(self):
        cases = grid.models_grid()
        self.assertEqual(len(cases), 129)
        self.assertIn(Case("fp16", 257, 1024), cases)
        fitting = [case for case in cases if 2 * case.tensor_bytes <= 60e6]
        self.assertEqual(len(fitting), 75)

    def test_a_bad_line_of_a_list_is_named_with_its_number(self):
        with self.assertRaisesRegex(ValueError, "shapes.txt:2: .*4096 bf16"):
            grid.parse_list("1x64 bf16\n4096 bf16\n", "shapes.txt")

    def test_the_odd_widths_stand_aligned_and_shifted_beside_their_even_neighbours(self):
        cases = set(grid.odd_grid())
        for odd, even in ((1001, 1000), (4095, 4096), (8191, 8192)):
            for dtype, element_bytes in (("bf16", 2), ("fp16", 2), ("fp32", 4)):
                rows = (128 << 20) // (odd * element_bytes)
                self.assertIn(Case(dtype, rows, odd), cases)
                shifted = Case(dtype, rows, odd, shift=1)
                self.assertIn(shifted, cases)
                self.assertEqual(shifted.align_bytes, element_bytes)
                self.assertIn(Case(dtype, (128 << 20) // (even * element_bytes), even), cases)
        self.assertEqual(len(cases), 27)

    def test_several_grids_are_one_list_without_a_case_twice(self):
        cases = grid.by_names("full,models,odd")
        self.assertEqual(len(cases), len(set(cases)))
        self.assertEqual(set(cases), {*grid.full_grid(), *grid.models_grid(), *grid.odd_grid()})
        with self.assertRaisesRegex(ValueError, "huge"):
            grid.by_names("full,huge")

    def test_slices_part_the_grid_without_rest_or_overlap(self):
        cases = grid.full_grid()
        parts = [grid.slice_of(cases, index, 4) for index in (1, 2, 3, 4)]
        self.assertEqual(sorted(sum(parts, [])), sorted(cases))

    def test_a_slice_outside_its_count_is_refused(self):
        for text in ("0/4", "5/4", "4", "a/b", ""):
            with self.assertRaises(ValueError, msg=text):
                grid.parse_slice(text)
        self.assertEqual(grid.parse_slice("2/4"), (2, 4))


class PeersTest(unittest.TestCase):
    def test_what_searches_for_seconds_takes_part_when_asked_only(self):
        names = [peer.name for peer in peers.choose("default")]
        self.assertNotIn("helion_tuned", names)
        self.assertIn("torch_compile", names)
        added = [peer.name for peer in peers.choose("+helion_tuned")]
        self.assertEqual(sorted(added), sorted([*names, "helion_tuned"]))
        self.assertEqual([peer.name for peer in peers.choose("liger,quack")], ["liger", "quack"])
        self.assertEqual(peers.choose("all"), peers.PEERS)

    def test_an_unknown_peer_is_refused(self):
        with self.assertRaisesRegex(ValueError, "oneflow"):
            peers.choose("torch_eager,oneflow")


class DevicesTest(unittest.TestCase):
    def test_devices_are_all_or_those_named(self):
        self.assertEqual(options.chosen_devices("all", 3), [0, 1, 2])
        self.assertEqual(options.chosen_devices("2,0", 3), [2, 0])
        for text in ("3", "a", ""):
            with self.assertRaises(ValueError, msg=text):
                options.chosen_devices(text, 3)


class StatisticsTest(unittest.TestCase):
    def test_an_outlier_moves_neither_median_nor_interval_far(self):
        median, low, high = statistics.median_interval([100.0] * 30 + [101.0] * 30 + [900.0])
        self.assertTrue(100.0 <= low <= median <= high <= 101.0)

    def test_a_slow_contender_is_sampled_evenly_over_the_rounds(self):
        taken = [number for number in range(60) if statistics.takes_part(number, 60, 7)]
        self.assertEqual(len(taken), 7)
        gaps = [after - before for before, after in zip(taken, taken[1:])]
        self.assertLessEqual(max(gaps) - min(gaps), 1)
        self.assertTrue(all(statistics.takes_part(number, 9, 9) for number in range(9)))

    def test_rounds_with_a_slow_control_do_not_count(self):
        control = {0: 100.0, 1: 101.0, 2: 150.0, 3: 99.0}
        self.assertEqual(statistics.quiet_rounds(control), {0, 1, 3})

    def test_short_launches_are_repeated_until_a_sample_is_long_enough(self):
        self.assertEqual(statistics.launches_per_sample(2000.0), 100)
        self.assertEqual(statistics.launches_per_sample(65000.0), 4)
        self.assertEqual(statistics.launches_per_sample(1e6), 1)
        self.assertEqual(statistics.launches_per_sample(1.0), 128)

    def test_touching_intervals_overlap(self):
        self.assertTrue(statistics.overlap([1, 2], [2, 3]))
        self.assertFalse(statistics.overlap([1, 2], [2.1, 3]))

    def test_the_geometric_mean_of_a_number_and_its_inverse_is_one(self):
        self.assertAlmostEqual(statistics.geometric_mean([4.0, 0.25]), 1.0)
        self.assertIsNone(statistics.geometric_mean([]))


if __name__ == "__main__":
    unittest.main()
