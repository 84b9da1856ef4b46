"""What an action's handler is given: the app, and the screen and row of the key press."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar  # typing's own has no default yet

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.app import GwtuiApp
    from gwtui.ui.screens.base import GatewayScreen

T = TypeVar("T", default=Any)


@dataclass(frozen=True, slots=True)
class Marks:
    """How many rows of a list are marked, and how many of those its filter hides."""

    count: int = 0
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ActionContext(Generic[T]):
    """The moment an action was asked for; ``T`` is what the action acts on.

    A refresh between the key press and the handler cannot move the action to another row:
    ``target`` and ``identity`` are those of the row that was selected then. An action that
    declares a ``target`` is not handled without one.
    """

    app: GwtuiApp
    spec: ResourceSpec[T] | None
    target: T
    identity: str | None
    screen: GatewayScreen
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
S = TypeVar("S")


def on_screen(kind: type[S], act: Callable[[S], object]) -> Handler:
    """A handler that does something with the screen of the key press, where it is of this kind."""

    async def handle(context: ActionContext) -> None:
        if isinstance(context.screen, kind):
            result = act(context.screen)
            if isawaitable(result):
                await result

    return handle
