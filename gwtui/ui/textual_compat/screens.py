"""Screens: their layout, what is painted of them, what they still have to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple

from textual import events, messages, on
from textual._queue import Queue
from textual._styles_cache import StylesCache
from textual.app import App
from textual.geometry import NULL_SIZE, Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget, _RenderCache

from gwtui.ui.textual_compat.widgets import KeepsLines

_UNCHANGED = 0.2
"""Seconds after which a screen that had nothing to paint has changed nothing that is seen."""


class _LayoutRequest(NamedTuple):
    """What a widget wants of the next layout of its screen."""

    requested: bool
    """It asked for a layout that has not begun."""
    vertical: bool
    """A vertical scrollbar takes a column of it."""
    horizontal: bool
    """A horizontal scrollbar takes a line of it."""


def _layout_request(widget: Widget) -> _LayoutRequest:
    return _LayoutRequest(
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
        before = {widget: _layout_request(widget) for widget in self.walk_children(Widget)}
        super()._refresh_layout(now, moved)
        # A layout tells each widget its new size, and Textual takes any new size as a wish for
        # another layout. Only scrollbars that came or went leave another size for the rest.
        unasked = _LayoutRequest(False, False, False)
        for widget in self._compositor.widgets:
            if before.get(widget, unasked) == _layout_request(widget)._replace(requested=False):
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
        only when the changed widget has told it. Where nothing changed, it comes a moment later.
        """
        if not self._after_paint:  # else a timer for all of them runs already
            self.set_timer(_UNCHANGED, self._paint_for_callbacks)
        self._after_paint = (*self._after_paint, callback)

    def _paint_for_callbacks(self) -> None:
        if self._after_paint:
            self.refresh()

    async def on_event(self, event: events.Event) -> None:
        """Tell a screen that is being closed of no other size: its parts are gone."""
        if not (isinstance(event, events.Resize) and self._pruning):
            await super().on_event(event)

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


def is_laid_out(screen: Screen[Any]) -> bool:
    """Whether everything has its place, and what waits for that has been called."""
    return not (screen._layout_required or screen._callbacks)


def painted_strips(screen: Screen[Any]) -> Sequence[Strip]:
    """The lines of a screen as it would be painted now; none before its layout.

    Only the compositor puts the widgets of a screen together.
    """
    return screen._compositor.render_strips() if screen.size else ()


def painted_text(screen: Screen[Any]) -> Sequence[tuple[str, int]]:
    """The same without colours; of each line how many cells it takes."""
    return [(strip.text, strip.cell_length) for strip in painted_strips(screen)]


def busy_pump(app: App[Any], likely: MessagePump | None = None) -> MessagePump | None:
    """A pump with a message queued or being handled: of the app, its screens or their widgets.

    ``likely`` is looked at first. None when there is nothing left to do; workers, timers and what
    the operating system is asked for do not count. Textual tells nobody; the pilot of its tests
    goes by processor time.
    """
    if likely is not None and is_busy(likely):
        return likely
    for pump in (app, *app._registry):
        if is_busy(pump):
            return pump
    return None


def is_busy(pump: MessagePump) -> bool:
    """Whether a pump does anything but wait for its next message; one being mounted does."""
    queue: Queue[Message | None] = pump._message_queue
    if queue.ready_event._waiters:
        return bool(queue.values or pump._next_callbacks)
    # A pump that was never started, or has ended, has no task. The app's is nobody's.
    return pump._task is not None or pump.is_dom_root


def release_painted(screen: Screen[Any]) -> None:
    """Forget every painted line of a screen; it is painted again when it is shown.

    A line is kept as a dozen pieces, with caches of what was cut out of them. Textual keeps them
    for as long as the screen lives.
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
