"""The dashboard application: owns the connection, the feeds, the writes and the navigation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from gwtui.crud.action import APP, Action
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.caught_errors import caught_errors
from gwtui.local.first_steps import FIRST_STEPS_FILE, FirstSteps
from gwtui.local.log import FILE_NAME as LOG
from gwtui.resources.actions import ANYWHERE, QUIT, all_actions, by_id, place_actions, remap
from gwtui.resources.preferences import FILE_NAME as PREFERENCES
from gwtui.resources.preferences import Preferences
from gwtui.resources.session import SessionFiles, TryMemory
from gwtui.ui.actions.context import BACKGROUND, ActionContext, handler, report_failure
from gwtui.ui.commands import key_of, keymap, offered
from gwtui.ui.connection import ConnectedApp
from gwtui.ui.input_queue import ACTIONS, Input
from gwtui.ui.navigation import Navigation
from gwtui.ui.preference_store import PreferenceStore
from gwtui.ui.screens.startup import StartupScreen
from gwtui.ui.terminal.driver import is_too_small, restore_terminal
from gwtui.ui.terminal.shutdown import CLOSING, REACTION, Shutdown
from gwtui.ui.terminal.textual_private import driver_of, let_be_switched
from gwtui.ui.themes import (
    DEFAULT_THEME,
    THEMES,
    known_theme,
    style_sheets,
)
from gwtui.ui.waits import NOTICEABLE, Waits
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.local.ledger import Ledger
    from gwtui.local.targets import Targets

_BACKGROUND = "background"
_WRITTEN = 0.001
"""Seconds for the writer thread to send the first frame before imports block all threads."""
_LAST_ANSWER = 4.0
"""Maximum seconds to wait for a write in flight when the user quits or switches profile."""
_AHEAD = 0.25
"""Maximum seconds that the start screen waits for the connection."""


class GwtuiApp(ConnectedApp, inherit_bindings=False):
    """The dashboard.

    - ``connect``: returns a context manager that opens the connection; called after the first
      paint, and again for each retry
    - ``start``: the first route, such as "keys" or "models/author/slug"
    - ``data``: directory for recorded samples; None records nothing
    - ``config``: directory of preferences and alert rules; None uses defaults and saves nothing
    - ``tries``: keys for test requests, and whether they are allowed while read-only; None: no
      keys, not allowed
    - ``targets``: the profiles that the user can switch to
    - ``state``: directory that records whether the first steps were offered; None offers none
    """

    TITLE = "gwtui"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(  # noqa: PLR0913 - all by name
        self,
        connect: Callable[[], AbstractAsyncContextManager[Connection]],
        *,
        clock: Clock = SYSTEM_CLOCK,
        start: str = "keys",
        theme: str | None = None,
        local_zone: tzinfo | None = None,
        ledger: Ledger | None = None,
        data: Path | None = None,
        config: Path | None = None,
        tries: TryMemory | None = None,
        targets: Targets | None = None,
        state: Path | None = None,
    ) -> None:
        super().__init__(css_path=style_sheets())
        self.clock = clock
        self.waits = Waits(clock)
        self._waits_shown = False
        self.local_zone = local_zone
        self.navigation = Navigation(self)
        self.first_steps = FirstSteps(None if state is None else state / FIRST_STEPS_FILE)
        self.targets = targets
        self.preference_store = PreferenceStore(
            self, Preferences(None if config is None else config / PREFERENCES)
        )
        remap(self.preference_store.preferences.keys)
        self.set_keymap(keymap())
        self._start = start
        caught_errors.clear()
        self._errors_reported = 0
        self._files = SessionFiles(ledger, data, config)
        self.bind_gateway(connect, tries or TryMemory())
        self.shutdown = Shutdown(
            lambda status: self.exit(return_code=status),
            lambda: restore_terminal(driver_of(self)),
            self._write_down,
        )
        self.animation_level = "none"
        for known in THEMES:
            self.register_theme(known)
        chosen = self.preference_store.preferences.theme or DEFAULT_THEME
        self.theme = known_theme(chosen if theme is None else theme)
        # The action of a key depends on the visible screen. Widgets and dialogs come first.
        for key in {key for action in (*all_actions(), *place_actions()) for key in action.keys}:
            self.bind(key, f"press_key({key!r})", show=False)
        # Control keys work everywhere, forms included; plain keys only outside text fields.
        anywhere = [(key, action_id) for action_id in ANYWHERE for key in by_id(action_id).keys]
        self._anywhere = {key: action_id for key, action_id in anywhere if key.startswith("ctrl+")}
        self.leaving_keys = frozenset(by_id(QUIT).keys)

    # Life -------------------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """The startup screen, which is painted before the connection is opened."""
        # Not in the message loop of the startup screen, because that screen is removed there.
        screen = StartupScreen(self._start, lambda: self.call_later(self._begin))
        let_be_switched(screen, self)
        return screen

    async def on_mount(self) -> None:
        self.shutdown.watch(terminal=not self.is_headless)
        self.screen_change_signal.subscribe(self, self._cover)
        self.set_interval(1.0, self._second)
        self.set_interval(NOTICEABLE, self._show_waits)

    async def _begin(self) -> None:
        await asyncio.sleep(_WRITTEN)
        self.connection_manager.start()
        await self.connection_manager.wait_until_opened(_AHEAD)
        if _covers_all(self.screen):
            await self.screen.dismiss()  # it covers the startup screen, which is replaced
        problem = await self.navigation.open_route(self._start)
        if problem is not None:
            await self.navigation.show_tab("keys")
            self.say(problem, severity="warning")
        self.preference_store.begin()

    async def on_unmount(self) -> None:
        await self.close_gateway()
        await self.preference_store.end()
        self.shutdown.unwatch()

    def before_key(self, key: str) -> None:
        """If the key quits the program, start a deadline for the app to handle it.

        If the app hangs and never gets the key in ``on_event``, the process ends at the deadline.
        """
        if self._quits_anywhere(key):
            self.shutdown.set_deadline(REACTION)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self._quits_anywhere(event.key):
            self.shutdown.clear_deadline()
        await super().on_event(event)

    def _quits_anywhere(self, key: str) -> bool:
        return self._anywhere.get(key) == QUIT

    async def handle_input(self, event: Input) -> None:
        """Run the action of a global control key before the focused widget can use the key."""
        action = self._anywhere.get(event.key) if isinstance(event, events.Key) else None
        if action is None:
            await super().handle_input(event)
        else:
            await self.action_run(action)

    def exit(self, *arguments: Any, **options: Any) -> None:
        """End the program; force the end if something cannot be closed in time."""
        if not self.is_headless:
            self.shutdown.set_deadline(CLOSING)
        super().exit(*arguments, **options)

    def _second(self) -> None:
        self.collect_at_rest()
        # Textual lays out after a timer, which it drops if the process pauses just as the timer
        # starts; it then sets no other one.
        if self.screen_stack and self.screen.outer_size != self.size:
            self.screen.post_message(events.Resize(self.size, self.size))
        screen = self.navigation.screen
        # At the very end the timer may fire once more, when no screen is left.
        if screen is None or not self.screen_stack or screen is not self.screen:
            return
        if self.app_focus or screen.ticks_unfocused:
            screen.tick_and_refresh()
        if len(caught_errors) > self._errors_reported:
            self._errors_reported = len(caught_errors)
            self.say(
                f"Something could not be shown because of a bug in gwtui; see {LOG}",
                severity="error",
            )

    def _show_waits(self) -> None:
        was_shown, self._waits_shown = self._waits_shown, bool(self.waits.text)
        screen = self.navigation.screen
        if (was_shown or self._waits_shown) and screen is not None:
            screen.refresh_frame()

    def cancel_read(self, event: events.Key) -> bool:
        """On Escape, cancel the read of an action or form that takes noticeably long."""
        if event.key != "escape" or not self.screen_stack:
            return False
        screen = self.screen
        cancel = self.waits.cancel if screen is self.navigation.screen else None
        cancel = cancel or getattr(screen, "cancel_reading", None)
        if cancel is None or not cancel():
            return False
        self.say("Cancelled: nothing was sent")
        return True

    def on_app_blur(self) -> None:
        if self.session is not None:
            self.session.hub.pause_all()

    def on_app_focus(self) -> None:
        if self.session is not None:
            self.session.hub.resume_all()

    def on_resize(self, _event: events.Resize) -> None:
        self.redraw()
        # The app itself has the new size only after this event.
        self.call_next(self._cover)

    async def _cover(self, _changed: Screen[Any] | None = None) -> None:
        if not self.screen_stack:
            return
        covered = _covers_all(self.screen)
        if is_too_small(self.size) and not covered:
            from gwtui.ui.screens.dialogs import TooSmallScreen  # noqa: PLC0415 - seldom

            await self.push_screen(TooSmallScreen())
        elif covered and not is_too_small(self.size):
            self.screen.dismiss()

    # Actions ----------------------------------------------------------------------------------

    async def action_press_key(self, key: str) -> None:
        screen = self.navigation.screen
        scopes = (APP,) if screen is None else screen.scopes
        action = next((candidate for candidate in offered(scopes) if key in candidate.keys), None)
        if action is not None:
            await self.action_run(action.id)

    async def action_run(self, action_id: str) -> None:
        screen = self.navigation.screen
        if screen is not None:
            await self.perform(by_id(action_id), screen.capture())
        elif action_id == QUIT:
            self.exit(0)

    async def perform(self, action: Action, context: ActionContext) -> None:
        """Run the action, or show why it is not possible now."""
        refusal = self.refusal(action, context)
        if refusal is not None:
            self.say(refusal, severity="warning")
            return
        handle, immediate = handler(action)
        if immediate:
            try:
                await handle(context)
            except Exception as error:
                self._action_failed(action.title, error)
        else:
            group = _BACKGROUND if action.id in BACKGROUND else ACTIONS
            work = self.waits.run(handle(context))
            self.run_worker(work, name=action.title, group=group, exit_on_error=False)

    def _write_down(self) -> None:
        if self.session is not None:
            self.session.abandon()

    def refusal(self, action: Action, context: ActionContext) -> str | None:
        """Why the action is not possible now; None if it is possible."""
        if (action.mutates or action.bills) and self.session is None:
            return f"{action.title}: not connected yet"
        if (why := self.hold_reason_of(action)) is not None:
            return f"{action.title}: {why}"
        if action.target and context.target is None:
            return f"{action.title}: nothing is selected"
        if action.target and action.marked == "refuse" and context.marked:
            return _one_row_only(action, context)
        return None

    def hold_reason_of(self, action: Action) -> str | None:
        """Why read-only mode blocks the action, to end a sentence; None if it does not."""
        if action.bills and self.session is not None:
            return self.tries.hold_reason(self.connection)
        return self.hold_reason if action.mutates else None

    async def await_write_in_flight(self, text: str, enough: str) -> None:
        """Show a dialog for up to four seconds, until the write in flight has ended.

        ``text`` explains the wait; ``enough`` is the label of the button that ends it.
        """
        if self.session is None or not self.session.in_flight:
            return
        from gwtui.ui.screens.dialogs import WaitScreen  # noqa: PLC0415 - seldom

        title, settle = "Waiting for the response to the change", self.executor.settle
        waiting = WaitScreen(title, text, lambda: settle(_LAST_ANSWER), enough=enough)
        await self.push_screen_wait(waiting)

    def would_be_lost(self) -> str | None:
        """A sentence about what quitting or switching profile now would lose; None if nothing.

        A screen whose attribute ``unsaved`` is true would lose input; its ``loss`` is the sentence.
        """
        if self.session is not None and self.session.in_flight:
            return "A change is in progress; only the audit log would record its outcome."
        for screen in self.screen_stack:
            if getattr(screen, "unsaved", False):
                return str(getattr(screen, "loss", "Your input is not saved."))
        return None

    def footer_actions(self, scopes: Sequence[str]) -> Sequence[Action]:
        """The actions of these scopes for the footer, without those that read-only mode blocks."""
        return [
            action
            for action in offered(scopes)
            if action.footer and self.hold_reason_of(action) is None
        ]

    @on(Worker.StateChanged)
    def _action_ended(self, event: Worker.StateChanged) -> None:
        of_action = event.worker.group in (ACTIONS, _BACKGROUND)
        if not of_action or event.state is not WorkerState.ERROR:
            return
        error = event.worker.error
        if isinstance(error, Exception):
            self._action_failed(event.worker.name or "The action", error)

    def _action_failed(self, title: str, error: Exception) -> None:
        if not report_failure(self, error):
            caught_errors.add(f"action {title}", error)
            self._errors_reported = len(caught_errors)
            self.say(f"{title} failed because of a bug in gwtui; see {LOG}", severity="error")

    async def open_route(self, route: str) -> None:
        """Go to a path such as keys/HASH; show a warning if it does not exist."""
        if route:
            problem = await self.navigation.open_route(route)
            if problem is not None:
                self.say(problem, severity="warning")

    def limit_to_workspace(self, workspace: str | None, name: str | None) -> None:
        """Limit the lists to the workspace with this id and name; None shows all workspaces."""
        self.scope = Scope(workspace=workspace)
        self.scope_name = name
        screen = self.navigation.screen
        if screen is not None:
            screen.refeed()


def _covers_all(screen: Screen[Any] | str) -> bool:
    return getattr(screen, "covers_all", False)


def _one_row_only(action: Action, context: ActionContext) -> str:
    count = len(context.marked)
    are = "row is" if count == 1 else "rows are"
    hidden = f" ({context.hidden} hidden by the filter)" if context.hidden else ""
    key = key_of("list.unmark")
    return (
        f"{action.title} acts on one row, and {count:,} {are} marked{hidden}: "
        f"{key} clears the marks"
    )
