"""Since when what a key used stands still, by the readings that were recorded.

What was used only ever grows. So two readings that say the same, however far apart, say that
nothing was used between them, and a gap in the recording is no gap in the silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.keys import ApiKey
from gwtui.watch.history.model import BYOK_USAGE, USAGE, Run, SeriesKey, kept
from gwtui.watch.history.reader import HistoryReader

_REACHES = tuple(map(timedelta, (2, 30, 366)))
"""How far back is looked, step by step: a key in use differs in the first."""


def recorded_silence(reader: HistoryReader, key: ApiKey, now: datetime) -> datetime | None:
    """Since when the key was read with the figures that it has now; None where none tells.

    A last request that the gateway tells ends an earlier silence. None, too, for a key without
    hash or usage. Raises sqlite3.Error.
    """
    if key.usage is None or not key.hash:
        return None
    figures = [(USAGE, key.usage)]
    if key.byok_usage:  # none is recorded as none, and was never any
        figures.append((BYOK_USAGE, key.byok_usage))
    moments = [] if key.last_used_at is None else [key.last_used_at]
    for figure, value in figures:
        since = unchanged_since(reader, SeriesKey("key", key.hash, figure), value, now)
        if since is None:
            return None
        moments.append(since)
    return max(moments)


def unchanged_since(
    reader: HistoryReader, key: SeriesKey, value: Decimal, now: datetime
) -> datetime | None:
    """The earliest reading of a figure that grows at which it was what it is now.

    None where the newest recorded one is another, or there is none. Buckets in which it changed
    count from their end on. At most ``_REACHES[-1]`` back. Raises sqlite3.Error.
    """
    found: datetime | None = None
    for reach in _REACHES:
        found, ended = _since(reversed(reader.runs(key, now - reach, now)), kept(value))
        if ended:
            break
    return found


def _since(newest_first: Iterator[Run], value: Decimal) -> tuple[datetime | None, bool]:
    """The earliest moment at which it was read so, and whether another value was before."""
    found: datetime | None = None
    for run in newest_first:
        if run.low is None:  # the gateway did not tell: no change, and no sign of silence
            continue
        if run.low == run.high == value:
            found = run.start if run.flat else run.until
            continue
        return (run.until if run.last == value else found), True
    return found, False
