"""What an action's handler is given: everything captured when the key was pressed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.app import GwtuiApp
    from gwtui.ui.screens.base import GatewayScreen


@dataclass(frozen=True, slots=True)
class Marks:
    """How many rows of a list are marked, and how many of those its filter hides."""

    count: int = 0
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class ActionContext:
    """The moment an action was asked for.

    A refresh between the key press and the handler cannot move the action to another row:
    ``target`` and ``identity`` are those of the row that was selected then.
    """

    app: GwtuiApp
    spec: ResourceSpec[Any] | None
    target: Any | None
    identity: str | None
    screen: GatewayScreen
    """The screen that was shown, beneath any modal."""
    marks: Marks = Marks()
    """What was marked then."""

    @property
    def chosen(self) -> Sequence[Any]:
        """The marked rows of a list, else the one that was selected."""
        selected = () if self.target is None else (self.target,)
        return self.screen.marked_rows or selected

    def tell_removed(self, *others: str | None) -> None:
        """What was chosen is removed by this program, ``others`` too: its list need not say so."""
        known = () if self.spec is None else map(self.spec.identity, self.chosen)
        self.screen.expect_gone(filter(None, (*known, *others)))


Handler = Callable[[ActionContext], Awaitable[Any]]
"""Does what an action promises. May wait for a person: it runs in a worker of its own."""
