"""The context of an action: the app, and the screen and row of the key press."""

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
    """The number of marked rows, and how many of them the filter hides."""

    count: int = 0
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ActionContext(Generic[T]):
    """The state at the key press that started an action; ``T`` is the type of the row.

    A refresh between the key press and the handler cannot move the action to another row:
    ``target`` and ``identity`` belong to the row selected at the key press. An action that declares
    a ``target`` is not handled without one.
    """

    app: GwtuiApp
    spec: ResourceSpec[T] | None
    target: T
    identity: str | None
    screen: GatewayScreen
    """The screen at the key press, beneath any modal."""
    marks: Marks = Marks()
    """The number of rows marked at the key press."""
    marked: Sequence[T] = ()
    """The rows marked at the key press, independent of later refreshes, sorting and filters."""
    argument: str = ""
    """The argument typed after a command."""

    @property
    def chosen(self) -> Sequence[T]:
        """The marked rows, else the selected one."""
        selected = () if self.target is None else (self.target,)
        return self.marked or selected

    @property
    def covered(self) -> bool:
        """Whether another screen is now on top, such as a form of the same key pressed twice."""
        return self.app.screen is not self.screen

    def expect_removed(self, *others: str | None) -> None:
        """Tell the list that this program removes the chosen rows and ``others``."""
        known = () if self.spec is None else map(self.spec.identity, self.chosen)
        self.screen.expect_gone(filter(None, (*known, *others)))


Handler = Callable[[ActionContext[T]], Awaitable[Any]]
"""Runs an action in its own worker, and may wait for a person."""
S = TypeVar("S")


def on_screen(kind: type[S], act: Callable[[S], object]) -> Handler:
    """Return a handler for one type of screen; it does nothing on other screens."""

    async def handle(context: ActionContext) -> None:
        if isinstance(context.screen, kind):
            result = act(context.screen)
            if isawaitable(result):
                await result

    return handle
