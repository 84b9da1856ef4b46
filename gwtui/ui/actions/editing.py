"""Editing: a form on one resource that is read again before anything is sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError, NotSentError
from gwtui.contract.request import RequestModel
from gwtui.crud.plan import Confirmation, Outcome, Plan, Refused
from gwtui.crud.text import both_sides
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT, ThreeWay, ThreeWayField, three_way
from gwtui.resources.uses import Uses
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.actions.writing import confirm, execute
from gwtui.ui.forms.conflict import ConflictScreen, Dispute

T = TypeVar("T")


class _NothingLeftError(Exception):
    """Everything that was typed is so already."""


def not_read_again(noun: str, error: GatewayError) -> Refused:
    """What a form says when its resource cannot be read again before anything is sent."""
    if isinstance(error, NotFoundError):
        return Refused(NotSentError(f"This {noun} no longer exists."))
    why = f"Nothing was sent: the {noun} could not be read again. {error.message}"
    return Refused(NotSentError(why))


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing(Generic[T]):
    """One form on one resource: on submit it is read again, so that nobody's change is lost.

    ``noun`` is "key", ``called`` names this one ("Key “ci”"); ``known`` gives the editable fields
    that the gateway gave, ``words`` a value as people read it, ``plan`` the plan of the fields
    that are to be sent, in view of the fresh reading. ``send`` carries a confirmed plan out,
    ``uses`` says what uses the resource.
    """

    context: ActionContext
    original: T
    noun: str
    called: str
    read: Callable[[], Awaitable[T]]
    known: Callable[[T], Mapping[str, Any]]
    labels: Mapping[str, str]
    words: Callable[[str, Any], str]
    plan: Callable[[T, Mapping[str, Any]], Plan[Any]]
    send: Callable[[ActionContext, Confirmation[Any]], Awaitable[Outcome[Any]]] = execute
    uses: Callable[[T], Awaitable[Uses]] | None = None

    async def submit(self, request: RequestModel) -> Outcome[T] | None:
        """Compare with what it is now, settle disputes, confirm, send.

        The question may stand for minutes: what somebody changed meanwhile is asked about anew.
        """
        mine = {name: getattr(request, name) for name in request.model_fields_set}
        try:
            confirmation = await self._confirmed_now(mine)
        except _NothingLeftError:
            why = f"Nothing is left to change: the {self.noun} is like this already."
            return Refused(NotSentError(why))
        except GatewayError as error:
            return not_read_again(self.noun, error)
        return None if confirmation is None else await self.send(self.context, confirmation)

    async def _confirmed_now(self, mine: Mapping[str, Any]) -> Confirmation[Any] | None:
        """Confirmation in view of what still holds once it is given.

        Raises GatewayError and _NothingLeftError.
        """
        fresh = await self.read()
        while (confirmation := await self._confirmed(mine, fresh)) is not None:
            again = await self.read()
            if self.known(again) == self.known(fresh):
                return confirmation
            fresh = again
            self.context.app.say(f"{self.called} was changed meanwhile: look once more")
        return None

    async def _confirmed(self, mine: Mapping[str, Any], fresh: T) -> Confirmation[Any] | None:
        """Confirmation to what is to be sent in view of a reading. Raises _NothingLeftError."""
        merged = three_way(self.known(self.original), mine, self.known(fresh))
        changes = await self._settle(merged)
        if changes is None:
            return None
        if not changes:
            raise _NothingLeftError
        plan = self.plan(fresh, changes)
        if self.uses is not None:
            plan = replace(plan, effects=(*plan.effects, *await self.uses(fresh)))
        notes = tuple(self._note(field) for field in merged.moved if field.field not in changes)
        return await confirm(self.context, plan, "Change it", notes=notes)

    async def _settle(self, merged: ThreeWay) -> dict[str, Any] | None:
        """What is to be sent after the person chose for each dispute; None to go back."""
        changes = dict(merged.to_send)
        if merged.conflicts:
            disputes = [self._dispute(field) for field in merged.conflicts]
            sides = await self.context.app.push_screen_wait(
                ConflictScreen(f"{self.called} was changed meanwhile", disputes)
            )
            if sides is None:
                return None
            for name, side in sides.items():
                if side == "theirs":
                    changes.pop(name, None)
        return changes

    def _dispute(self, field: ThreeWayField) -> Dispute:
        name, original = field.field, field.original
        was = UNKNOWN if original is ABSENT else self.words(name, original)
        _, theirs = both_sides(name, original, field.theirs, self.words)
        _, mine = both_sides(name, original, field.mine, self.words)
        return Dispute(name, self.labels[name], was, theirs, mine)

    def _note(self, field: ThreeWayField) -> str:
        before, after = both_sides(field.field, field.original, field.theirs, self.words)
        label = self.labels[field.field]
        return f"{label} was changed by somebody else and stays: {before} → {after}"
