"""Libraries' own searches take the device's turn, or are skipped; with made-up libraries."""

import sys
import types
import unittest
from unittest import mock

import bench_path  # noqa: F401
from bench.compare import searches

INDUCTOR = "torch._inductor.runtime.triton_heuristics"
TRITON = "triton.runtime.autotuner"


class SearchesTest(unittest.TestCase):
    def setUp(self):
        self.seen = seen = []

        class CachingAutotuner:
            def bench(self, launcher, *_):
                seen.append(f"inductor times {launcher}")
                return 7.0

        class Autotuner:
            @property
            def do_bench(self):
                return lambda call, quantiles: (call(), seen.append("triton times"), [2.0])[2]

        modules = {}
        for name, one in ((INDUCTOR, CachingAutotuner), (TRITON, Autotuner)):
            parts = name.split(".")
            for count in range(1, len(parts) + 1):
                path = ".".join(parts[:count])
                modules.setdefault(path, types.ModuleType(path))
            setattr(modules[name], one.__name__, one)
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        self.inductor, self.triton = CachingAutotuner(), Autotuner()

    def call(self):
        self.seen.append("call")

    def turn(self):
        seen = self.seen

        class Turn:
            def __enter__(self):
                seen.append("turn")

            def __exit__(self, *_):
                seen.append("given")
                return False

        return Turn()

    def test_what_is_timed_is_timed_in_the_turn_and_compiled_before_it(self):
        searches.hold(self.turn())
        self.assertEqual(self.inductor.bench("a"), 7.0)
        self.assertEqual(self.seen, ["turn", "inductor times a", "given"])
        self.seen.clear()
        self.assertEqual(self.triton.do_bench(self.call, quantiles=(0.5,)), [2.0])
        self.assertEqual(self.seen, ["call", "turn", "call", "triton times", "given"])

    def test_a_skipped_search_compiles_everything_and_times_nothing(self):
        searches.skip()
        self.assertEqual(self.inductor.bench("a"), 1.0)
        self.assertEqual(self.triton.do_bench(self.call, quantiles=(0.5,)), [1.0, 1.0, 1.0])
        self.assertEqual(self.seen, ["call"])

    def test_a_library_without_these_parts_is_left_alone(self):
        del sys.modules[INDUCTOR].CachingAutotuner
        sys.modules[TRITON].Autotuner = type("Autotuner", (), {})
        searches.hold(self.turn())


if __name__ == "__main__":
    unittest.main()
