"""The screen that is painted before the rest of the program is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult

from gwtui.crud.action import APP, LIST
from gwtui.resources.registry import PARENTS, PLACES, SCREENS, resource_of
from gwtui.ui.connection_health import StatePanel
from gwtui.ui.widgets.frame import footer_parts, header_facts, header_parts
from gwtui.ui.widgets.lifetime import RunsWhileOpen, TerminalSized
from gwtui.ui.widgets.lines import OneLine, PartsLine

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp


class StartupScreen(RunsWhileOpen, TerminalSized[Any]):
    """A placeholder that looks like the start screen without a connection.

    Loading a resource's declaration takes longer than everything before it, so this screen is
    painted first. ``painted`` is called once after that.
    """

    AUTO_FOCUS = ""

    def __init__(self, route: str, painted: Callable[[], object] | None = None) -> None:
        super().__init__()
        self._painted = painted
        word, _, path = route.strip("/").partition("/")
        place = resource_of(word, path)
        place = PARENTS.get(place, place)
        self._place = place if place in PLACES else ""

    def compose(self) -> ComposeResult:
        yield PartsLine(id="header")
        yield StatePanel(id="panel")
        yield OneLine(id="status")
        yield PartsLine(id="footer")

    def on_mount(self) -> None:
        panel = self.query_one(StatePanel)
        panel.display = True
        panel.say_connecting()
        self.on_resize()
        if self._painted is not None:
            self.call_after_refresh(self._painted)

    def on_resize(self) -> None:
        app, width = cast("GwtuiApp", self.app), self.app.size.width
        header = header_parts(header_facts(app, self._place), width)
        self.query_one("#header", PartsLine).show_parts(header)
        scopes = (self._place, APP) if self._place in SCREENS else (self._place, LIST, APP)
        self.query_one("#footer", PartsLine).show_parts(
            footer_parts(app.footer_actions(scopes), width)
        )
