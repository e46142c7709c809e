"""Line and point charts as SVG text, readable on light and dark pages. Pure; no library."""

import dataclasses
import html
import math

WIDTH, PANEL_HEIGHT = 860, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 160, 34, 46

# One shade of each hue for light pages and one for dark ones.
COLORS = (("#1f6fd0", "#6db0ff"), ("#888888", "#9a9a9a"), ("#c4511a", "#ff9a5c"),
          ("#2b8a3e", "#74d48a"), ("#8a3fb0", "#d08cf2"))


@dataclasses.dataclass
class Series:
    name: str
    points: list  # of (x, y)
    line: bool = True
    titles: list = dataclasses.field(default_factory=list)  # of points, shown on hovering


@dataclasses.dataclass
class Panel:
    title: str
    x_name: str
    y_name: str
    series: list
    y_range: tuple
    y_ticks: tuple
    log_y: bool = False
    rule: float | None = None  # a horizontal line that means something


def style():
    light = "".join(f".c{i}{{stroke:{pair[0]};fill:{pair[0]}}}" for i, pair in enumerate(COLORS))
    dark = "".join(f".c{i}{{stroke:{pair[1]};fill:{pair[1]}}}" for i, pair in enumerate(COLORS))
    return ("<style>text{font:12px sans-serif;fill:#222}.back{fill:#fff}"
            ".grid{stroke:#ddd;stroke-width:1}.rule{stroke:#555;stroke-dasharray:5 4}"
            ".line{fill:none!important;stroke-width:2}.point{stroke:none!important}" + light +
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#16181c}"
            ".grid{stroke:#333}.rule{stroke:#aaa}" + dark + "}</style>")


def short(number):
    """16384 as 16K."""
    for size, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if number >= size and number % size == 0:
            return f"{number // size}{letter}"
    return f"{number:g}"


class Scale:
    """Positions in one panel; x is always logarithmic."""

    def __init__(self, panel, top):
        xs = [x for series in panel.series for x, _ in series.points] or [1]
        self.low = math.floor(math.log2(min(xs)))
        self.high = max(self.low + 1, math.ceil(math.log2(max(xs))))
        self.panel = panel
        self.top = top

    def x(self, value):
        share = (math.log2(value) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        low, high = self.panel.y_range
        value = min(max(value, low), high)  # what lies outside is drawn at the edge
        if self.panel.log_y:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return self.top + TOP + (1 - (value - low) / (high - low)) * (PANEL_HEIGHT - TOP - BOTTOM)


def axes(panel, scale):
    parts = []
    bottom = scale.top + PANEL_HEIGHT - BOTTOM
    for exponent in range(scale.low, scale.high + 1):
        x = scale.x(2 ** exponent)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{scale.top + TOP}" '
                     f'y2="{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">'
                     f'{short(2 ** exponent)}</text>')
    for tick in panel.y_ticks:
        y = scale.y(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                     f'y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    if panel.rule is not None:
        y = scale.y(panel.rule)
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                     f'y2="{y:.1f}"/>')
    parts.append(f'<text x="{LEFT}" y="{scale.top + 20}" font-weight="bold">'
                 f'{html.escape(panel.title)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{bottom + 36}" '
                 f'text-anchor="middle">{html.escape(panel.x_name)}</text>')
    middle = scale.top + PANEL_HEIGHT / 2
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">'
                 f'{html.escape(panel.y_name)}</text>')
    return parts


def marks(series, number, scale):
    kind = f"c{number % len(COLORS)}"
    places = [(scale.x(x), scale.y(y)) for x, y in series.points]
    parts = []
    if series.line and len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline class="line {kind}" points="{path}"/>')
    titles = series.titles or [""] * len(places)
    for (x, y), title in zip(places, titles):
        inner = f"<title>{html.escape(title)}</title>" if title else ""
        parts.append(f'<circle class="point {kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.2">{inner}'
                     "</circle>")
    y = scale.top + TOP + 10 + 18 * number
    parts.append(f'<circle class="point {kind}" cx="{WIDTH - RIGHT + 14}" cy="{y - 4}" r="4"/>')
    parts.append(f'<text x="{WIDTH - RIGHT + 24}" y="{y}">{html.escape(series.name)}</text>')
    return parts


def drawing(panels):
    height = PANEL_HEIGHT * max(1, len(panels))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" height="{height}">', style(),
             f'<rect class="back" width="{WIDTH}" height="{height}"/>']
    for index, panel in enumerate(panels):
        scale = Scale(panel, index * PANEL_HEIGHT)
        parts += axes(panel, scale)
        for number, series in enumerate(panel.series):
            parts += marks(series, number, scale)
    return "\n".join(parts) + "\n</svg>\n"
