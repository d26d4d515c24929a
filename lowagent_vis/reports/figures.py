"""Figures of a report as SVG, drawn with matplotlib (the extra `stats`)."""

import io
from collections.abc import Sequence
from importlib.util import find_spec

from lowagent_vis.reports.tables import LanguageRow

_INK, _ACCENT, _LINE = "#16202a", "#0b7a75", "#dde3e8"
_ROW_INCHES = 0.5


def language_figure(rows: Sequence[LanguageRow]) -> str | None:
    """Draw success rates by language with their 95 % intervals; None without the extra."""
    if find_spec("matplotlib") is None:
        return None
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "lowagent-vis", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7.2, 0.9 + _ROW_INCHES * len(rows)), layout="constrained")
        axes = figure.subplots()
        for position, row in enumerate(rows):
            value, interval = row.rate.value, row.rate.interval
            if value is None:
                continue
            if interval is not None:
                axes.plot(
                    [100 * interval.low, 100 * interval.high],
                    [position, position],
                    color=_ACCENT,
                    linewidth=3,
                    alpha=0.45,
                    solid_capstyle="round",
                )
            axes.plot([100 * value], [position], "o", color=_ACCENT, markersize=8)
            axes.annotate(
                f"{100 * value:.0f} %",
                (100 * value, position),
                xytext=(0, 9),
                textcoords="offset points",
                ha="center",
                color=_INK,
                fontsize=9,
            )
        axes.set_yticks(range(len(rows)), [row.name for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.7)
        axes.set_xlim(-2, 102)
        axes.set_xlabel("tasks solved, % (line: 95 % interval)")
        axes.grid(axis="x", color=_LINE)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="y", length=0)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    svg = buffer.getvalue()
    return svg[svg.index("<svg") :]
