"""The watched models: their endpoints are recorded and shown on the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.recorder import Recorder


async def watch_model(app: GwtuiApp, model: str, *, watched: bool = True) -> None:
    """Start or stop recording a model's endpoints, and report it."""
    recorder = recorder_of(app)
    if recorder is None:
        return
    try:
        await (recorder.watch if watched else recorder.unwatch)(model)
    except (ValueError, HistoryError) as error:
        app.say(f"{'Not' if watched else 'Still'} watched: {error}", severity="warning")
    else:
        off = "removed from the board; its history stays"
        app.say(f"{safe_line(model, 80)} {'added to the board (0)' if watched else off}")


def recorder_of(app: GwtuiApp) -> Recorder | None:
    """The recorder, which stores the watched models; None, with a notice, if there is none."""
    session = app.session
    recorder = None if session is None else session.recorder
    if recorder is None:
        why = "there is no connection yet" if session is None else ""
        if session is not None and session.history is not None:
            why = session.history.status.error or ""
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
    return recorder
