"""Saves preferences in the background, one second after the last change."""

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
"""Seconds to wait for further changes before the file is written."""
_NOT_KEPT = "Your preferences are not saved: "


class PreferenceStore:
    """Saves the preferences of the running dashboard; a write error is reported only once."""

    def __init__(self, app: TerminalApp, preferences: Preferences) -> None:
        self._app = app
        self.preferences = preferences
        self._pending = False
        self._error_reported = False

    def begin(self) -> None:
        """Report that the preferences file is invalid and not used, if so."""
        if self.preferences.problem:
            self._app.say(
                f"The preferences are not used, and left as they are: {self.preferences.problem}",
                severity="error",
            )

    def say(self, message: str) -> None:
        """Show a warning about the preferences."""
        self._app.say(message, severity="warning")

    def remember(self, changes: Mapping[str, TomlValue | None]) -> None:
        """Apply these settings and save them soon; None removes a setting."""
        if self.preferences.remember(changes):
            self._pending = True
            self._app.run_worker(self._write_soon(), group="preferences", exclusive=True)

    async def _write_soon(self) -> None:
        await asyncio.sleep(_PAUSE)
        await self._write()

    async def _write(self) -> None:
        self._pending = False
        try:
            await asyncio.to_thread(self.preferences.write)
        except SettingsError as error:
            if not self._error_reported:
                self._error_reported = True
                self._app.say(f"{_NOT_KEPT}{error}", severity="warning")

    async def end(self) -> None:
        """Save pending changes; errors are no longer reported."""
        self._error_reported = True
        if self._pending:
            await self._write()
