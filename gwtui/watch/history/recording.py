"""What a session knows of the recorded history of its connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from gwtui.domain.history_source import HistorySource
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.recorder import Recorder

AskPast: TypeAlias = "Callable[[], HistorySource | None]"
"""Asks the gateway for its past; None where it can tell none."""


class Recording:
    """The recorder of a connection, once its file is open.

    ``recorder`` is None until then, and when there can be none; ``problem`` says why, for a person.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self.problem = ""
        self.filled = asyncio.Event()
        """Set once nothing is left to fill in of the past."""
        self.filled_until: datetime | None = None
        """Where the past ends that was filled in where nothing was recorded before; else None."""

    @property
    def archive(self) -> Archive | None:
        """The open history file, None while there is none."""
        return None if self.recorder is None else self.recorder.archive
