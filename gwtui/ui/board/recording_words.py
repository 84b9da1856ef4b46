"""Who records what the board shows of the past, in a line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.domain import times
from gwtui.domain.safe_text import safe_text
from gwtui.ui.tones import toned
from gwtui.watch.board.questions import RecordingState as Known

if TYPE_CHECKING:
    from gwtui.watch.history.recorder import Recording

_LONG = 160


def recording_line(history: Recording, known: Known | None, now: datetime) -> Content:
    """The one who records, or why nobody does; what a person should know of the file."""
    recorder = history.recorder
    if recorder is None:
        if history.problem:
            return toned(f"Nothing is recorded: {safe_text(history.problem, _LONG)}", "bad")
        return toned("The history is not open", "muted")
    status = recorder.status
    parts = [_who(recording=status.recording, known=known, now=now)]
    if status.error is not None:
        parts.append(toned(safe_text(status.error, _LONG), "bad"))
    if status.notice:
        parts.append(toned(safe_text(status.notice, _LONG), "warn"))
    if known is not None and known.span is not None:
        parts.append(toned(f"since {times.utc(known.span[0])}", "muted"))
    return Content(" · ").join(parts)


def _who(*, recording: bool, known: Known | None, now: datetime) -> Content:
    if recording:
        return toned("Recorded here", "good")
    if known is None or known.holder is None:
        return toned("Nobody records yet", "warn")
    late = (now - known.holder.expires_at).total_seconds()
    if late > 0:
        return toned(f"The one who recorded is silent for {times.age(late)}", "warn")
    return toned(f"Recorded by another gwtui (process {known.holder.pid})", "plain")
