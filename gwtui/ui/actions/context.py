"""The context of an action, and the handler that an action id leads to.

Modules of handlers are imported on first use, because forms and their dependencies are most of the
program.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar  # typing's own has no default yet

from gwtui.client.errors import GatewayError
from gwtui.crud.action import Action
from gwtui.ui.commands import tab_of

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.app import GwtuiApp
    from gwtui.ui.screens.base import GatewayScreen


T = TypeVar("T", default=Any)


@dataclass(frozen=True, slots=True)
class ActionContext(Generic[T]):
    """The state at the key press that started an action; ``T`` is the type of the row.

    A refresh between the key press and the handler cannot move the action to another row:
    ``target`` and ``identity`` belong to the row selected at the key press; both are None without
    a row, and then actions that declare a ``target`` are not handled. ``spec`` is the resource of
    the list, None on other screens.
    """

    app: GwtuiApp
    spec: ResourceSpec[T] | None
    target: T
    identity: str | None
    screen: GatewayScreen
    """The screen at the key press, beneath any modal."""
    marked: Sequence[T] = ()
    """The rows marked at the key press, independent of later refreshes, sorting and filters."""
    hidden: int = 0
    """The number of marked rows that the filter hides."""
    argument: str = ""
    """The argument typed after a command."""

    @property
    def chosen(self) -> Sequence[T]:
        """The marked rows, else the selected one."""
        selected = () if self.target is None else (self.target,)
        return self.marked or selected

    @property
    def is_covered(self) -> bool:
        """Whether another screen is on top now, such as a form after a key was pressed twice."""
        return self.app.screen is not self.screen

    def expect_removed(self, *identities: str | None) -> None:
        """Tell the list that gwtui itself removes the chosen rows and those with these ids."""
        known = () if self.spec is None else map(self.spec.identity, self.chosen)
        self.screen.expect_gone(filter(None, (*known, *identities)))


Handler = Callable[[ActionContext[T]], Awaitable[Any]]
"""Runs an action in its own worker, and may wait for the user."""
S = TypeVar("S")


def on_screen(kind: type[S], act: Callable[[S], object]) -> Handler:
    """Return a handler that calls ``act`` with the screen if that is of type ``kind``."""

    async def handle(context: ActionContext) -> None:
        if isinstance(context.screen, kind):
            result = act(context.screen)
            if isawaitable(result):
                await result

    return handle


# Handlers -----------------------------------------------------------------------------------------

BACKGROUND = frozenset({"app.refresh", "board.unwatch", "models.watch"})
"""Long actions without dialogs: the next key does not wait for them."""

MODULES: Mapping[str, tuple[str, ...]] = {
    "app": ("app",),
    "output": ("list.copy", "list.export", "list.raw", "figures.raw"),
    "links": (
        *("list", "all-endpoints.model"),
        *("alert-history", "alerts.go", "alerts.rules", "alerts.history", "assignments"),
        *("board.changes", "findings.go", "generation.model", "key.models"),
        *("guardrails.assigned", "members.people"),
        *("keys.activity", "keys.guardrail", "models.all-endpoints", "organization.activity"),
        *("model-guardrails", "models.guardrails", "rotations.old", "rotations.new"),
        *("workspaces.members", "workspaces.keys", "workspaces.guardrails", "workspaces.byok"),
        "workspaces.people",
    ),
    "screens": ("activity", "board", "credits", "generation", "models.watch"),
    "tries": (
        *("models.try", "endpoints.try", "all-endpoints.try", "keys.try", "guardrails.try"),
        *("byok.try", "workspaces.try"),
    ),
    "keys": ("keys", "rotations"),
    "workspaces": ("workspaces", "members", "budgets"),
    "guardrails": (
        *("guardrails", "keys.assign", "members.assign", "organization.assign"),
        "assignments.remove",
    ),
    "crud": ("organization",),
    "alerts": ("alerts", "alert-rules", "findings"),
    "recovery": ("evidence", "app.undo"),
}
"""Modules of handlers, each with the ids or id prefixes of its actions.

The verbs of every other resource come from its declaration, in ``crud``.
"""
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}


async def _go(tab: str, context: ActionContext) -> None:
    await context.app.navigation.show_tab(tab)


def handler(action: Action) -> tuple[Handler, bool]:
    """Return the handler of an action, and whether it is immediate. Raises KeyError without one.

    ``IMMEDIATE`` handlers never wait for the user: they run before the next key is read. The other
    ``HANDLERS`` may wait for the user or the gateway: each runs in a worker.
    """
    tab = tab_of(action)
    if tab is not None:
        return partial(_go, tab), True
    scope, _, verb = action.id.partition(".")
    module = _MODULE_OF.get(action.id) or _MODULE_OF.get(scope)
    if module is None:
        declared_verbs = import_module("gwtui.ui.actions.crud").handlers(scope, verb)
        return declared_verbs[action.id], False
    declared = vars(import_module(f"gwtui.ui.actions.{module}"))
    immediate: Mapping[str, Handler] = declared.get("IMMEDIATE", {})
    if action.id in immediate:
        return immediate[action.id], True
    patient: Mapping[str, Handler] = declared["HANDLERS"]
    return patient[action.id], False


def report_failure(app: GwtuiApp, error: Exception) -> bool:
    """Report why an action failed; return False, without a report, for an unexpected error.

    A request built from a gateway response may violate the contract: then it is not sent.
    """
    if isinstance(error, GatewayError):
        app.say(error.message, severity="error")
        return True
    from gwtui.contract.request import violation_text  # noqa: PLC0415 - not before the first paint

    why = violation_text(error)
    if why is not None:
        app.say(f"Not sent, the request would break the contract: {why}", severity="error")
    return why is not None
