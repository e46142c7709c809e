"""The two plots: achieved throughput over the width, and the speed-up over the best peer. Pure."""

import pathlib

from bench.compare import findings, results
from bench.compare.svg import Panel, Series, drawing
from bench.compare.table import name_of

SPEED_TICKS = (0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0)
SPEED_RANGE = (0.5, 4.0)


def tb_per_s(row, ns):
    return 2 * findings.tensor_bytes(row) / ns / 1000


def throughput_panel(rows, dtype):
    chosen = sorted((row for row in rows if row["dtype"] == dtype and findings.is_large(row) and
                     findings.plain(row)),
                    key=lambda row: row["columns"])

    def line(name, time_of):
        points = [(row["columns"], tb_per_s(row, time_of(row))) for row in chosen if time_of(row)]
        return Series(name, points)

    def best_ns(row):
        best = results.best_peer(row)
        return best[1]["ns"] if best else None

    def eager_ns(row):
        return row["peers"].get("torch_eager", {}).get("ns")

    series = [line("normd", lambda row: row["ours_ns"]), line("copy", lambda row: row["copy_ns"]),
              line("best peer", best_ns), line("PyTorch eager", eager_ns)]
    highest = max((y for one in series for _, y in one.points), default=1.0)
    top = int(highest) + 1
    return Panel(f"{dtype}, 128 MiB each way", "columns", "TB/s", series, (0.0, float(top)),
                 tuple(range(top + 1)))


def throughput_plot(document):
    panels = [throughput_panel(document["rows"], dtype) for dtype in ("bf16", "fp16", "fp32")]
    return drawing([panel for panel in panels if panel.series[0].points or
                    panel.series[1].points] or panels[:1])


def speed_series(name, pairs):
    known = [(row, results.speed_over_best(entry)) for row, entry in pairs]
    known = [(row, speed) for row, speed in known if speed is not None]
    return Series(name, [(row["columns"], speed) for row, speed in known], line=False,
                  titles=[f"{name_of(row)}: {speed:.2f}" for row, speed in known])


def speed_panel(title, pairs):
    series = [speed_series(dtype, [pair for pair in pairs if pair[0]["dtype"] == dtype])
              for dtype in ("bf16", "fp16", "fp32")]
    return Panel(title, "columns", "times as fast as the best peer", series, SPEED_RANGE,
                 SPEED_TICKS, log_y=True, rule=1.0)


def speed_plot(document):
    rows = document["rows"]
    beyond = [(row, row) for row in rows if not row["fits_l2"]]
    cold = [(row, row) for row in rows if row["fits_l2"]]
    warm = [(row, row["warm"]) for row in rows if row["warm"] is not None]
    panels = [speed_panel("larger than L2", beyond), speed_panel("fits in L2, cold", cold),
              speed_panel("fits in L2, warm", warm)]
    return drawing([panel for panel in panels if any(one.points for one in panel.series)] or
                   panels[:1])


def write(document, json_path):
    """Both, beside the document: NAME-throughput.svg and NAME-speed.svg."""
    base = pathlib.Path(json_path)
    written = []
    for name, plot in (("throughput", throughput_plot), ("speed", speed_plot)):
        path = base.with_name(f"{base.stem}-{name}.svg")
        path.write_text(plot(document), encoding="utf-8")
        written.append(path)
    return written
