"""The app and the terminal: the driver, what is painted, when, and how the app ends."""

from __future__ import annotations

import asyncio
import os
import re
import selectors
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from threading import Event
from time import monotonic
from typing import Any, cast

from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from textual import constants, events
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.notifications import Notification
from textual.screen import Screen
from textual.strip import Strip
from textual.theme import Theme
from textual.worker import WorkerFailed

from gwtui.ui.terminal import MOUSE_OFF
from gwtui.ui.textual_compat.screens import TerminalSized, busy_pump

Piece = tuple[int, int, Strip]
"""A piece of a line, with the column and the line it begins at."""
_ESCAPE = "\x1b"
_GLANCE = 0.1
"""Seconds between two looks at whether the terminal is to be read any longer."""
_READ = 4096
_LONE_ESCAPE = 0.025
"""Seconds after which an escape character that came all by itself was the key of that name.

A terminal writes the sequence of a key in one piece, and SSH sends it in one packet. Only what
lost its head in a longer text is waited for longer: as ``ESCDELAY`` says, or 0.1 s. For
that long the rest of a sequence that came apart is still taken for its key, not for letters.
"""
_REST = re.compile(r"\[[0-9;?]*[@-~]|O[A-Za-z]")
"""What follows the escape character in the sequence of a key."""
LONGEST_HANDLING = 2.0
"""Seconds that reading waits until a key that may end the program is handled."""
_AWAITED = 0.1
"""Seconds that the paint waits for what a screen reads: an empty list would be painted for it."""
_LONGEST_HOLD = 0.3
_HASTY = 8
_LOOK = 0.002
"""Looks at the program without a pause in between, and seconds between the further ones."""


def driver_of(app: App[Any]) -> Driver | None:
    """What writes to the terminal, for what no widget paints: clipboard and window title.

    None before the app runs. Textual names no public way to write a sequence of one's own.
    """
    return app._driver


def terminal_size(app: App[Any]) -> Size | None:
    """The size of the terminal as it is now; None where it cannot be asked.

    A resize event only names the size at the moment of its signal. A terminal that reports its
    size by itself does so in order, and may be the only one to know it.
    """
    driver = app._driver
    if driver is None or getattr(driver, "_in_band_window_resize", False):
        return None
    read = getattr(driver, "_get_terminal_size", None)
    return None if read is None else Size(*read())


class PromptDriver(LinuxDriver):
    """A driver that takes the Escape key for one soon: Textual's own looks every 0.1 s only.

    It reads nothing behind a key that may end the program until the app has handled that key. If
    the program ends, what was typed behind it is for the shell.
    """

    leaving_keys: frozenset[str] = frozenset()
    """Keys that may end the program; those of one character count."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._handled = Event()
        self._handled.set()
        self._left = False

    def key_handled(self) -> None:
        """The app has handled what was handed on: read on."""
        self._handled.set()

    def leave_the_rest(self) -> None:
        """Read no more, if nothing was read behind the key that ends the program."""
        if not self._handled.is_set():
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            self.write(MOUSE_OFF)
            self.flush()
            # Textual would discard what was typed: it does so when it ends the reading itself.
            self.exit_event.set()
            self._left = True
            self._handled.set()

    def _typed(self, selector: selectors.BaseSelector) -> bytes:
        """What was typed; a key that may end the program comes alone."""
        first = os.read(self.fileno, 1)
        alone = first.decode("ascii", "replace") in self.leaving_keys or not selector.select(0)
        return first if alone else first + os.read(self.fileno, _READ)

    def process_message(self, message: Message) -> None:
        """Hand on what was typed; the app sees its keys here, even if it is too busy for them."""
        if isinstance(message, events.Key) and isinstance(self._app, HookedApp):
            self._app.key_read(message.key)
        super().process_message(message)

    def _hand_on(self, parser: XTermParser, text: str) -> None:
        for event in parser.feed(text) if text else ():
            if isinstance(event, events.Key) and text in self.leaving_keys:
                self._handled.clear()
            self.process_message(event)

    def run_input_thread(self) -> None:
        """Read the terminal until the end, and hand on what was typed."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")().decode
        shortened = "ESCDELAY" not in os.environ
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            last, torn_until = False, 0.0
            while not last:
                last = self.exit_event.is_set()
                due = parser._timeout_time
                wait = _GLANCE if due is None else min(_GLANCE, max(0.0, due - get_time()))
                if selector.select(wait):
                    text = decode(self._typed(selector), final=last)
                    if due is None and get_time() < torn_until and _REST.match(text):
                        text = _ESCAPE + text
                    self._hand_on(parser, text)
                    if shortened and due is None and text == _ESCAPE:
                        parser._timeout_time = get_time() + _LONE_ESCAPE
                        torn_until = get_time() + constants.ESCAPE_DELAY
                for event in parser.tick():
                    self.process_message(event)
                if not self._handled.wait(LONGEST_HANDLING):
                    self._handled.set()
                if self._left:
                    break
        for _ in parser.feed(""):
            pass  # what was half typed at the end is dropped


def pieces(update: LayoutUpdate | ChopsUpdate) -> Iterator[Piece]:
    """What an update paints; only Textual's compositor knows how its updates are made up."""
    if isinstance(update, LayoutUpdate):
        for y, strips in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in strips:
                yield x, y, strip
                x += strip.cell_length
        return
    for y, left, right in update.spans:
        for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if chop is not None and x < right and end > left:
                yield x, y, chop.crop(0, min(end, right) - x)


class _Rendered(CompositorUpdate):
    """An update that is rendered already: only this type is written without a further look."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:  # noqa: ARG002 - rendered already
        """The bytes."""
        return self._text


class HookedApp(App[int], inherit_bindings=False):
    """An app with public hooks in three places where Textual has private ones only."""

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform."""
        found = super().get_driver_class()
        return PromptDriver if found is LinuxDriver else found

    def get_theme(self, theme_name: str) -> Theme | None:
        """A theme. Every widget that is rendered asks for it, and Textual copies all of them."""
        return self._registered_themes.get(theme_name) or super().get_theme(theme_name)

    def exit(self, *arguments: Any, **options: Any) -> None:
        """End the program; what is typed behind the key that ends it is for the shell."""
        if isinstance(self._driver, PromptDriver):
            self._driver.leave_the_rest()
        super().exit(*arguments, **options)

    def watch_for(self, leaving_keys: frozenset[str]) -> None:
        """Name the keys that may end the program; ``key_handled`` is called behind each."""
        if isinstance(self._driver, PromptDriver):
            self._driver.leaving_keys = leaving_keys

    def key_handled(self) -> None:
        """Everything that was typed so far has been handled."""
        if isinstance(self._driver, PromptDriver):
            self._driver.key_handled()

    crash: str | None = None
    """The report of the failure that ended the program, None while there was none."""

    def outgoing(self, painted: Iterable[Piece], colours: ColorSystem | None) -> str:
        """Hook: the bytes to send for what was painted; empty sends nothing.

        ``colours`` is what the terminal can show, None for no colours.
        """
        raise NotImplementedError

    _held: asyncio.Task[None] | None = None

    def hold_paint(self) -> None:
        """Paint nothing until the screen that opens or comes back is as it will be.

        Then all of it is painted at once. Textual paints after a fixed time, or after each step.
        """
        if self._held is None:
            self._begin_batch()
            self._held = asyncio.create_task(self._paint_settled(), name="held paint")

    async def _paint_settled(self) -> None:
        try:
            await self._settle()
        finally:
            self._held = None
            self._end_batch()
            if self.screen_stack and not self._batch_count:
                self.screen.refresh()
                # As its timer does, up to a sixtieth of a second later.
                self.screen.call_later(self.screen._on_timer_update)

    async def _settle(self) -> None:
        """Wait until nothing is at work and laid out, and what is read is there."""
        begun, looks = monotonic(), 0
        busy: MessagePump | None = self
        while (held := monotonic() - begun) < _LONGEST_HOLD:
            await asyncio.sleep(0 if looks < _HASTY else _LOOK)
            looks += 1
            if not self.screen_stack:  # the program has ended meanwhile
                return
            screen = self.screen
            busy = busy_pump(self, busy)
            if busy is not None:
                continue
            if not isinstance(screen, TerminalSized):
                return
            if screen._layout_required:
                screen.call_later(screen.lay_out)
            elif not screen._callbacks and not (screen.awaited and held < _AWAITED):
                return

    def key_read(self, key: str) -> None:
        """Hook: a key was typed. Called in the thread that reads the terminal."""

    def survives(self, error: Exception, *, leaving: bool) -> bool:  # noqa: ARG002 - the hook's
        """Hook: whether the program goes on after an error; ``leaving`` while it ends."""
        return False

    def report(self, error: BaseException | None) -> str:
        """Hook: what is printed in the end of the error that ended the program."""
        raise NotImplementedError

    # Every update passes this method; no public one stands between it and the terminal.
    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if self._sends and isinstance(renderable, LayoutUpdate | ChopsUpdate):
            # Rich's public name of the colour system is a text, its styles take the private one.
            text = self.outgoing(pieces(renderable), self.console._color_system)
            if not text:
                return
            super()._display(screen, cast("RenderableType", _Rendered(text)))
        else:
            super()._display(screen, renderable)

    @property
    def _sends(self) -> bool:
        """Whether an update goes to a terminal now: what is dropped must not count as shown."""
        running = self._running and not self._closed and not self._batch_count
        return running and not self.is_headless and self._driver is not None

    # Errors of every message and worker end here; there is no public hook.
    def _handle_exception(self, error: Exception) -> None:
        if not self.survives(error, leaving=self._exit):
            super()._handle_exception(error)

    def panic(self, *_renderables: Any) -> None:
        """End the program; what an error has to show of itself may hold values."""
        self._fatal_error()

    # Textual's own report prints local variables, tokens among them.
    def _fatal_error(self) -> None:
        if self.crash is not None:
            return
        self.bell()
        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error  # only this one knows where it happened
        self.crash = self.report(error)
        self._exit_renderables.append(Segments([Segment(self.crash)]))
        self._close_messages_no_wait()

    def on_resize(self, event: events.Resize) -> None:
        """Give the event the terminal's size as it is when its turn comes.

        A second signal may come between the reading of a size and the posting of its event: the
        newer event is posted first, and the older size would stay. The handlers of Textual's own
        app come after this one.
        """
        if (size := terminal_size(self)) is not None:
            event.size = event.virtual_size = event.container_size = size


def fail(app: App[Any], error: Exception) -> None:
    """End the app as an error in a handler of a message does: for tasks of one's own."""
    app._handle_exception(error)


def set_first_theme(app: App[Any], name: str) -> None:
    """Set the theme before the first paint: the public way reads every style sheet twice."""
    app.set_reactive(App.theme, name)
    theme = app.current_theme
    app.set_class(theme.dark, "-dark-mode", update=False)
    app.set_class(not theme.dark, "-light-mode", update=False)
    app.set_class(True, f"-theme-{theme.name}", update=False)
    app._refresh_truecolor_filter(app.ansi_theme)
    app.stylesheet.set_variables(app.get_css_variables())


def withdraw_notices(app: App[Any], severity: str) -> None:
    """Take away the notices of a severity. Public is only to take away every notice."""
    found: list[Notification] = [one for one in app._notifications if one.severity == severity]
    for notice in found:
        app._unnotify(notice)
