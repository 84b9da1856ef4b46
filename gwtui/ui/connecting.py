"""Keeps the dashboard connected: opens the session, tries again when that fails, closes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

from gwtui.domain.clock import Clock
from gwtui.resources.session import Link, Session, SessionFiles, open_session, reason
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.local.probe_key import Probing

_log = logging.getLogger(__name__)

_FIRST_WAIT = 2.0
_LONGEST_WAIT = 60.0
_CLOSING = 5.0
"""Seconds for closing the session."""
_HURRIED = 0.8
"""The same when the end is demanded from outside."""
_GLANCE = 0.05
_FIRST_ROWS = 2.0
"""Seconds that the rest of a session waits at most for the first rows to be shown."""


class Connecting:
    """One task that holds the session open for as long as the app runs."""

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        clock: Clock,
        files: SessionFiles,
        changed: Callable[[], None],
        completed: Callable[[], None],
        probing: Probing | None = None,
    ) -> None:
        """``changed`` is called when the link is another, ``completed`` once all of it is open."""
        self._connect = connect
        self._clock = clock
        self._files = files
        self._changed = changed
        self._completed = completed
        self._probing = probing
        self._shown = asyncio.Event()
        self._leaving = asyncio.Event()
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.session: Session | None = None
        self.link = Link()

    def start(self) -> None:
        """Begin; needs a running event loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="connection")

    def retry(self) -> None:
        """Do not wait any longer for the next try."""
        self._again.set()

    async def stop(self, hurried: Callable[[], bool] = lambda: False) -> None:
        """Close the session and wait for that, for a few seconds at most; less when ``hurried``."""
        self._leaving.set()
        self._again.set()
        if self._task is None:
            return
        waited = 0.0
        while not self._task.done() and waited < (_HURRIED if hurried() else _CLOSING):
            await asyncio.wait({self._task}, timeout=_GLANCE)
            waited += _GLANCE
        self._task.cancel()
        # What does not end at once is on its own.
        await asyncio.wait({self._task}, timeout=_HURRIED / 2)

    async def _run(self) -> None:
        wait = _FIRST_WAIT
        while not self._leaving.is_set():
            try:
                await self._hold()
            except Exception as error:
                self.session = None
                _log.warning("not connected", exc_info=error)
                retry_at = self._clock.now() + timedelta(seconds=wait)
                self.link = Link(reason(error), retry_at)
                self._changed()
                await self._pause(wait)
                wait = min(wait * 2, _LONGEST_WAIT)

    async def _hold(self) -> None:
        async with (
            self._connect() as connection,
            open_session(connection, self._clock, self._files, self._probing) as session,
        ):
            self.session = session
            self.link = Link()
            _log.info("connected to %s, token from %s", connection.where, connection.token_source)
            self._changed()
            learning = asyncio.create_task(self._learn_rights(session), name="rights")
            try:
                await self._complete(session)
                await self._leaving.wait()
            finally:
                learning.cancel()
        self.session = None

    def shown(self) -> None:
        """The first rows are shown: what else there is to be loaded disturbs nobody."""
        self._shown.set()

    async def _complete(self, session: Session) -> None:
        """Open the rest of the session after the first rows, or when they are long in coming.

        A feed that needs the rest has it opened before.
        """
        causes = (self._shown, self._leaving, session.completed)
        waiting = [asyncio.create_task(one.wait()) for one in causes]
        await asyncio.wait(waiting, timeout=_FIRST_ROWS, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()
        if not self._leaving.is_set():
            await session.complete()
            self._completed()

    async def _learn_rights(self, session: Session) -> None:
        """Read once what the key in use may do; a reading that fails changes nothing."""
        from gwtui.watch.feeds.current_key import current_key_feed  # noqa: PLC0415 - once connected

        before = session.gateway.gate.closed
        await current_key_feed(session.hub, Scope()).refresh()
        if session.gateway.gate.closed != before:
            self._changed()

    async def _pause(self, seconds: float) -> None:
        self._again.clear()
        if self._leaving.is_set():
            return
        sleeper = asyncio.ensure_future(self._clock.sleep(seconds))
        waker = asyncio.ensure_future(self._again.wait())
        _, pending = await asyncio.wait({sleeper, waker}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        self.link = Link()
        self._changed()
