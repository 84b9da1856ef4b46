"""Status lines: the recorder of the history, and the requests to the gateway."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.crud.resource import Cell, DetailRow, DetailTable, Section
from gwtui.domain import times
from gwtui.domain.safe_text import safe_text
from gwtui.resources.alerts import alerts_line
from gwtui.ui.commands import with_keys
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import section_lines
from gwtui.watch.board import RecordingState as Known
from gwtui.watch.feeds.alerts import alerts_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


_LONG = 160
_NAME = 34
_EXPLANATION = (
    "A reading of many requests is repeated less often: at most one request per second.",
    "Without focus, only the history recorder reads, at its own pace.",
    "After a 429, gwtui waits as long as the gateway says.",
)


def cursor_line(cursor: datetime, now: datetime) -> Content:
    """The banner with the moment of the time cursor."""
    ago = times.relative(cursor, now)
    keys = "{board.live} live again · {board.earlier} {board.later} step · {board.jump} jump"
    return Content(f" AS OF {times.utc(cursor, seconds=True)}, {ago} · {with_keys(keys)}")


def alerts_part(hub: FeedHub, *, live: bool) -> Content | None:
    """The current alerts. The app watches their feed while it is connected."""
    cell = alerts_line(alerts_feed(hub).state.value or ())
    return None if cell is None else toned(f" ! {'' if live else 'now: '}{cell.text}", cell.tone)


def recording_line(recorder: Recorder | None, known: Known | None) -> Content:
    """The process that records, or why none does, and problems with the history file."""
    if recorder is None or (not recorder.open_archive and not recorder.status.error):
        return toned("History not open", "muted")
    status = recorder.status
    if not recorder.open_archive:
        return toned(f"Not recording: {safe_text(status.error, _LONG)}", "bad")
    parts = [_who(recording=status.recording, known=known)]
    if status.error is not None:
        parts.append(toned(safe_text(status.error, _LONG), "bad"))
    if status.notice:
        parts.append(toned(safe_text(status.notice, _LONG), "warn"))
    if known is not None and known.span is not None:
        parts.append(toned(f"since {times.utc(known.span[0])}", "muted"))
    return Content(" · ").join(parts)


def _who(*, recording: bool, known: Known | None) -> Content:
    if recording:
        return toned("Recorded here", "good")
    if known is None or known.process is None:
        return toned("Not recording yet", "warn")
    return toned(f"Recorded by another gwtui (process {known.process})", "plain")


def requests_part(session: Session) -> Content:
    """The requests of the last minute; red if some were rate-limited."""
    recent = session.gateway.traffic.recent()
    rate = f"{recent.requests} requests/min"
    if recent.limited:
        return toned(f"{rate}, {recent.limited} refused (429)", "bad")
    return toned(rate, "muted")


def request_lines(session: Session, now: datetime, width: int) -> Sequence[Content]:
    """The requests of the last minute, the expected rate, and every feed that polls."""
    sections: tuple[Section[None], ...] = (
        Section("Requests", lambda _item, _now: [*_rates(session)]),
        Section("Readings", lambda _item, _now: [_readings(session.hub)]),
    )
    lines = [*section_lines("", sections, None, now, width)[2:], Content("")]
    for text in _EXPLANATION:
        lines += toned(text, "muted").wrap(width)
    return lines


def _rates(session: Session) -> Iterator[DetailRow]:
    recent, expected = session.gateway.traffic.recent(), session.hub.expected_per_minute
    yield DetailRow("last minute", Cell(f"{recent.reads} reads, {recent.writes} writes"))
    yield DetailRow("expected", Cell(f"about {expected:.0f} per minute on this screen"))
    if recent.limited:
        words = f"{recent.limited} rate-limited (429)"
        yield DetailRow("refused", Cell(words, "bad"))


def _readings(hub: FeedHub) -> DetailTable:
    """The feeds that poll the gateway; local ones are left out."""
    loads = [(feed, load) for feed in hub.feeds if (load := feed.load) and load.requests]
    rows = [
        (
            Cell(safe_text(feed.name, _NAME)),
            Cell(times.age(load.seconds)),
            Cell(str(load.requests)),
            Cell(f"{load.per_minute:.1f}"),
            Cell("the screen" if feed.watched else "the history", "muted"),
        )
        for feed, load in loads
    ]
    return DetailTable(("reading", "every", "requests", "a minute", "for"), tuple(rows))
