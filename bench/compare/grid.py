"""The shapes that are compared: the grids, lists of shapes, and their slices. Pure; no torch."""

import dataclasses
import pathlib

ELEMENT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}
AFFINE = ("both", "gamma", "none", "both_fp32")  # both_fp32: fp32 gamma and beta with 16-bit x
STATS = ("none", "mean_rstd")

LARGE_BYTES = 128 << 20  # of x, and as much of y
WIDTHS = (64, 128, 256, 384, 512, 768, 1000, 1024, 1600, 2048, 3072, 4096, 5120, 8192, 12288,
          16384, 32768, 65536, 131072, 262144)
FEW_ROWS = (1, 16, 128, 1024, 4096)
FEW_ROWS_WIDTHS = (1024, 4096, 8192, 16384, 65536)
VARIANT_WIDTHS = (128, 1024, 8192, 65536)  # with other parameters and with statistics
ODD_WIDTHS = {1001: 1000, 4095: 4096, 8191: 8192}  # with the even neighbour of each

MODELS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "shapes" / "models.txt"


@dataclasses.dataclass(frozen=True, order=True)
class Case:
    """One LayerNorm to compare: y has the dtype of x."""

    dtype: str
    rows: int
    columns: int
    affine: str = "both"
    stats: str = "none"
    shift: int = 0  # elements by which x and y begin after an aligned address

    def __str__(self):
        words = f"{self.dtype} {self.rows}x{self.columns} {self.affine} {self.stats}"
        return words + (f" shift={self.shift}" if self.shift else "")

    @property
    def tensor_bytes(self):
        """Of x, and of y."""
        return self.rows * self.columns * ELEMENT_BYTES[self.dtype]

    @property
    def align_bytes(self):
        """What the addresses of x and y are multiples of."""
        return self.shift * ELEMENT_BYTES[self.dtype] if self.shift else 16

    @property
    def parameter_dtype(self):
        return "fp32" if self.affine == "both_fp32" else self.dtype

    @property
    def has_gamma(self):
        return self.affine != "none"

    @property
    def has_beta(self):
        return self.affine in ("both", "both_fp32")


def large_rows(dtype, columns):
    """The rows of which x fills 128 MiB."""
    return LARGE_BYTES // (columns * ELEMENT_BYTES[dtype])


def full_grid():
    dtypes = ("bf16", "fp16", "fp32")
    cases = [Case(dtype, large_rows(dtype, columns), columns)
             for columns in WIDTHS for dtype in dtypes]
    cases += [Case(dtype, rows, columns)
              for rows in FEW_ROWS for columns in FEW_ROWS_WIDTHS for dtype in dtypes]
    for columns in VARIANT_WIDTHS:
        for dtype in dtypes:
            shape = (dtype, large_rows(dtype, columns), columns)
            cases += [Case(*shape, affine="none"), Case(*shape, affine="gamma"),
                      Case(*shape, stats="mean_rstd")]
            if dtype != "fp32":
                cases.append(Case(*shape, affine="both_fp32"))
    return unique(cases)


def quick_grid():
    """A dozen shapes that stand for the others."""
    return [Case("bf16", large_rows("bf16", columns), columns)
            for columns in (128, 768, 4096, 16384, 65536)] + [
        Case("fp32", large_rows("fp32", 1024), 1024),
        Case("fp32", large_rows("fp32", 32768), 32768),
        Case("bf16", 1, 4096), Case("bf16", 128, 1024), Case("bf16", 1024, 8192),
        Case("fp16", 512, 384), Case("fp16", 1370, 1024)]


def odd_grid():
    """Odd widths at aligned and at shifted addresses, and the even width beside each."""
    cases = []
    for odd, even in ODD_WIDTHS.items():
        for dtype in ("bf16", "fp16", "fp32"):
            cases += [Case(dtype, large_rows(dtype, even), even),
                      Case(dtype, large_rows(dtype, odd), odd),
                      Case(dtype, large_rows(dtype, odd), odd, shift=1)]
    return cases


def self_test_grid():
    return [Case("fp16", 512, 384), Case("bf16", 4096, 1000, affine="both_fp32"),
            Case("fp32", 1024, 16384, stats="mean_rstd"), Case("bf16", 4096, 1001, shift=1)]


def parse_list(text, name):
    """Shapes of a list such as examples/shapes/models.txt: `ROWSxCOLUMNS dtype  # words`."""
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        shape = words[0].split("x")
        if len(words) != 2 or len(shape) != 2 or words[1] not in ELEMENT_BYTES or not all(
                part.isdigit() and int(part) > 0 for part in shape):
            raise ValueError(f"{name}:{number}: expected ROWSxCOLUMNS and fp32, fp16 or bf16, "
                             f"got '{line.strip()}'")
        cases.append(Case(words[1], int(shape[0]), int(shape[1])))
    return unique(cases)


def models_grid():
    return parse_list(MODELS.read_text(encoding="utf-8"), MODELS.name)


GRIDS = {"full": full_grid, "models": models_grid, "odd": odd_grid, "quick": quick_grid}


def by_names(text):
    """Of names parted by commas, one after the other; nothing twice."""
    names = text.split(",")
    unknown = [name for name in names if name not in GRIDS]
    if unknown:
        raise ValueError(f"no grid is called {', '.join(unknown)}; there are {', '.join(GRIDS)}")
    return unique([case for name in names for case in GRIDS[name]()])


def unique(cases):
    return list(dict.fromkeys(cases))


def parse_slice(text):
    """(index, count) of `i/n`, 1 <= i <= n."""
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise ValueError(f"a slice is i/n with 1 <= i <= n, got '{text}'")
    return int(index), int(count)


def slice_of(cases, index, count):
    """Every count-th case, so that slices take about equally long."""
    return cases[index - 1::count]
