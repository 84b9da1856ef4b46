"""The uptime of an endpoint over time as blocks, each with the worst that was in it."""

from __future__ import annotations

from collections.abc import Sequence

from gwtui.domain.uptime import DEGRADED_BELOW, DOWN_BELOW
from gwtui.ui.widgets.plot import Block, Window
from gwtui.ui.widgets.plot.raster import column_of
from gwtui.watch.history.model import Curve, Point

_GAP = Block("", "plain")
_ABSENT = Block("no traffic", "muted")
_HEALTHY = Block("healthy", "good")
_DEGRADED = Block("degraded", "warn")
_DOWN = Block("down", "bad")
STATES = (_HEALTHY, _DEGRADED, _DOWN, _ABSENT)
"""What a block may stand for."""
_WORST_LAST = (_GAP, _ABSENT, _HEALTHY, _DEGRADED, _DOWN)


def blocks_of(curve: Curve | None, window: Window, width: int) -> Sequence[Block]:
    """One block per cell; what nobody recorded stays blank."""
    cells = [_GAP] * max(0, width)
    if curve is None or not cells:
        return cells
    for point in curve.points:
        if not window.since <= point.at < window.until:
            continue
        block = block_of(point)
        first = column_of(point.at, window, width)
        last = column_of(point.at + curve.width, window, width, end=True)
        for cell in range(first, max(first + 1, last)):
            cells[cell] = max(cells[cell], block, key=_WORST_LAST.index)
    return cells


def block_of(point: Point) -> Block:
    """One slot by its lowest share of good requests."""
    if point.state == "gap":
        return _GAP
    if point.state == "null" or point.low is None:
        return _ABSENT
    if point.low < DOWN_BELOW:
        return _DOWN
    return _DEGRADED if point.low < DEGRADED_BELOW else _HEALTHY
