"""Notices: how long one lasts, and when one makes way."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.notifications import Notification

from gwtui.ui.textual_compat import withdraw_notices

_LEAST = 0.1
"""Seconds. Textual's timers never end with a negative delay: they spin and the screen stands still.

A toast is made anew on each screen that opens, also in the very moment in which its time is over.
"""


class Notice(Notification):
    """A notification whose delay is always one that a timer can wait for."""

    @property
    def time_left(self) -> float:
        """Seconds that a toast made now is shown; a wall clock that was set changes little."""
        return min(max(super().time_left, _LEAST), max(self.timeout, _LEAST))

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return super().time_left <= 0


def make_way(app: App[Any]) -> None:
    """Take away what was said before what is about to be read; a warning or an error stays.

    Toasts stand on top of everything.
    """
    withdraw_notices(app, "information")
