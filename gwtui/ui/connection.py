"""The connection of the dashboard: opens the session, retries, closes it, switches profiles."""

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
    from gwtui.local.targets import Target, TargetInfo
    from gwtui.ui.alert_notices import AlertNotices
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.hub import FeedHub

_log = logging.getLogger(__name__)

_OFFERS = "offers"
_FIRST_WAIT = 2.0
_LONGEST_WAIT = 60.0
_CLOSING = 5.0
"""Maximum seconds for closing the session."""
_HURRIED = 0.8
"""Maximum seconds for closing the session after a signal to end."""
_GLANCE = 0.05
_FIRST_ROWS = 2.0
"""Maximum seconds to wait for the first rows before the rest of the session is opened."""


class ConnectionManager:
    """Opens the session in one task, retries while that fails, and closes it at the end."""

    def __init__(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        clock: Clock,
        files: SessionFiles,
        changed: Callable[[], None],
        completed: Callable[[], None],
    ) -> None:
        """Call ``changed`` after a change of ``link``, ``session`` or the permission to write.

        Call ``completed`` once the rest of the session is open as well, such as the history.
        """
        self._connect = connect
        self._clock = clock
        self._files = files
        self._changed = changed
        self._completed = completed
        self._tried = asyncio.Event()
        self._may_open_rest = asyncio.Event()
        self._leaving = asyncio.Event()
        self._again = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._learning: asyncio.Task[None] | None = None
        self.session: Session | None = None
        self.link = Link()

    def start(self) -> None:
        """Start connecting; needs a running event loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="connection")

    async def wait_until_opened(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for the end of the first attempt; return whether it succeeded."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tried.wait(), seconds)
        return self.session is not None

    def retry(self) -> None:
        """Start the next attempt now, without waiting any longer."""
        self._again.set()

    def begin_to_stop(self) -> None:
        """Start closing the session, without waiting."""
        self._leaving.set()
        self._again.set()

    async def stop(self, hurried: Callable[[], bool] = lambda: False) -> None:
        """Close the session within five seconds, within one second if ``hurried`` returns True."""
        self.begin_to_stop()
        if self._task is None:
            return
        waited = 0.0
        while not self._task.done() and waited < (_HURRIED if hurried() else _CLOSING):
            await asyncio.wait({self._task}, timeout=_GLANCE)
            waited += _GLANCE
        self._task.cancel()
        # Do not wait longer for a task that ignores the cancellation.
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
            _log.info(
                "connected to %s, key from %s", connection.host_and_port, connection.token_source
            )
            self._changed()
            try:
                await self._complete(session)
                await self._leaving.wait()
            finally:
                if self._learning is not None:
                    self._learning.cancel()
        self.session = None

    def open_rest(self) -> None:
        """Open the rest of the session, such as the history, because the first rows are shown."""
        self._may_open_rest.set()

    async def _complete(self, session: Session) -> None:
        # The first rows come first: neither the rest nor the rights of the key may delay them.
        causes = (self._may_open_rest, self._leaving, session.completed)
        waiting = [asyncio.create_task(cause.wait()) for cause in causes]
        await asyncio.wait(waiting, timeout=_FIRST_ROWS, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if not self._leaving.is_set():
            self._learning = asyncio.create_task(self._learn_rights(session), name="rights")
            await session.complete()
            self._completed()

    async def _learn_rights(self, session: Session) -> None:
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
    """Base of the app: holds what belongs to one gateway, and replaces it on a profile switch."""

    clock: Clock
    navigation: Navigation
    shutdown: Shutdown
    _files: SessionFiles

    @property
    def _whole(self) -> GwtuiApp:
        return cast("GwtuiApp", self)

    def bind_gateway(
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        tries: TryMemory,
        to: TargetInfo | None = None,
    ) -> None:
        """Reset all state of the previous gateway, and prepare to connect by ``connect``.

        Opens no connection yet. ``tries`` has the keys and drafts of test requests at the new
        gateway. ``to`` is the profile that is switched to, None at the start.
        """
        self.scope = Scope()
        self.scope_name: str | None = None
        """Name of the workspace that the lists are limited to; None: all workspaces."""
        self.health = ConnectionHealth()
        self.tries = tries
        self.notices: AlertNotices | None = None
        self.bound_for = to
        """The profile last switched to, set before its session is open; None before any switch."""
        self._offered = False
        self.connection_manager = ConnectionManager(
            connect, self.clock, self._files, self._link_changed, self._session_complete
        )

    @property
    def session(self) -> Session | None:
        """The open session; None while there is none."""
        return self.connection_manager.session

    @property
    def link(self) -> Link:
        """The error of the last attempt to connect, and the time of the next one."""
        return self.connection_manager.link

    @property
    def open_session(self) -> Session:
        """The open session. Raises NotSentError if there is none."""
        if self.session is None:
            raise NotSentError("Not connected yet")
        return self.session

    @property
    def connection(self) -> Connection:
        """The connection of the session. Raises NotSentError if there is none."""
        return self.open_session.connection

    @property
    def gateway(self) -> GatewayClient:
        """The gateway client of the session. Raises NotSentError if there is none."""
        return self.open_session.gateway

    @property
    def hub(self) -> FeedHub:
        """The feeds of the session. Raises NotSentError if there is none."""
        return self.open_session.hub

    @property
    def executor(self) -> WriteExecutor:
        """The write executor of the session. Raises NotSentError if there is none."""
        return self.open_session.executor

    @property
    def alert_badge(self) -> Cell | None:
        """Header text with the number of active alerts; None if there are none."""
        return None if self.notices is None else self.notices.badge

    @property
    def hold_reason(self) -> str | None:
        """Why writes are blocked, to end a sentence; None if they are allowed or not connected."""
        return None if self.session is None else self.session.gateway.gate.closed

    @property
    def read_only(self) -> bool:
        """Whether writes are blocked."""
        return self.hold_reason is not None

    def exit(self, *arguments: Any, **options: Any) -> None:
        """End the program, and immediately start to close the session."""
        self.connection_manager.begin_to_stop()
        super().exit(*arguments, **options)

    async def close_gateway(self) -> None:
        """Stop the alert notices, discard the keys of test requests, and close the session."""
        if self.notices is not None:
            self.notices.close()
        self.tries.forget()
        await self.connection_manager.stop(lambda: self.shutdown.status is not None)

    async def switch_profile(self, target: Target) -> None:
        """Close the session and start to connect to another profile; call this in a worker."""
        done = asyncio.Event()
        # In the app's message loop, so that keys typed meanwhile wait.
        self.call_later(self._switch, target, get_current_worker(), done)
        await done.wait()

    async def _switch(self, target: Target, asked_by: Worker[Any], done: asyncio.Event) -> None:
        try:
            for worker in self.workers:
                if worker.node is self and worker is not asked_by:
                    worker.cancel()
            route = self.navigation.tab
            self.bound_for = target.info
            await self.navigation.reset(StartupScreen(route))
            self.clear_notifications()
            await self.close_gateway()
            self.bind_gateway(target.connect, TryMemory(), target.info)
            self.connection_manager.start()
            await self.navigation.open_route(route)
        finally:
            done.set()

    def _link_changed(self) -> None:
        if self.is_running and self.hold_reason is not None and not self.connection.read_only:
            self.say(f"Nothing can be changed: {self.hold_reason}", severity="warning")
        screen = self.navigation.screen
        if screen is not None and self.is_running:
            screen.refeed()

    def _session_complete(self) -> None:
        if self.session is None or not self.is_running:
            return
        self.detect_terminal()
        unresolved_changes.watch_count(self.session)
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
        await unresolved_changes.offer_at_start(self._whole)
        if not self._whole.first_steps.is_dismissed:
            from gwtui.ui.actions.app import offer_first_steps  # noqa: PLC0415 - once ever

            await offer_first_steps(self._whole)
