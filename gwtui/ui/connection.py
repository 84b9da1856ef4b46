"""Keeps the dashboard connected: opens the session, tries again, closes it, switches to another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from textual.worker import Worker, get_current_worker

from gwtui.client.errors import NotSentError
from gwtui.domain.clock import Clock
from gwtui.resources.session import (
    Link,
    Session,
    SessionFiles,
    TryMemory,
    connection_error_text,
    open_session,
)
from gwtui.ui import unresolved_changes
from gwtui.ui.connection_health import ConnectionHealth
from gwtui.ui.input_queue import QueuedInputApp
from gwtui.ui.navigation import Navigation
from gwtui.ui.screens.startup import StartupScreen
from gwtui.ui.terminal.shutdown import Shutdown
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.executor import WriteExecutor
    from gwtui.crud.resource import Cell
    from gwtui.local.targets import Target, TargetFacts
    from gwtui.ui.alert_notices import AlertNotices
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.hub import FeedHub

_log = logging.getLogger(__name__)

_OFFERS = "offers"
_FIRST_WAIT = 2.0
_LONGEST_WAIT = 60.0
_CLOSING = 5.0
"""Seconds for closing the session."""
_HURRIED = 0.8
"""The same when the end is demanded from outside."""
_GLANCE = 0.05
_FIRST_ROWS = 2.0
"""Seconds that the rest of a session waits at most for the first rows to be shown."""


class ConnectionManager:
    """One task that holds the session open for as long as the app runs."""

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        clock: Clock,
        files: SessionFiles,
        changed: Callable[[], None],
        completed: Callable[[], None],
    ) -> None:
        """``changed`` is called when the link is another, ``completed`` once all of it is open."""
        self._connect = connect
        self._clock = clock
        self._files = files
        self._changed = changed
        self._completed = completed
        self._tried = asyncio.Event()
        self._shown = asyncio.Event()
        self._leaving = asyncio.Event()
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._learning: asyncio.Task[None] | None = None
        self.session: Session | None = None
        self.link = Link()

    def start(self) -> None:
        """Begin; needs a running event loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="connection")

    async def opened(self, seconds: float) -> bool:
        """Wait for the first attempt, so long at most; whether there is a session by then."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), seconds)
        return self.session is not None

    def retry(self) -> None:
        """Do not wait any longer for the next try."""
        self._again.set()

    def begin_to_stop(self) -> None:
        """Let the session close, and what it reads end, while something else does, too."""
        self._leaving.set()
        self._again.set()

    async def stop(self, hurried: Callable[[], bool] = lambda: False) -> None:
        """Close the session and wait for that, for a few seconds at most; less when ``hurried``."""
        self.begin_to_stop()
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
                self._tried.set()
                _log.warning("not connected", exc_info=error)
                retry_at = self._clock.now() + timedelta(seconds=wait)
                self.link = Link(connection_error_text(error), retry_at)
                self._changed()
                await self._pause(wait)
                wait = min(wait * 2, _LONGEST_WAIT)

    async def _hold(self) -> None:
        async with (
            self._connect() as connection,
            open_session(connection, self._clock, self._files) as session,
        ):
            self.session = session
            self._tried.set()
            self.link = Link()
            _log.info("connected to %s, token from %s", connection.where, connection.token_source)
            self._changed()
            try:
                await self._complete(session)
                await self._leaving.wait()
            finally:
                if self._learning is not None:
                    self._learning.cancel()
        self.session = None

    def shown(self) -> None:
        """The first rows are shown: what else there is to be loaded disturbs nobody."""
        self._shown.set()

    async def _complete(self, session: Session) -> None:
        """Open the rest of the session after the first rows, or when they are long in coming.

        So long it is not asked, either, what the key in use may do. A feed that needs the rest has
        it opened before.
        """
        causes = (self._shown, self._leaving, session.completed)
        waiting = [asyncio.create_task(one.wait()) for one in causes]
        await asyncio.wait(waiting, timeout=_FIRST_ROWS, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()
        if not self._leaving.is_set():
            self._learning = asyncio.create_task(self._learn_rights(session), name="rights")
            await session.complete()
            self._completed()

    async def _learn_rights(self, session: Session) -> None:
        """Read once what the key in use may do; a reading that fails changes nothing."""
        from gwtui.watch.feeds.keys import current_key_feed  # noqa: PLC0415 - once connected

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


class ConnectedApp(QueuedInputApp, inherit_bindings=False):
    """The part of the app that belongs to one gateway, and how it is exchanged for another's."""

    clock: Clock
    navigation: Navigation
    shutdown: Shutdown
    _files: SessionFiles

    @property
    def _whole(self) -> GwtuiApp:
        """The app that this is a part of."""
        return cast("GwtuiApp", self)

    def adopt(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        tries: TryMemory,
        to: TargetFacts | None = None,
    ) -> None:
        """Begin anew with everything that belongs to one gateway; nothing is opened yet."""
        self.scope = Scope()
        self.scope_name: str | None = None
        """Name of the workspace that lists are narrowed to, None for all of them."""
        self.health = ConnectionHealth()
        self.tries = tries
        self.notices: AlertNotices | None = None
        self.bound_for = to
        """The gateway that was switched to, known before it is open."""
        self._offered = False
        self.connection_manager = ConnectionManager(
            connect, self.clock, self._files, self._link_changed, self._session_complete
        )

    @property
    def session(self) -> Session | None:
        """The open connection, None until there is one."""
        return self.connection_manager.session

    @property
    def link(self) -> Link:
        """How the attempt to connect stands."""
        return self.connection_manager.link

    @property
    def open_session(self) -> Session:
        """The open connection. NotSentError while there is none."""
        if self.session is None:
            raise NotSentError("Not connected yet")
        return self.session

    @property
    def connection(self) -> Connection:
        """NotSentError while there is no connection."""
        return self.open_session.connection

    @property
    def gateway(self) -> GatewayClient:
        """NotSentError while there is no connection."""
        return self.open_session.gateway

    @property
    def hub(self) -> FeedHub:
        """NotSentError while there is no connection."""
        return self.open_session.hub

    @property
    def executor(self) -> WriteExecutor:
        """NotSentError while there is no connection."""
        return self.open_session.executor

    @property
    def alert_badge(self) -> Cell | None:
        """How many alerts ask for somebody; None while none does."""
        return None if self.notices is None else self.notices.badge

    @property
    def hold_reason(self) -> str | None:
        """Why writes are held back, to end a sentence with; None while they are not."""
        return None if self.session is None else self.session.gateway.gate.closed

    @property
    def read_only(self) -> bool:
        """Whether writes are held back."""
        return self.hold_reason is not None

    def exit(self, *arguments: Any, **options: Any) -> None:
        """End the program; what is being read keeps nobody waiting meanwhile."""
        self.connection_manager.begin_to_stop()
        super().exit(*arguments, **options)

    async def leave(self) -> None:
        """Close everything that belongs to the gateway: what is told of it, tries, the session."""
        if self.notices is not None:
            self.notices.close()
        self.set_terminal_title("")
        self.tries.forget()
        await self.connection_manager.stop(lambda: self.shutdown.status is not None)

    async def switch(self, target: Target) -> None:
        """Close everything of the present gateway, then open another one. Call it in a worker."""
        done = asyncio.Event()
        # In the app's own loop: what is typed meanwhile waits for all of it.
        self.call_later(self._switch, target, get_current_worker(), done)
        await done.wait()

    async def _switch(self, target: Target, asked_by: Worker[Any], done: asyncio.Event) -> None:
        try:
            for worker in self.workers:
                if worker.node is self and worker is not asked_by:
                    worker.cancel()
            route = self.navigation.tab
            self.bound_for = target.facts
            await self.navigation.reset(StartupScreen(route))
            self.clear_notifications()
            await self.leave()
            self.adopt(target.connect, TryMemory(), target.facts)
            self.connection_manager.start()
            await self.navigation.open_route(route)
        finally:
            done.set()

    def reconnect(self) -> None:
        """Try to connect now."""
        self.connection_manager.retry()

    def _link_changed(self) -> None:
        if self.is_running and self.hold_reason is not None and not self.connection.read_only:
            self.say(f"Nothing can be changed: {self.hold_reason}", severity="warning")
        screen = self.navigation.screen
        if screen is not None and self.is_running:
            screen.refeed()

    def first_shown(self) -> None:
        """A screen shows what it read, or why it cannot: the rest may be loaded."""
        self.connection_manager.shown()

    def _session_complete(self) -> None:
        if self.session is None or not self.is_running:
            return
        self.learn_terminal()
        unresolved_changes.keep_count(self.session)
        self._notice_alerts(self.session)
        if not self._offered:
            self._offered = True
            self.run_worker(self._offer(), group=_OFFERS)

    def _notice_alerts(self, session: Session) -> None:
        from gwtui.ui.alert_notices import AlertNotices  # noqa: PLC0415 - later

        if self.notices is not None:
            self.notices.close()
        if session.alerts is not None:
            self.notices = AlertNotices(self._whole, session, session.alerts)

    async def _offer(self) -> None:
        """At the first connect, one after the other: what an earlier run left, the first steps."""
        await unresolved_changes.offer_at_start(self._whole)
        if not self._whole.kept.first_steps.is_dismissed:
            from gwtui.ui.actions import first_steps  # noqa: PLC0415 - once ever

            await first_steps.offer_at_start(self._whole)
