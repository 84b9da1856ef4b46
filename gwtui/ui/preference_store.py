"""Writes preferences to their file, a second after a choice and without holding anything up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.local.settings_file import SettingsError
from gwtui.resources.preferences import Preferences

if TYPE_CHECKING:
    from gwtui.local.toml_file import TomlValue
    from gwtui.ui.terminal.app import TerminalApp

_PAUSE = 1.0
"""Seconds in which several choices become one change of the file."""
_NOT_KEPT = "What you choose is not remembered: "


class PreferenceStore:
    """The preferences of the running dashboard. That they cannot be written is said once."""

    def __init__(self, app: TerminalApp, preferences: Preferences) -> None:
        self._app = app
        self.preferences = preferences
        self._due: asyncio.TimerHandle | None = None
        self._writing: set[asyncio.Task[None]] = set()
        self._told = False

    def begin(self) -> None:
        """Say what is wrong with the file."""
        if self.preferences.problem:
            self._app.say(
                f"The preferences are not used, and left as they are: {self.preferences.problem}",
                severity="error",
            )

    def say(self, message: str) -> None:
        """A warning about what is remembered."""
        self._app.say(message, severity="warning")

    def remember(self, changes: Mapping[str, TomlValue | None]) -> None:
        """These settings hold from now on; None removes one."""
        if self.preferences.remember(changes) and self._due is None:
            self._due = asyncio.get_running_loop().call_later(_PAUSE, self._write_soon)

    def _write_soon(self) -> None:
        self._due = None
        task = asyncio.create_task(self._write(), name="preferences")
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self) -> None:
        try:
            await asyncio.to_thread(self.preferences.write)
        except SettingsError as error:
            if not self._told:
                self._told = True
                self._app.say(f"{_NOT_KEPT}{error}", severity="warning")

    async def end(self) -> None:
        """Write what is still to be written; nobody is there any more to be told."""
        self._told = True
        if self._due is not None:
            self._due.cancel()
            self._write_soon()
        await asyncio.gather(*self._writing)
