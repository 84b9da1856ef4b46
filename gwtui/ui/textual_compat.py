"""Every private name of Textual and Rich that the dashboard depends on, each with its reason.

No other module uses one. A private name may change with any release of Textual, so that the
version is held to the minor release that this file was tested with (``TESTED``).
"""

from __future__ import annotations

import asyncio
import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple, cast

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text
from textual import constants, events, messages, on
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._queue import Queue
from textual._styles_cache import StylesCache
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.css.model import RuleSet
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import NULL_SIZE, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.notifications import Notification
from textual.screen import Screen, ScreenResultType
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget, _RenderCache
from textual.worker import WorkerFailed

TESTED = "8.2"
"""The minor release of Textual whose private names these are."""

# Hundreds of rules are looked for in a set for each widget that is styled. Textual's own method
# gives what every object has by itself, and takes a tenth of what opening a form costs.
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]

Piece = tuple[int, int, Strip]
"""A piece of a line, with the column and the line it begins at."""


# The terminal ---------------------------------------------------------------------------------


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


class PromptDriver(LinuxDriver):
    """A driver that takes the Escape key for one soon: Textual's own looks every 0.1 s only."""

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
                    text = decode(os.read(self.fileno, _READ), final=last)
                    if due is None and get_time() < torn_until and _REST.match(text):
                        text = _ESCAPE + text
                    for event in parser.feed(text) if text else ():
                        self.process_message(event)
                    if shortened and due is None and text == _ESCAPE:
                        parser._timeout_time = get_time() + _LONE_ESCAPE
                        torn_until = get_time() + constants.ESCAPE_DELAY
                for event in parser.tick():
                    self.process_message(event)
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


_AWAITED = 0.1
"""Seconds that the paint waits for what a screen reads: an empty list would be painted for it."""
_LONGEST_HOLD = 0.3
_HASTY = 8
_LOOK = 0.002
"""Looks at the program without a pause in between, and seconds between the further ones."""


class _Rendered(CompositorUpdate):
    """An update that is rendered already: only this type is written without a further look."""

    def __init__(self, text: str) -> None:
        self._text = text

    def render_segments(self, console: Console) -> str:  # noqa: ARG002 - rendered already
        """The bytes."""
        return self._text


# The app --------------------------------------------------------------------------------------


class HookedApp(App[int], inherit_bindings=False):
    """An app with public hooks in three places where Textual has private ones only."""

    def get_driver_class(self) -> type[Driver]:
        """The driver of this platform."""
        found = super().get_driver_class()
        return PromptDriver if found is LinuxDriver else found

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
        while (held := monotonic() - begun) < _LONGEST_HOLD and self.screen_stack:
            await asyncio.sleep(0 if looks < _HASTY else _LOOK)
            looks += 1
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

    def is_harmless(self, error: Exception, *, leaving: bool) -> bool:  # noqa: ARG002 - the hook's
        """Hook: whether an error is dropped; ``leaving`` while the program ends."""
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
        if not self.is_harmless(error, leaving=self._exit):
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


# Screens --------------------------------------------------------------------------------------


class _LayoutWishes(NamedTuple):
    """What a widget wants of the next layout of its screen."""

    asked: bool
    """It asked for a layout that has not begun."""
    vertical: bool
    """A vertical scrollbar takes a column of it."""
    horizontal: bool
    """A horizontal scrollbar takes a line of it."""


def _layout_wishes(widget: Widget) -> _LayoutWishes:
    return _LayoutWishes(
        widget._layout_required, widget.show_vertical_scrollbar, widget.show_horizontal_scrollbar
    )


class TerminalSized(Screen[ScreenResultType]):
    """A screen that is laid out in the size of its app, whatever asks for the layout.

    Textual lays a screen out in the size that each resize event names, or in its own last one,
    and every layout in another size posts a resize event to the screen itself. With two sizes
    under way while the screen is busy, each layout brings the other size back, without end.
    """

    _laid_out_at = 0.0
    """When everything was laid out last, in seconds of the clock that messages carry."""
    _whole_follows = False
    """Whether all of it is painted as soon as it is laid out."""
    _after_paint: tuple[Callable[[], object], ...] = ()
    """What waits for the next paint."""

    @property
    def is_laid_out(self) -> bool:
        """Whether it was laid out, and with that painted, once."""
        return self._laid_out_at > 0

    # Every layout of a screen goes through this private method; no public one stands before it.
    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:  # noqa: ARG002
        now = self.app.size
        # What only moved may be laid out by itself, but not when there is another room for it.
        moved = scroll and now == self.outer_size
        if moved and not self._layout_widgets:
            super()._refresh_layout(now, moved)
            return
        self._laid_out_at = monotonic()
        before = {widget: _layout_wishes(widget) for widget in self.walk_children(Widget)}
        super()._refresh_layout(now, moved)
        # A layout tells each widget its new size, and Textual takes any new size as a wish for
        # another layout. Only scrollbars that came or went leave another size for the rest.
        unasked = _LayoutWishes(False, False, False)
        for widget in self._compositor.widgets:
            if before.get(widget, unasked) == _layout_wishes(widget)._replace(asked=False):
                widget._layout_required = False

    @property
    def awaited(self) -> bool:
        """Hook: whether what it shows may come in a moment."""
        return False

    def lay_out(self) -> None:
        """Lay out what asked for it, while the paint is held."""
        if self._layout_required:
            self._refresh_layout(scroll=self._scroll_required)
            self._layout_required = self._scroll_required = False

    # Where a layout and a repaint of everything are due, Textual paints first one, then the other.
    def _on_timer_update(self) -> None:
        self._whole_follows = self._repaint_required
        super()._on_timer_update()
        self._whole_follows = False

    def _compositor_refresh(self) -> None:
        # What is rendered while the paint is held is thrown away.
        if not (self.app._batch_count or (self._whole_follows and self._repaint_required)):
            super()._compositor_refresh()
            due, self._after_paint = self._after_paint, ()
            for callback in due:
                self.call_next(callback)

    def call_after_paint(self, callback: Callable[[], object]) -> None:
        """Call it once what changed by now is on the terminal: with the next paint of this screen.

        ``call_after_refresh`` may come before: a screen knows of a change that is to be painted
        only when the changed widget has told it.
        """
        self._after_paint = (*self._after_paint, callback)

    def on_layout(self, message: messages.Layout) -> None:
        """Lay nothing out for what was asked for before the last layout: it is part of that one.

        A screen that opens is laid out at once, and then again for each of its parts that asked.
        """
        if message.time < self._laid_out_at:
            message.stop()
            message.prevent_default()

    def on_compose(self) -> None:
        """Have the classes of its size before its parts are made.

        Textual gives them when it is laid out first, and styles every part a second time.
        """
        size = self.app.size
        found: set[str] = set()
        for cells, breakpoints in (
            (size.width, self.HORIZONTAL_BREAKPOINTS),
            (size.height, self.VERTICAL_BREAKPOINTS),
        ):
            found |= self._get_breakpoint_classes(cells, breakpoints or [])
        if found - self.classes:
            self.add_class(*found, update=False)
            self.app.stylesheet.apply(self)

    def on_mount(self) -> None:
        """Take the styles as those of now, and hide the toasts before the first layout.

        Each widget gets its styles as it is made. Textual hides what holds the toasts in its style
        sheet and once more by itself when a screen is shown, which lays it all out a second time.
        """
        self._css_update_count = self.app._css_update_count
        for rack in self.query("ToastRack"):
            rack.display = False

    @on(events.ScreenResume)
    def keep_styles(self, event: events.ScreenResume) -> None:
        """Style no widget again when no style sheet changed meanwhile.

        Textual does it whenever a screen is shown, even for the first time, which is a sixth of
        what opening a form costs.
        """
        event.refresh_styles = self._css_update_count != self.app._css_update_count
        self._css_update_count = self.app._css_update_count

    def on_screen_suspend(self) -> None:
        """Keep no painted lines once it is left or closed; what only covers it leaves them."""
        if self not in self.app.screen_stack:
            release_painted(self)


def let_be_switched(screen: Screen[Any], app: App[Any]) -> None:
    """Prepare the default screen of an app for ``switch_screen``.

    That one takes a result's callback away from the screen it replaces, and only a pushed screen
    has one.
    """
    screen._push_result_callback(app, None)


def bindings_of(node: DOMNode) -> dict[str, list[Binding]]:
    """The bindings of one app or screen by key, to be changed.

    ``App.bind`` knows no priority, and screens have nothing alike.
    """
    return node._bindings.key_to_bindings


def is_whole(widget: Widget) -> bool:
    """Whether every part of a widget can be found in it: not while they are being removed.

    A widget that is removed is attached until its last part is gone.
    """
    return widget.is_attached and not widget._pruning


def is_laid_out(screen: Screen[Any]) -> bool:
    """Whether everything has its place, and what waits for that has been called."""
    return not (screen._layout_required or screen._callbacks)


def painted_strips(screen: Screen[Any]) -> Sequence[Strip]:
    """The lines of a screen as it would be painted now; none before its layout.

    Only the compositor puts the widgets of a screen together.
    """
    return screen._compositor.render_strips() if screen.size else ()


def painted_text(screen: Screen[Any]) -> Sequence[str]:
    """The same without colours."""
    return [strip.text for strip in painted_strips(screen)]


def busy_pump(app: App[Any], likely: MessagePump | None = None) -> MessagePump | None:
    """A pump with a message queued or being handled: of the app, its screens or their widgets.

    ``likely`` is looked at first. None when there is nothing left to do; workers, timers and what
    the operating system is asked for do not count. Textual tells nobody; the pilot of its tests
    goes by processor time.
    """
    if likely is not None and is_busy(likely):
        return likely
    return next((pump for pump in (app, *app._registry) if is_busy(pump)), None)


def is_busy(pump: MessagePump) -> bool:
    """Whether a pump does anything but wait for its next message; one being mounted does."""
    queue: Queue[Message | None] = pump._message_queue
    if queue.ready_event._waiters:
        return not queue.empty() or bool(pump._next_callbacks)
    # A pump that was never started, or has ended, has no task. The app's is nobody's.
    return pump._task is not None or pump.is_dom_root


# What is kept of painted screens --------------------------------------------------------------


class KeepsLines:
    """Stands before a widget among the bases of one that keeps rendered lines of its own."""

    def forget_lines(self) -> None:
        """Hook: keep none of them; each is rendered again when it is shown."""
        raise NotImplementedError


def release_painted(screen: Screen[Any]) -> None:
    """Forget every painted line of a screen; it is painted again when it is shown.

    A line is kept as a dozen pieces with seven caches each: a megabyte a screen. Textual keeps
    them for as long as the screen lives.
    """
    widgets = [screen, *screen.walk_children(Widget)]
    # Scrollbars are no children, and a screen that is left has no place for them any more.
    bars = (bar for widget in widgets for bar in _scrollbars(widget) if bar is not None)
    for widget in (*widgets, *bars):
        widget._set_dirty()
        widget._render_cache = _RenderCache(NULL_SIZE, [])
        widget._layout_cache.clear()
        if isinstance(widget, KeepsLines):
            widget.forget_lines()


def _scrollbars(widget: Widget) -> tuple[Widget | None, ...]:
    """The bars of a widget and what is between them, None where it never had one."""
    return (
        widget._vertical_scrollbar,
        widget._horizontal_scrollbar,
        widget._scrollbar_corner,
    )


def release_closed() -> None:
    """Forget the painted lines of widgets that are gone.

    Textual remembers two colours for each of the last thousand widgets by what holds their lines,
    and so holds the lines as well.
    """
    StylesCache.get_inner_outer.cache_clear()


# Widgets --------------------------------------------------------------------------------------


def fit_scrollbars(view: ScrollView, size: Size) -> None:
    """Tell the scrollbars of a view another size of what it shows, without a layout.

    What Textual does itself when a virtual size changes; a view that watches its size without
    repainting has to do it.
    """
    view._scroll_update(size)


class ScrollsWhenNeeded(VerticalScroll):
    """Has a scroll bar when what is in it does not fit without one.

    The bar takes width away, so that text folds into more lines beside it. Textual looks at these
    lines: a bar that was needed once, in a smaller window say, would stay where everything fits
    without it.
    """

    # There is no other way to have a say in when Textual shows the bar.
    def _refresh_scrollbars(self) -> None:
        room = self.container_size
        if not room or not self.is_scrollable:
            return
        needed = self.arrange(room).total_region.bottom > room.height
        self.show_vertical_scrollbar = needed
        if needed or self._vertical_scrollbar is not None:
            self.vertical_scrollbar.display = needed


class ShowsOtherText:
    """Stands before ``Input`` among the bases of a class: draws another text than its value.

    Every sign of ``shown_value`` stands for one of the value. An input draws and measures its own
    value; public hooks change colours only.
    """

    def shown_value(self) -> str:
        """Hook: what is drawn, of the length of the value."""
        raise NotImplementedError

    @property
    def _value(self) -> Text:
        return Text(self.shown_value(), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(self.shown_value()[:position])
