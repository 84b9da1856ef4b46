"""What an action's handler is given: the app, and the screen and row of the key press.

Handlers, screens and the frame import the app's protocols from here; the app imports them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Generic, Protocol

from typing_extensions import TypeVar  # typing's own has no default yet

if TYPE_CHECKING:
    from textual import events
    from textual.app import App
    from textual.geometry import Size
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.widget import Widget
    from textual.worker import Worker

    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.action import Action
    from gwtui.crud.executor import WriteExecutor
    from gwtui.crud.resource import Cell, ResourceSpec
    from gwtui.domain.clock import Clock
    from gwtui.local.dashboard_state import FirstSteps, PathHistory
    from gwtui.local.targets import Target, TargetFacts, Targets
    from gwtui.resources.copying import CopySource
    from gwtui.resources.session import Link, Session, TryMemory
    from gwtui.ui.connection_health import ConnectionHealth
    from gwtui.ui.preference_store import PreferenceStore
    from gwtui.ui.waits import Waits
    from gwtui.ui.widgets.prompt import GotoPrompt
    from gwtui.watch.hub import FeedHub, Scope

    Part = TypeVar("Part", bound=Widget)

Answer = TypeVar("Answer")
T = TypeVar("T", default=Any)


@dataclass(frozen=True, slots=True)
class Marks:
    """How many rows of a list are marked, and how many of those its filter hides."""

    count: int = 0
    hidden: int = 0


class DashboardScreen(Protocol):
    """A full-screen view of the gateway, as handlers and the frame know it."""

    resource: str
    heading: str
    scopes: tuple[str, ...]

    @property
    def app(self) -> App[Any]:
        """Textual's app, for what needs a terminal."""

    def copy_source(self) -> CopySource[Any] | None:
        """What can be copied where it is no row of a list; None where nothing declares it."""

    @property
    def marked_rows(self) -> Sequence[Any]:
        """What actions on several rows act on; empty where nothing is marked."""

    def expect_gone(self, identities: Iterable[str]) -> None:
        """These were removed here: that their rows vanish is no news."""

    async def path_prompt(self) -> GotoPrompt:
        """Where a path is typed; made when it is first asked for."""

    def query(self, selector: type[Part], /) -> Iterable[Part]:
        """Every part of that type."""

    def go_back(self) -> bool:
        """Close what is open inside the screen; whether anything was."""

    def show_row(self, identity: str, *, detail: bool = True) -> None:
        """Show this row as soon as it is there; ``detail`` with every figure of it."""

    def resolve_path(self, path: str, child: str | None = None) -> None:
        """Show what a path names, or say that it names nothing; ``child`` is the list to open."""

    def refresh_frame(self) -> None:
        """Bring header, banner, status line and footer up to date."""

    async def reread(self) -> None:
        """Read every watched feed again now."""


class Navigator(Protocol):
    """The way around."""

    @property
    def screen(self) -> DashboardScreen | None:
        """The screen that is shown, beneath any modal; None before the first."""

    @property
    def covered(self) -> bool:
        """Whether something stands above the screen."""

    async def show_tab(self, tab: str) -> None:
        """Show a tab."""

    async def open_child(
        self, opener: ResourceSpec[Any], parent: str, child: str | None = None, *, name: str = ""
    ) -> None:
        """Show a list that the row ``parent`` of another one opens."""

    async def back(self) -> bool:
        """Return to the screen before; False when there is none."""


class DashboardApp(Protocol):
    """The app, as everything below it knows it.

    ``connection``, ``gateway``, ``hub`` and ``executor`` raise RuntimeError while there is no
    ``session``.
    """

    clock: Clock
    local_zone: tzinfo | None
    scope: Scope
    scope_name: str | None
    health: ConnectionHealth
    tries: TryMemory
    targets: Targets | None
    preference_store: PreferenceStore
    bound_for: TargetFacts | None
    waits: Waits

    # What it is connected to

    @property
    def session(self) -> Session | None:
        """The open connection, None until there is one."""

    @property
    def first_steps(self) -> FirstSteps:
        """Whether this person has seen the first steps."""

    @property
    def paths(self) -> PathHistory:
        """The paths that were gone to."""

    @property
    def link(self) -> Link:
        """How the attempt to connect stands."""

    @property
    def connection(self) -> Connection:
        """Where the gateway is, and how it is spoken to."""

    @property
    def gateway(self) -> GatewayClient:
        """The services of the gateway."""

    @property
    def hub(self) -> FeedHub:
        """The feeds."""

    def first_shown(self) -> None:
        """A screen shows what it read, or why it cannot: the rest may be loaded."""

    @property
    def executor(self) -> WriteExecutor:
        """What sends writes."""

    @property
    def hold_reason(self) -> str | None:
        """Why writes are held back; None while they are not."""

    @property
    def read_only(self) -> bool:
        """Whether writes are held back."""

    @property
    def alert_badge(self) -> Cell | None:
        """How many alerts ask for somebody; None while none does."""

    async def switch(self, target: Target) -> None:
        """Close everything of the present gateway, then open another one. Call it in a worker."""

    def reconnect(self) -> None:
        """Try to connect now."""

    # Actions

    def run_worker(self, work: Coroutine[Any, Any, None], *, group: str) -> Worker[None]:
        """Do this beside the handling of messages; ``group`` says what waits for it."""

    async def perform(self, action: Action, context: ActionContext) -> None:
        """Do what an action promises, or say why not."""

    def refusal(self, action: Action, context: ActionContext) -> str | None:
        """Why an action cannot be done now, None when it can."""

    def holds_back(self, action: Action) -> str | None:
        """Why an action is not possible while read-only, None when it is."""

    def hints(self, scopes: Sequence[str]) -> Sequence[Action]:
        """The actions that the footer may hint at."""

    def would_be_lost(self) -> str | None:
        """What quitting now would lose, None when nothing."""

    # Screens

    @property
    def navigation(self) -> Navigator:
        """The way around."""

    @property
    def screen(self) -> object:
        """What stands on top: a ``DashboardScreen`` or a modal."""

    async def open_route(self, route: str) -> None:
        """Go to a path such as keys/HASH, or say that there is no such place."""

    def narrow(self, workspace: str | None, name: str | None) -> None:
        """Narrow the scoped lists to a workspace, None for all of them."""

    def push_screen(self, screen: Screen[Any]) -> Awaitable[Any]:
        """Show a screen on top; awaited until it is there."""

    async def push_screen_wait(self, screen: Screen[Answer]) -> Answer:
        """Show a screen on top, and wait in a worker for its answer."""

    # The terminal

    @property
    def size(self) -> Size:
        """Columns and lines."""

    @property
    def was_typed(self) -> bool:
        """Whether anything was typed or pressed since the start."""

    async def handle_input(self, event: events.Key) -> None:
        """Handle a key that another screen passed on."""

    def say(self, message: str, *, severity: SeverityLevel = "information") -> None:
        """A short notice."""

    def bell(self) -> None:
        """Ring the bell."""

    def set_terminal_title(self, text: str) -> None:
        """Show a text in the terminal's title; an empty text gives the title back."""

    def redraw(self) -> None:
        """Send the whole screen: something else may have written on it."""

    def call_later(self, callback: Callable[..., Any], *args: Any) -> bool:
        """Call this in the app's own message loop."""

    def exit(self, result: int | None = None) -> None:
        """End the program with this status."""


@dataclass(frozen=True, slots=True)
class ActionContext(Generic[T]):
    """The moment an action was asked for; ``T`` is what the action acts on.

    A refresh between the key press and the handler cannot move the action to another row:
    ``target`` and ``identity`` are those of the row that was selected then. An action that
    declares a ``target`` is not handled without one.
    """

    app: DashboardApp
    spec: ResourceSpec[T] | None
    target: T
    identity: str | None
    screen: DashboardScreen
    """The screen that was shown, beneath any modal."""
    marks: Marks = Marks()
    """How much was marked then."""
    marked: Sequence[T] = ()
    """The rows that were marked then: no refresh, sort or filter changes what is acted on."""
    argument: str = ""
    """What was typed behind a command."""

    @property
    def chosen(self) -> Sequence[T]:
        """The marked rows of a list, else the one that was selected."""
        selected = () if self.target is None else (self.target,)
        return self.marked or selected

    @property
    def covered(self) -> bool:
        """Whether something came up over the screen meanwhile: a key pressed twice opens a form."""
        return self.app.screen is not self.screen

    def expect_removed(self, *others: str | None) -> None:
        """Let the list know that what was chosen, and ``others``, are removed by this program."""
        known = () if self.spec is None else map(self.spec.identity, self.chosen)
        self.screen.expect_gone(filter(None, (*known, *others)))


Handler = Callable[[ActionContext[T]], Awaitable[Any]]
"""Does what an action promises. May wait for a person: it runs in a worker of its own."""
