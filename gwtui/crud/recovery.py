"""Looking into a write in doubt: what there is now, beside what was there and what was wanted.

Nothing is sent but reads. How a resource is read again and compared comes from its declaration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.request import MASK
from gwtui.contract.response import ResponseModel
from gwtui.crud.evidence import (
    REACHES,
    Candidate,
    Compared,
    Evidence,
    TimeWindow,
    before_of,
    near,
    verdict,
)
from gwtui.crud.fields import PlanContext
from gwtui.crud.text import Formatter, count
from gwtui.crud.writes import Writes
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.safe_text import safe_line
from gwtui.local.journal import JournalEntry, OpenIntent

_CREATE, _DELETE = ".create", ".delete"
_THERE, _GONE = "there", "gone"
_MOST_UNDATED = 20
"""Things that are listed although the gateway does not say when they were made."""


@dataclass(frozen=True, slots=True)
class InspectionContext:
    """One look into one write in doubt.

    ``reach`` is how far before and after it is looked for what it may have made; ``makers`` names
    the other writes of this machine by what they are known to have made.
    """

    client: GatewayClient
    intent: OpenIntent
    now: datetime
    reach: timedelta = REACHES[0]
    makers: Mapping[str, str] = field(default_factory=dict)

    @property
    def window(self) -> TimeWindow:
        """Around the moment of the write, by the gateway's clock."""
        return TimeWindow.around(self.intent.at, self.client.skew, self.reach)

    def since(self, row: Any | None) -> str:
        """When a row came to be, beside the moment of the write; empty where that is not told."""
        made = None if row is None else row.created_at
        return "" if made is None else f", {self.window.beside(made)}"


@dataclass(frozen=True, slots=True)
class ComparedResource:
    """How one kind of resource is read again and compared.

    ``values`` gives the comparable fields of a reading, without those the gateway left out.
    ``every`` lists them, the ``scoped`` ones in the workspace that a creation named (None for the
    default one). What was wanted is read with ``model``, too: a request names its fields as an
    answer does. ``route`` is where they are listed.
    """

    noun: str
    route: str
    model: type[ResponseModel]
    labels: Mapping[str, str]
    words: Formatter
    identity: Callable[[Any], str | None]
    name: Callable[[Any], str]
    get: Callable[[GatewayClient, str], Awaitable[ResponseModel]]
    values: Callable[[Any], Mapping[str, Any]]
    every: Callable[[GatewayClient, str | None], Awaitable[Listing[Any]]] | None = None
    scoped: bool = True
    implied: tuple[str, ...] = ()
    """Fields that are null where a creation leaves them out."""

    @classmethod
    def of(cls, writes: Writes[Any], context: PlanContext) -> ComparedResource:
        """A resource as its declaration says."""
        create = writes.create
        scoped = create is not None and "workspace_id" in create.request.model_fields

        def every(client: GatewayClient, space: str | None) -> Awaitable[Listing[Any]]:
            narrowed = {"workspace_id": space} if scoped else {}
            listed: Awaitable[Listing[Any]] = writes.service(client).list(**narrowed)
            return listed

        return cls(
            noun=writes.noun,
            route=writes.resource,
            model=writes.model,
            labels=writes.fields.labels,
            words=writes.fields.formatter(context),
            identity=writes.identity,
            name=writes.name,
            get=lambda client, identity: writes.service(client).get(identity),
            values=writes.sent_by_gateway,
            every=None if create is None else every,
            scoped=scoped,
            implied=writes.implied,
        )

    def wanted(self, summary: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields that a creation asked for, those that it left out for null as well."""
        return {**dict.fromkeys(self.implied), **summary}

    def made_at(self, item: Any) -> datetime | None:
        """When it was made, by the gateway's clock."""
        made: datetime | None = item.created_at
        return made

    def compare(
        self, present: ResponseModel, wanted: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> tuple[Compared, ...]:
        """Every field that was wanted; ``before`` None where there was nothing before."""
        now, goal = self.values(present), self._read(wanted)
        then = None if before is None else self._read(before)
        found = []
        for name in (
            *(one for one in self.labels if one in wanted),
            *(one for one in wanted if one not in self.labels),
        ):
            was = ABSENT if then is None else then.get(name, ABSENT)
            found.append(
                Compared(
                    self.labels.get(name, safe_line(name, 30)),
                    None if then is None else self._in_words(name, was),
                    self._wish(name, wanted[name], goal),
                    self._in_words(name, now.get(name, ABSENT)),
                    verdict(was, goal.get(name, ABSENT), now.get(name, ABSENT)),
                )
            )
        return tuple(found)

    def _read(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.values(self.model.model_validate(dict(raw)))

    def _in_words(self, name: str, value: Any) -> str:
        return UNKNOWN if value is ABSENT else self.words(name, value)

    def _wish(self, name: str, raw: Any, goal: Mapping[str, Any]) -> str:
        if raw == MASK:
            return "as typed, not kept"
        return self.words(name, goal[name]) if name in goal else safe_line(raw, 60)


# Looking ----------------------------------------------------------------------------------------


async def look_at(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """What can be found on a creation, a deletion or any other change. Raises GatewayError."""
    action = look.intent.action
    if action.endswith(_CREATE):
        return await look_for_creation(look, kind)
    if action.endswith(_DELETE):
        return await look_at_deletion(look, kind)
    return await look_at_update(look, kind)


async def look_for_creation(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """What was made near the time of the write. Raises GatewayError."""
    intent = look.intent
    space = intent.summary.get("workspace_id")
    if kind.every is None:
        return Evidence(intent, (f"There is nothing that makes {kind.noun}.",))
    try:
        listed = await kind.every(look.client, space if isinstance(space, str) and space else None)
    except NotFoundError:
        gone = "The workspace in which it was to be made no longer exists."
        return Evidence(intent, (gone,), reach=look.reach)
    window = look.window
    found = near(window, listed.items, kind.made_at)
    candidates = tuple(_candidate(look, kind, window, item) for item in found.inside)
    undated = [
        _candidate(look, kind, window, item) for item in listed.items if kind.made_at(item) is None
    ][:_MOST_UNDATED]
    where = "in that workspace" if kind.scoped else "in the account"
    read = f"{count(len(listed.items), kind.noun)} {where} read"
    said = [
        f"{_number(len(candidates), kind.noun)} made {window.told}, by the gateway's clock; {read}."
    ]
    if found.nearest_outside is not None and not candidates:
        said.append(f"The nearest other one was made {window.beside(found.nearest_outside)}.")
    if found.undated:
        said.append(
            f"Of {count(found.undated, kind.noun)} the gateway does not say when they were made."
        )
    if not listed.complete or listed.unreadable:
        said.append("The list is not whole: there may be others.")
    if any(one.made_by for one in candidates):
        said.append("What another write of this machine is known to have made says so.")
    return Evidence(
        intent, tuple(said), (*candidates, *undated), route=kind.route, reach=look.reach
    )


def _number(number: int, noun: str) -> str:
    if not number:
        return f"No {noun} was"
    return f"1 {noun} was" if number == 1 else f"{number} {noun}s were"


def _candidate(
    look: InspectionContext, kind: ComparedResource, window: TimeWindow, item: Any
) -> Candidate:
    identity = kind.identity(item) or ""
    made = kind.made_at(item)
    return Candidate(
        identity,
        kind.name(item),
        made,
        None if made is None else window.apart(made),
        kind.compare(item, kind.wanted(look.intent.summary), None),
        f"{kind.route}/{identity}",
        look.makers.get(identity, ""),
        item,
    )


async def look_at_update(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """Each field of the thing as it is now. Raises GatewayError."""
    intent = look.intent
    identity = intent.identity or ""
    route = f"{kind.route}/{identity}"
    try:
        present = await kind.get(look.client, identity)
    except NotFoundError:
        why = f"This {kind.noun} is not there now: it was deleted since, or it never was."
        return Evidence(intent, (why,), route=kind.route)
    compared = kind.compare(present, intent.summary, before_of(intent))
    return Evidence(intent, _changed(look, present), compared=compared, route=route)


def _changed(look: InspectionContext, present: Any) -> tuple[str, ...]:
    """When it was changed last, where the gateway tells."""
    made = getattr(present, "updated_at", None)
    if made is None:
        return ()
    return (f"It was changed last {look.window.beside(made)}, by the gateway's clock.",)


async def look_at_deletion(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """Whether the thing is there. Raises GatewayError."""
    intent = look.intent
    identity = intent.identity or ""
    try:
        present = await kind.get(look.client, identity)
    except NotFoundError:
        return Evidence(intent, (), compared=(_existence(kind, _GONE),), route=kind.route)
    return Evidence(
        intent,
        _changed(look, present),
        compared=(_existence(kind, _THERE),),
        route=f"{kind.route}/{identity}",
    )


def _existence(kind: ComparedResource, present: str) -> Compared:
    label = f"The {kind.noun}"
    return Compared(label, _THERE, _GONE, present, verdict(_THERE, _GONE, present))


def makers(entries: Iterable[JournalEntry]) -> Mapping[str, str]:
    """What the writes of a journal are known to have made: identity -> the title of the write."""
    titles: dict[str, str] = {}
    made: dict[str, str] = {}
    for entry in entries:
        if entry.event == "intent" and str(entry.details.get("action", "")).endswith(_CREATE):
            titles[entry.id] = str(entry.details.get("title", ""))
        elif entry.event in {"applied", "resolved"} and entry.id in titles:
            identity = entry.details.get("identity")
            if isinstance(identity, str):
                made[identity] = titles[entry.id]
    return made
