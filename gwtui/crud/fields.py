"""The fields of a resource, each declared once: label, group, how a value reads, what edits it.

Plans, forms, three-way comparison, undo, recovery and the command line all read this declaration.
Limits, value sets, descriptions and the type that an editor follows from are not here: the request
models of the contract have them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Change
from gwtui.crud.plan_text import (
    DEFAULT_WORKSPACE,
    MOST_NAMED,
    NAME_LIMIT,
    Names,
    both_sides,
    several,
    workspace_in_words,
)
from gwtui.crud.resource import Cell, DetailRow, Tone
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import usd
from gwtui.domain.safe_text import in_sentence, safe_line

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.hub import FeedHub

_TEXT_LIMIT = 200
"""Characters of a text value in a plan."""
_VERY_HIGH = Decimal(10_000)
"""USD from which on a limit is warned of."""
ON_OFF = ("off", "on")

Kind = Literal[
    "auto",
    "text",
    "pattern",
    "lines",
    "usd",
    "percent",
    "integers",
    "number",
    "duration",
    "choice",
    "switch",
    "three_way",
    "datetime",
    "workspace",
    "secret",
    "model",
    "pick",
    "builtins",
    "filters",
]
"""What edits a field. A "model" is one identifier, completed from ``choices`` while typed. A "pick"
is any number of them, or None, which is not the empty list: what the value holds and the choices
lack is kept and called unknown. A "secret" is masked while typed, never shown, copied or
remembered; in an update nothing typed leaves it as it is. "auto" follows from the type in the
request model."""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The context of a plan: time, names and dialect.

    ``now`` is aware UTC. ``names`` gives the name of whatever has an identifier (workspace, key,
    member), fit to be shown. ``dialect`` is the one that the gateway speaks.
    """

    now: datetime
    names: Names = field(default_factory=dict)
    dialect: Dialect = GENERIC


_ANY_CONTEXT = PlanContext(datetime(1970, 1, 1, tzinfo=UTC))
"""For fields that read the same whenever it is."""


@dataclass(frozen=True, slots=True)
class FormContext:
    """What the forms of a resource are built from. ``now`` is aware UTC.

    ``workspace`` is the one that lists are narrowed to, None for all of them.
    """

    hub: FeedHub
    client: GatewayClient
    dialect: Dialect
    now: datetime
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts for previews and pickers. ``zone`` None is the local time zone."""

    now: Callable[[], datetime]
    zone: tzinfo | None = None
    workspaces: Mapping[str, str] = field(default_factory=dict)
    """Workspace id -> name, fit to be shown."""
    where: str = ""
    """Whose gateway the request goes to, fit to be shown; empty where that goes without saying."""


@dataclass(frozen=True, slots=True)
class PickOption:
    """One option of a picker. Text from data must have passed ``safe_line``; ``value`` is raw."""

    value: str
    title: str = ""
    """The display name; by default the value itself."""
    note: str = ""
    also: str = ""
    """Further names for searches."""


Choices = Callable[[], Awaitable[Sequence[PickOption]]]
"""Gives what can be picked. May raise GatewayError: the field then works without the list."""
Preview = Callable[[Any, Mapping[str, Any], Facts], Cell | None]
"""Explains a value, given all readable values of the form and the facts."""
Format = Callable[[Any, PlanContext], str]
"""A value that is not empty, as people read it."""


async def no_choices() -> Sequence[PickOption]:
    """Return no options."""
    return ()


def name_of(value: Any, context: PlanContext) -> str:
    """The name behind an identifier, else the identifier."""
    return safe_line(context.names.get(value) or value, NAME_LIMIT)


def entries(value: Any, context: PlanContext) -> str:
    """Names behind a list of identifiers; "none (empty list)" for an empty one."""
    named = [name_of(entry, context) for entry in value]
    return several(named, MOST_NAMED) if named else "none (empty list)"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a resource, or of a form alone.

    ``name`` is the field of the request and of the answer, or "object.field". ``format`` words a
    value in a plan, where its type does not say how it reads; ``words`` are those of False and
    True. ``empty`` says what it means that there is no value; besides None the values in ``blank``
    count as none. ``editable`` fields are changed by the edit form and by ``update``; the others
    have a verb of their own, or are ``fixed_because``: then the edit form shows them as they are.
    """

    name: str
    label: str
    format: Format | None = None
    empty: str = "none"
    words: tuple[str, str] = ("no", "yes")
    blank: tuple[Any, ...] = ()
    editable: bool = True
    format_empty: Callable[[PlanContext], str] | None = None
    """The text of a missing value in a plan, if it can be more precise than ``empty``."""
    is_limit: bool = False
    """Whether it is an amount in USD that may be spent at most."""
    mask: str = ""
    """The field of the answer that stands for a secret."""
    effect: str = ""
    """The effect of setting the field, as a sentence; {name} inserts another field."""
    short: str = ""
    """Its label in the detail pane, where that is another one."""
    note: str = ""
    """Explains it in the detail pane."""

    # In forms -----------------------------------------------------------------------------------

    group: str = ""
    """The titled part of a long form. Titles are one or two words: all stand on one line."""
    folded: bool = False
    """Whether the form shows only a summary of its group at first."""
    kind: Kind = "auto"
    help: str = ""
    """Replaces the model's description."""
    placeholder: str = ""
    preview: Preview | None = None
    fixed_because: str = ""
    """Why it cannot be changed once it is made."""
    fixed: tuple[str, str] | None = None
    """The text shown in place of an editor, and why it cannot be edited."""
    suggest: Callable[[Mapping[str, Any]], str] | None = None
    """Fills a text of a new resource from the other values until the person touches it."""
    options: Sequence[tuple[str, str]] = ()
    """One of a few that the model does not name: (value, label), fit to be shown."""
    offers: Callable[[FormContext], Choices] | None = None
    """Makes ``choices`` for a form."""
    choices: Choices = no_choices
    chosen: str = "only these"
    """Words a list that is not None: "only these"."""
    noun: str = "entries"
    """The noun for entries of a list."""
    free: bool = False
    """Whether a person may add what the choices lack."""
    dialect: Dialect = GENERIC
    """By whose rules content filters are edited."""

    @property
    def row_id(self) -> str:
        """The id of its row on the screen."""
        return row_id(self.name)

    def text(self, value: Any, context: PlanContext) -> str:
        """Format a value for a plan, by the field's format or by its type."""
        if value is None or value in self.blank:
            return self.empty if self.format_empty is None else self.format_empty(context)
        if self.format is not None:
            return self.format(value, context)
        match value:
            case bool():
                return self.words[value]
            case list():
                return several([safe_line(entry, NAME_LIMIT) for entry in value], MOST_NAMED)
        return safe_line(value, _TEXT_LIMIT)


def row_id(name: str) -> str:
    """The id of a field's row on the screen."""
    return f"field-{name.replace('.', '-')}"


def workspace_field(*, editable: bool, **more: Any) -> Field:
    """Return the field of the workspace that a resource belongs to."""
    return Field(
        "workspace_id",
        "Workspace",
        name_of,
        DEFAULT_WORKSPACE,
        blank=("",),
        editable=editable,
        format_empty=lambda context: workspace_in_words(None, context.names),
        **more,
    )


def limit_field(name: str, label: str, empty: str = "none", **more: Any) -> Field:
    """Return the field of a spending limit in USD."""

    def in_usd(value: Any, _context: PlanContext) -> str:
        return usd(value)

    return Field(name, label, in_usd, empty, is_limit=True, kind="usd", **more)


def limit_warnings(label: str, before: Any, after: Decimal | None) -> Iterator[str]:
    """Warnings about a new limit in USD.

    ``before`` is None where there was no limit, ABSENT where it is not known.
    """
    known = None if before is ABSENT else before
    if after is None:
        if known is not None:
            yield f"{label} removed (was {usd(known)})."
    elif known is not None and known < after and known <= after / 10:
        yield f"{label} grows tenfold or more, from {usd(known)} to {usd(after)}."
    elif after >= _VERY_HIGH and (known is None or known < _VERY_HIGH):
        yield f"{label} is very high: {usd(after)}."


class Fields:
    """The fields of one resource, in the order in which plans show them."""

    def __init__(self, *fields: Field) -> None:
        self._fields = {one.name: one for one in fields}
        self.labels: Mapping[str, str] = {
            one.name: one.label for one in fields if "." not in one.name
        }
        """Name on the wire -> what people call it."""
        self.editable: tuple[str, ...] = tuple(one.name for one in fields if one.editable)
        """The fields that the edit form changes."""
        self.masks: Mapping[str, str] = {one.name: one.mask for one in fields if one.mask}
        """Field of a request -> field of the answer that stands for it: a secret and its mask."""

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields.values())

    def format(self, name: str, value: Any, context: PlanContext) -> str:
        """Format the value of a field, declared or not."""
        return self._fields.get(name, Field(name, name)).text(value, context)

    def formatter(self, context: PlanContext) -> Callable[[str, Any], str]:
        """``format`` for one context: from field name and value to text."""
        return lambda name, value: self.format(name, value, context)

    def is_known(self, name: str, model: ResponseModel) -> bool:
        """Whether an answer tells the value, which may be null."""
        return getattr(model, name) is not None or model.sent_null(name)

    def cell(self, name: str, model: ResponseModel, context: PlanContext = _ANY_CONTEXT) -> Cell:
        """The cell of a field; null reads as the field's empty text."""
        if not self.is_known(name, model):
            return Cell(UNKNOWN, "muted")
        value = getattr(model, name)
        tone: Tone = "bad" if value == [] else "plain" if value else "muted"
        return Cell(self.format(name, value, context), tone)

    def rows(
        self, model: ResponseModel, names: Iterable[str], context: PlanContext = _ANY_CONTEXT
    ) -> list[DetailRow]:
        """Detail rows of these fields."""
        return [
            DetailRow(
                one.short or in_sentence(one.label), self.cell(one.name, model, context), one.note
            )
            for one in (self._fields[name] for name in names)
        ]

    def known(self, model: ResponseModel) -> dict[str, Any]:
        """Editable fields as the gateway sent them, without missing and malformed ones."""
        return self.read(model, self.editable)

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        """These fields in request form, without malformed ones."""
        garbled = {gap.partition("[")[0].partition(".")[0] for gap in model.gaps}
        return {name: getattr(model, name) for name in names if name not in garbled}

    def changes(
        self, known: Mapping[str, Any], request: RequestModel, context: PlanContext
    ) -> tuple[Change, ...]:
        """Changes of an update, field by field; fields missing from ``known`` read as unknown."""
        words = self.formatter(context)
        return tuple(
            Change(label, *both_sides(name, known.get(name, ABSENT), getattr(request, name), words))
            for name, label in self._labelled(request.model_fields_set)
        )

    def _labelled(self, names: Set[str]) -> Iterator[tuple[str, str]]:
        """Fields with their labels, in the order of the declaration.

        One without a label goes by its own name: everything that is sent is shown.
        """
        yield from ((name, label) for name, label in self.labels.items() if name in names)
        yield from ((name, name) for name in sorted(names - self.labels.keys()))

    def limit_warnings(self, known: Mapping[str, Any], request: RequestModel) -> Iterator[str]:
        """Warnings about the limits that a request sets."""
        for one in self._fields.values():
            if one.is_limit and one.name in request.model_fields_set:
                before = known.get(one.name, ABSENT)
                yield from limit_warnings(one.label, before, getattr(request, one.name))

    def effects(
        self, request: RequestModel, one: RequestModel | ResponseModel, context: PlanContext
    ) -> Iterator[str]:
        """Effect sentences of the fields that a request sets, filled in from ``one``."""
        given = request.model_fields_set
        for rule in self:
            if rule.effect and rule.name in given and getattr(request, rule.name):
                named = {
                    each.name: each.text(getattr(one, each.name), context)
                    for each in self
                    if f"{{{each.name}}}" in rule.effect
                }
                yield rule.effect.format_map(named)

    def first_values(
        self, request: RequestModel, context: PlanContext, always: Iterable[str] = ()
    ) -> tuple[Change, ...]:
        """The changes of a creation: the given fields, and those that are always shown."""
        return tuple(
            Change(label, None, self.format(name, getattr(request, name), context))
            for name, label in self._labelled({*always, *request.model_fields_set})
        )
