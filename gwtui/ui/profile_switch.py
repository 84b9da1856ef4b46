"""Switches to another profile without a restart.

The current session is closed only after the other profile has a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import Context
from typing import TYPE_CHECKING

from gwtui.crud.fields import PickOption
from gwtui.domain.safe_text import safe_line
from gwtui.local.profiles import ProfileError
from gwtui.local.targets import TargetInfo
from gwtui.local.tokens import TokenError
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.unresolved_changes import count_text
from gwtui.ui.widgets.frame import CRITICAL, READ_ONLY
from gwtui.watch.feeds.ledger import unresolved_feed

if TYPE_CHECKING:
    from gwtui.local.targets import Target, Targets
    from gwtui.ui.app import GwtuiApp

_NAME = 60
_QUICKLY = 0.4
"""Seconds until a dialog says what the switch waits for."""
_OPENED = 1.5
"""Maximum seconds to wait for the new session; less than ``input_queue.PATIENCE``."""


class CannotSwitchError(Exception):
    """The other profile cannot be opened; the message is safe to show."""


class ProfileSwitch:
    """Switches the dashboard between the profiles in ``targets``."""

    def __init__(self, app: GwtuiApp, targets: Targets) -> None:
        self._app = app
        self._targets = targets

    async def run(self, name: str) -> None:
        """Switch to the named profile; let the user choose one if ``name`` is empty.

        The name of the current profile reconnects with its current token.
        """
        if self._app.navigation.is_covered:
            self._app.say("Close the dialog first", severity="warning")
            return
        name = name or await self._chosen()
        if name and (problem := await self._tried(name)):
            self._app.say(problem, severity="error")

    async def _chosen(self) -> str:
        try:
            known = self._targets.known()
        except ProfileError as error:
            self._app.say(str(error), severity="error")
            return ""
        if not known:
            text = "There are no profiles: run gwtui login to create one"
            self._app.say(text, severity="warning")
            return ""
        chosen = await self._app.push_screen_wait(profile_picker(known, self._present))
        return "" if chosen is None or chosen == self._present else chosen

    @property
    def _present(self) -> str:
        session = self._app.session
        return "" if session is None else session.connection.label

    async def _tried(self, name: str) -> str:
        try:
            target = await self._ready(name)
            if target is None or not await self._may_leave(target.info):
                return ""
            await self._app.switch_profile(target)
            await self._opened(target.info)
        except CannotSwitchError as error:
            return str(error)
        return ""

    # The other gateway ------------------------------------------------------------------------

    async def _ready(self, name: str) -> Target | None:
        # In a new context: asyncio keeps the context of a timeout until its end, even if
        # it is cancelled, and this worker's context holds the screen that is to be closed.
        finding = asyncio.create_task(self._found(name), name="another profile", context=Context())
        await asyncio.wait({finding}, timeout=_QUICKLY)
        if not finding.done():
            await self._app.push_screen_wait(
                WaitScreen(
                    f"Opening “{safe_line(name, _NAME)}”",
                    "Fetching its key. The current profile stays open.",
                    lambda: asyncio.wait({finding}),
                    enough="Stay here",
                )
            )
        if not finding.done():
            finding.cancel()
            return None
        return finding.result()

    async def _found(self, name: str) -> Target:
        try:
            return await self._targets.find(name)
        except (ProfileError, TokenError) as error:
            called = safe_line(name, _NAME)
            raise CannotSwitchError(f"“{called}” cannot be opened: {error}") from None

    # The present gateway ----------------------------------------------------------------------

    async def _may_leave(self, to: TargetInfo) -> bool:
        app = self._app
        if app.session is None:
            return True
        await app.await_write_in_flight("This takes a few seconds at most.", "Stop waiting")
        lost = app.would_be_lost()
        if lost is None:
            lost = await self._unresolved()
        if not lost:
            return True
        question = f"Switch to “{safe_line(to.name, _NAME)}” anyway?"
        return await app.push_screen_wait(
            AskScreen(question, lost, safe="Stay here", deliberate="Switch")
        )

    async def _unresolved(self) -> str:
        writes = (await unresolved_feed(self._app.hub).refresh()).value
        if not writes:
            return ""
        here = safe_line(self._present, _NAME)
        return (
            f"“{here}” has {count_text(len(writes))}. gwtui asks about this again when you come "
            "back, and :recovery lists it."
        )

    async def _opened(self, to: TargetInfo) -> None:
        app, called = self._app, safe_line(to.name, _NAME)
        await app.connection_manager.wait_until_opened(_OPENED)
        if app.link.error is not None:
            raise CannotSwitchError(f"“{called}” cannot be opened: {app.link.error}")
        held = "read-only" if to.read_only else "changes are possible"
        care = "CRITICAL, " if to.critical else ""
        text = f"Switched to “{called}”: {care}{held} · {safe_line(to.where, _NAME)}"
        app.say(text, severity="warning" if to.critical else "information")


def profile_picker(targets: Sequence[TargetInfo], current: str) -> Picker:
    """A list of profiles that returns the name of the chosen one.

    ``current`` is the name of the current profile, or empty.
    """
    now = f" · now {safe_line(current, _NAME)}" if current else ""
    options = [PickOption(info.name, safe_line(info.name, _NAME), _note(info)) for info in targets]
    return Picker(f"Switch profile{now}", options, current=current)


def _note(info: TargetInfo) -> str:
    marks = [CRITICAL] if info.critical else []
    marks += [READ_ONLY] if info.read_only else []
    where, key = safe_line(info.where, 100), safe_line(info.key_from, 100)
    return " · ".join([*marks, where, f"key: {key}"])
