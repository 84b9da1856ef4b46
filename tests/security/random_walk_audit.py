"""Watches a walk that may write: who agreed to what, what was sent, and to which row it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from random_walk_gateway import WalkSite

from gwtui.crud.plan import Applied, Confirmation, Outcome, Plan
from gwtui.ui.actions import bulk, undo, writing
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.resource import ResourceScreen

METHODS = {
    "create": "POST",
    "edit": "PATCH",
    "toggle": "PATCH",
    "rotate": "PATCH",
    "delete": "DELETE",
    "put": "PUT",
    "add": "POST",
    "remove": "POST",
    "assign_keys": "POST",
    "assign_members": "POST",
    "feedback": "POST",
}
ELSEWHERE = frozenset({"organization", "generation"})
"""Resources whose identity is not in the path."""


@dataclass(frozen=True)
class Captured:
    """What was selected and marked when an action was asked for; ``texts`` is all that it holds."""

    context: ActionContext
    selected: str | None
    chosen: frozenset[str]
    """The marked rows where any is marked, else the selected one."""
    parent: str | None
    texts: frozenset[str]


class Witness:
    """``faults`` says in words what was not as it must be."""

    def __init__(self, place: WalkSite, monkeypatch: pytest.MonkeyPatch) -> None:
        self.faults: list[str] = []
        self.sent: Counter[str] = Counter()
        self.consents: Counter[str] = Counter()
        self._place = place
        self._matched: set[str] = set()
        self._captured: list[Captured] = []
        self._agreed: set[str] = set()
        self._applied: set[str] = set()
        self._may_go: set[str] = set()
        place.arrived = self._arrived
        self._watch_captures(monkeypatch)
        self._watch_dialogs(monkeypatch)
        self._watch_sending(monkeypatch)

    # Where it happens -------------------------------------------------------------------------

    def _watch_captures(self, monkeypatch: pytest.MonkeyPatch) -> None:
        capture = GatewayScreen.capture

        def captured(screen: GatewayScreen) -> ActionContext:
            context = capture(screen)
            self._captured.append(_captured(screen, context))
            del self._captured[:-400]
            return context

        monkeypatch.setattr(GatewayScreen, "capture", captured)

    def _watch_dialogs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dismiss = ConfirmScreen.dismiss

        def dismissed(screen: ConfirmScreen, result: Any = None) -> Any:
            if result and screen in screen.app.screen_stack:
                self._agreed |= {screen._plan.id, *(part.id for part in screen._plan.parts)}
            return dismiss(screen, result)

        monkeypatch.setattr(ConfirmScreen, "dismiss", dismissed)

    def _watch_sending(self, monkeypatch: pytest.MonkeyPatch) -> None:
        send = writing.send_one

        async def sending(context: ActionContext, consent: Confirmation[Any]) -> Outcome[Any]:
            self._check_consent(context.app, consent)
            self._check_target(context, consent.plan)
            self._may_go.add(consent.plan.id)
            outcome: Outcome[Any] = await send(context, consent)
            if isinstance(outcome, Applied):
                self._applied.add(consent.plan.id)
            return outcome

        for module in (writing, bulk, undo):
            monkeypatch.setattr(module, "send_one", sending)

    # What must hold ---------------------------------------------------------------------------

    def _arrived(self, method: str, path: str) -> None:
        """A request is at the gateway's door: its intent stands on the disk, and was agreed."""
        if method == "GET":
            return
        self.sent[f"{method} {path.removeprefix('/api/v1/').partition('/')[0]}"] += 1
        for intent in self._place.ledger.open_writes():
            if intent.id in self._matched or METHODS[intent.action.rpartition(".")[2]] != method:
                continue
            parts = (intent.identity or "").split("/")
            if intent.resource in ELSEWHERE or all(part in path for part in parts):
                self._matched.add(intent.id)
                if intent.id not in self._may_go:
                    self.faults.append(f"{method} {path}: {intent.title} was not agreed to")
                return
        self.faults.append(f"{method} {path}: there is no intent of it in the ledger")

    def _check_consent(self, app: GwtuiApp, consent: Confirmation[Any]) -> None:
        self.consents[consent.by] += 1
        match consent.by:
            case "dialog" | "typed":
                agreed = consent.plan.id in self._agreed
            case "form":
                agreed = any(
                    isinstance(screen, FormScreen) and screen._sending
                    for screen in app.screen_stack
                )
            case _:
                agreed = False
        if not agreed:
            self.faults.append(f"{consent.plan.title}: nobody agreed ({consent.by})")
        if app.connection.critical and consent.by != "typed":
            self.faults.append(f"{consent.plan.title}: the profile's name was not typed")

    def _check_target(self, context: ActionContext, plan: Plan[Any]) -> None:
        found = next((one for one in self._captured if one.context is context), None)
        if found is None:
            self.faults.append(f"{plan.title}: its target was captured by nobody")
        elif plan.undoes is not None:
            if plan.undoes not in self._applied and plan.undoes not in self._agreed:
                self.faults.append(f"{plan.title}: undoes what was never done")
        elif not RULES[plan.action](plan, found):
            self.faults.append(f"{plan.title}: not what was selected, {found.selected}")

    def check_end(self) -> None:
        """Each request had an intent, each intent one request at most."""
        assert not self.faults, self.faults[:5]
        assert self.sent.total() == len(self._matched)
        intents = {e.id for e in self._place.ledger.entries() if e.outcome == "intent"}
        assert self._matched <= intents


# The row that a write belongs to -----------------------------------------------------------------


def _captured(screen: GatewayScreen, context: ActionContext) -> Captured:
    listing = screen if isinstance(screen, ResourceScreen) else None
    selected = screen.identity() if listing is None else listing.table.selected_identity
    rows = [*screen.marked_rows] or ([] if context.target is None else [context.target])
    parent = None if listing is None else listing.parent_row
    identity = None if context.spec is None else context.spec.identity
    marked = () if identity is None else map(identity, screen.marked_rows)
    chosen = frozenset(marked) or frozenset(filter(None, (selected,)))
    return Captured(context, selected, chosen, parent, frozenset(_texts(rows)))


def _texts(value: Any, depth: int = 4) -> set[str]:
    """Every text in a row, however it is made."""
    if isinstance(value, str):
        return {value}
    if depth == 0 or value is None:
        return set()
    if isinstance(value, BaseModel):
        inner: Any = [getattr(value, name) for name in type(value).model_fields]
    elif is_dataclass(value):
        inner = [getattr(value, one.name) for one in fields(value)]
    elif isinstance(value, list | tuple):
        inner = value
    else:
        return set()
    return set().union(*(_texts(one, depth - 1) for one in inner)) if inner else set()


def _itself(plan: Plan[Any], found: Captured) -> bool:
    return plan.identity is not None and plan.identity in found.chosen


def _new(plan: Plan[Any], _found: Captured) -> bool:
    return plan.identity is None


def _budget(plan: Plan[Any], found: Captured) -> bool:
    return (plan.identity or "").partition("/")[0] == found.selected


def _to_parent(plan: Plan[Any], found: Captured) -> bool:
    return plan.identity is not None and plan.identity == found.parent


def _of_rows(plan: Plan[Any], found: Captured) -> bool:
    """Only what was selected or marked is named."""
    named = {one for value in plan.summary.values() if isinstance(value, list) for one in value}
    return bool(named) and named <= found.texts


def _assigned(plan: Plan[Any], found: Captured) -> bool:
    """A guardrail to what its form picked, or what is selected to the guardrail that was picked."""
    spec = found.context.spec
    if spec is not None and spec.id == "guardrails":
        return _itself(plan, found)
    return _of_rows(plan, found)


RULES: Mapping[str, Callable[[Plan[Any], Captured], bool]] = {
    **dict.fromkeys(("keys.create", "workspaces.create", "guardrails.create", "byok.create"), _new),
    **dict.fromkeys(("keys.edit", "keys.toggle", "keys.delete"), _itself),
    **dict.fromkeys(("workspaces.edit", "workspaces.delete"), _itself),
    **dict.fromkeys(("guardrails.edit", "guardrails.delete"), _itself),
    **dict.fromkeys(("byok.edit", "byok.rotate", "byok.toggle", "byok.delete"), _itself),
    **dict.fromkeys(("budgets.put", "budgets.delete"), _budget),
    "members.add": _to_parent,
    "members.remove": lambda plan, found: _to_parent(plan, found) and _of_rows(plan, found),
    **dict.fromkeys(("guardrails.assign_keys", "guardrails.assign_members"), _assigned),
    "assignments.remove": _of_rows,
    "organization.edit": lambda plan, _found: plan.identity is not None,
}
"""For each action, whether its plan concerns what was selected when it was asked for."""
