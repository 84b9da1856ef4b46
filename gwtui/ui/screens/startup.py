"""The frame that is painted before the rest of the program is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from textual.app import ComposeResult

from gwtui.crud.action import APP, LIST
from gwtui.resources.registry import PARENTS, PLACES, SCREENS, resource_of
from gwtui.ui.connection_health import StatePanel
from gwtui.ui.widgets.frame import HeaderBar, KeyFooter, StatusLine, header_facts
from gwtui.ui.widgets.lifetime import RunsWhileOpen, TerminalSized

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp


class StartupScreen(RunsWhileOpen, TerminalSized[Any]):
    """A placeholder that looks like the start screen without a connection.

    Loading the declaration of a resource takes longer than everything before, so that it is put
    off until a person sees where they are: ``painted`` is called then, once.
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
        """Header, "connecting", status line, footer."""
        yield HeaderBar()
        yield StatePanel(id="panel")
        yield StatusLine()
        yield KeyFooter()

    def on_mount(self) -> None:
        """Show the gateway to connect to."""
        app = cast("GwtuiApp", self.app)
        panel = self.query_one(StatePanel)
        panel.display = True
        panel.say_connecting()
        self.query_one(HeaderBar).show_facts(header_facts(app, self._place))
        scopes = (self._place, APP) if self._place in SCREENS else (self._place, LIST, APP)
        self.query_one(KeyFooter).show_actions(app.hints(scopes))
        if self._painted is not None:
            self.call_after_refresh(self._painted)
