"""Every use of a private name of Textual, with its reason.

These names may change with any release of Textual.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.screen import Screen
from textual.strip import Strip

from gwtui.local.log import crash_report

Piece = tuple[int, int, Strip]
"""Column, line and segments of a painted piece of a line."""


def driver_of(app: App[Any]) -> Driver | None:
    """Return the terminal driver, for the clipboard and the modes; None before the app runs.

    ``_driver``: there is no public way to write a sequence to the terminal.
    """
    return app._driver


def let_be_switched(screen: Screen[Any], app: App[Any]) -> None:
    """Give the app's default screen a result callback, so that ``switch_screen`` can replace it.

    Uses ``_push_result_callback``, because ``switch_screen`` raises an error if the screen that it
    replaces has no result callback, and the default screen, which was never pushed, has none.
    """
    screen._push_result_callback(app, None)


class PromptParser(XTermParser):
    """Terminal input parser with a custom delay for the Escape key.

    ``_xterm_parser`` and ``_timeout_time``: Textual has no public setting for this delay.
    """

    @property
    def due(self) -> float | None:
        """Monotonic time at which the pending input counts as a key; None without pending input."""
        return self._timeout_time

    @due.setter
    def due(self, moment: float) -> None:
        self._timeout_time = moment


def pieces(update: LayoutUpdate | ChopsUpdate) -> Iterator[Piece]:
    """Return the pieces that an update of the compositor paints."""
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


class _Difference(CompositorUpdate):
    """A screen update reduced to its changed cells; computed only when it is written."""

    def __init__(self, app: HookedApp, painted: LayoutUpdate | ChopsUpdate) -> None:
        self._app, self._painted = app, painted

    def render_segments(self, console: Console) -> str:  # noqa: ARG002 - rendered without one
        return self._app.outgoing(pieces(self._painted))


class HookedApp(App[int], inherit_bindings=False):
    """App with public hooks for behaviour that Textual only offers privately."""

    crash: str | None = None
    """The report of the error that ended the program, if any."""

    def outgoing(self, painted: Iterable[Piece]) -> str:
        """Hook: return the control sequences to send for painted pieces."""
        raise NotImplementedError

    def contain_error(self, error: Exception) -> bool:  # noqa: ARG002 - the hook's
        """Hook: handle an error and return whether the program continues."""
        return False

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Replace every update by its difference."""
        if isinstance(renderable, LayoutUpdate | ChopsUpdate):
            renderable = cast("RenderableType", _Difference(self, renderable))
        super()._display(screen, renderable)

    def _handle_exception(self, error: Exception) -> None:
        """End with a crash report without values; Textual's report shows local variables."""
        if self.crash is None and not self.contain_error(error):
            self.crash = crash_report(error)
            super()._handle_exception(error)

    def panic(self, *_renderables: Any) -> None:
        """End the program without showing renderables, which may contain values."""
        self._fatal_error()

    def _fatal_error(self) -> None:
        self.bell()
        self.exit(return_code=1, message=Segments([Segment(self.crash or "")]))
