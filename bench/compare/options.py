"""The command line. Pure; no torch."""

import argparse
import pathlib

from bench.compare import grid, peers

ROOT = pathlib.Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Measures normd's tuned LayerNorm kernels beside a plain copy and other libraries,
each shape in one process on one GPU, and writes bench/results/compare-GPU.json
and two plots.

exit status: 0 done; 1 something of ours failed, is wrong or was not merged;
2 the command line or the machine is not fit; 3 the time limit came first, run
again with --resume."""


def default_normctl():
    places = [ROOT / "build" / "release" / "bin" / "normctl", ROOT / "bin" / "normctl"]
    return str(next((place for place in places if place.exists()), places[0]))


def parser():
    made = argparse.ArgumentParser(prog="python3 -m bench.compare", description=DESCRIPTION,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    what = made.add_argument_group("what")
    what.add_argument("--grid", default="full", metavar="NAME,...",
                      help=", ".join(grid.GRIDS) + " (%(default)s)")
    what.add_argument("--list", metavar="FILE", help="shapes of a file instead of a grid")
    what.add_argument("--slice", metavar="I/N", default="1/1", help="only the I-th of N parts")
    what.add_argument("--peers", default="default",
                      help="default, all, NAME,NAME,... or +NAME to add to the default: " +
                      ", ".join(peer.name + ("" if peer.by_default else " (not by default)")
                                for peer in peers.PEERS))
    what.add_argument("--check", action="store_true",
                      help="only the table of errors against float64; nothing is timed")
    what.add_argument("--self-test", action="store_true",
                      help="three shapes, quickly, into a temporary folder")
    what.add_argument("--render", metavar="JSON",
                      help="only the table and plots of a document; needs no GPU")
    what.add_argument("--page", metavar="FILE",
                      help="with --render: also the generated parts of docs/performance.md")
    ours = made.add_argument_group("our winners")
    ours.add_argument("--normctl", default=default_normctl(), metavar="PATH",
                      help="the program; normd lies beside it (%(default)s)")
    ours.add_argument("--store", default=str(ROOT / "build" / "compare-store"), metavar="DIR",
                      help="where winners are kept; missing ones are tuned (%(default)s)")
    ours.add_argument("--budget", default="", help="of one tuning, such as 5s (the tuner's own)")
    ours.add_argument("--bucket-mode", default="single_row_count",
                      help="single_row_count: winners for exactly the rows of a shape, as the "
                      "libraries that tune themselves have them; bucketed: as a daemon finds them "
                      "that met some other row count of the bucket first (%(default)s)")
    ours.add_argument("--again", action="store_true", help="tune although a winner is stored")
    ours.add_argument("--tune-only", action="store_true", help="fill the store, measure nothing")
    how = made.add_argument_group("how")
    how.add_argument("--devices", default="0", metavar="all|I,...",
                     help="GPUs that share the shapes, by `normctl devices` (%(default)s)")
    how.add_argument("--processes", type=int, default=1, metavar="N",
                     help="on each GPU: while one measures, the others compile (%(default)s)")
    how.add_argument("--prepare", type=int, metavar="N",
                     help="processes on each GPU that have libraries compile while our winners are "
                     "tuned; default: as many as cores are left, 0: none")
    how.add_argument("--contender-ms", type=float, default=50.0,
                     help="device time of one contender at one shape and cache state")
    how.add_argument("--time-limit", type=float, metavar="S",
                     help="begin no further shape after so many seconds")
    how.add_argument("--resume", action="store_true", help="go on with an unfinished slice")
    how.add_argument("--fresh", action="store_true",
                     help="begin a new document instead of merging into the one that is there")
    how.add_argument("--out", metavar="DIR", default=str(ROOT / "bench" / "results"))
    return made


def chosen_devices(text, count):
    """Of `all` or indices parted by commas, the indices; all have to be there."""
    if text == "all":
        return list(range(count))
    words = text.split(",")
    if not all(word.isdigit() and int(word) < count for word in words):
        raise ValueError(f"--devices {text}: expected all or indices below {count}")
    return [int(word) for word in dict.fromkeys(words)]


def cases_of(options):
    """The cases of the chosen slice."""
    if options.self_test:
        return grid.self_test_grid()
    if options.list:
        path = pathlib.Path(options.list)
        cases = grid.parse_list(path.read_text(encoding="utf-8"), path.name)
    else:
        cases = grid.by_names(options.grid)
    return grid.slice_of(cases, *grid.parse_slice(options.slice))
