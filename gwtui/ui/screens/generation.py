"""One generation, looked up by its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.resources.generations.resource import SECTIONS, shown_name
from gwtui.ui.screens.object import ObjectScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.tones import toned
from gwtui.ui.typed_ahead import FINISHING
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.prompt import QuietInput

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub

_ASK = "Enter looks it up. Every answer of the gateway names its generation: gen-…"


class GenerationScreen(ObjectScreen):
    """Asks for an id, then shows every field; a generation never changes, so it is read once."""

    def __init__(self) -> None:
        super().__init__("generation", title="Generation")
        self._wanted = ""
        self._pending = False

    def compose_body(self) -> ComposeResult:
        """The id, what became of it, the figures."""
        with Horizontal(id="generation-ask"):
            yield Static(toned("Generation id ", "accent", bold=True), classes="label")
            yield QuietInput(id="generation-id", placeholder="gen-1763700000-abc123")
        yield OneLine(id="generation-state")
        yield from super().compose_body()

    def on_mount(self) -> None:
        """Nothing was asked yet."""
        self._say(_ASK)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:  # noqa: ARG002 - the hook's signature
        """Nothing is read again and again here."""
        return ()

    async def reread(self) -> None:
        """Look the same one up again."""
        if self._wanted:
            self._look_up(self._wanted)

    def focus_body(self) -> None:
        """The figures once there are any, else the id."""
        if self.target() is None:
            self.ask()
        else:
            super().focus_body()

    def go_back(self) -> bool:
        """Leave the id for the figures, when there are any."""
        if isinstance(self.focused, QuietInput) and self.target() is not None:
            super().focus_body()
            return True
        return False

    def ask(self) -> None:
        """Let the person type an id."""
        self.query_one("#generation-id", QuietInput).focus()

    def seek(self, path: str, child: str | None = None) -> None:  # noqa: ARG002 - the hook's
        """Look this one up, once there is a connection."""
        self.query_one("#generation-id", QuietInput).value = path
        self._look_up(path)

    def refeed(self) -> None:
        """A connection came: look up what was asked for before."""
        super().refeed()
        if self._pending and self.gwtui.session is not None:
            self._look_up(self._wanted)

    @on(Input.Submitted, "#generation-id")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        identity = event.value.strip()
        if identity:
            self._look_up(identity)

    @work(group=FINISHING, exclusive=True)
    async def _look_up(self, identity: str) -> None:
        self._wanted = identity
        self._pending = self.gwtui.session is None
        named = f"“{safe_line(identity, 36)}”"
        if self._pending:
            self._say(f"{named} is looked up once there is a connection")
            return
        self._say(f"Looking up {named}…")
        try:
            found = await self.gwtui.gateway.generations.get(identity)
        except NotFoundError:
            self._say(f"No generation {named}: unknown, or no longer kept", "bad")
        except GatewayError as error:
            self._say(f"{named} could not be read: {safe_text(error.message, 200)}", "bad")
        else:
            self._say("/ or i asks for another one")
            self.show_object(shown_name(found), SECTIONS, found)
            self.query_one("#object", LinesView).scroll_home(animate=False)
            super().focus_body()

    def _say(self, words: str, tone: Tone = "muted") -> None:
        self.query_one("#generation-state", OneLine).show(Content.assemble(" ", toned(words, tone)))
