"""Which models are watched: their endpoints are recorded, and on the board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.recorder import Recorder


async def watch_model(app: GwtuiApp, model: str, *, watched: bool = True) -> None:
    """Record a model's endpoints from now on, or no more, and say so."""
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
    """What keeps the list of watched models; None where nothing does, which is said."""
    session = app.session
    recorder = None if session is None else session.recorder
    if recorder is None:
        why = "there is no connection yet" if session is None else ""
        if session is not None and session.history is not None:
            why = session.history.status.error or ""
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
    return recorder
