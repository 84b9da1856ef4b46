"""The declaration of a resource's fields: label, group, text format and editor.

It is used by lists, plans, forms, undo, recovery and the command line. Limits, allowed
values, descriptions and types come from the request models of the contract.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeVar

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
from gwtui.crud.resource import Cell, Column, DetailRow, SortValue, Tone, ValueKind
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import usd
from gwtui.domain.safe_text import in_sentence, safe_line
from gwtui.domain.times import describe_reset, next_reset

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.hub import FeedHub

T = TypeVar("T")

_TEXT_LIMIT = 200
"""Maximum length of a text value in a plan."""
_VERY_HIGH = Decimal(10_000)
"""Warn about a limit of at least this amount (USD)."""
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
"""The editor of a field.

"model": one identifier, completed from ``choices``. "pick": any number of identifiers, or None,
which differs from an empty list; entries missing from the choices are kept and labelled unknown.
"secret": masked, never displayed, copied or remembered; empty in an update leaves the value
unchanged. "auto": derived from the type in the request model.
"""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """The context of a plan: time, names and dialect.

    ``now`` is aware UTC. ``names`` maps identifiers (of workspaces, keys, members) to names that
    are safe to display. ``dialect`` is the dialect of the gateway.
    """

    now: datetime
    names: Names = field(default_factory=dict)
    dialect: Dialect = GENERIC


_ANY_CONTEXT = PlanContext(datetime(1970, 1, 1, tzinfo=UTC))
"""The context for fields whose text does not depend on it."""


@dataclass(frozen=True, slots=True)
class FormContext:
    """The context for building the forms of a resource. ``now`` is aware UTC.

    ``workspace`` is the one that lists are limited to; None for all workspaces.
    """

    hub: FeedHub
    client: GatewayClient
    dialect: Dialect
    now: datetime
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class PreviewContext:
    """The context of a form for its previews and pickers.

    ``now`` returns the current time. ``zone`` None is the local time zone.
    """

    now: Callable[[], datetime]
    zone: tzinfo | None = None
    workspaces: Mapping[str, str] = field(default_factory=dict)
    """Workspace id -> name, safe to display."""
    where: str = ""
    """The name of the gateway that gets the request, safe to display; "" if it is obvious."""


@dataclass(frozen=True, slots=True)
class PickOption:
    """An option of a picker. ``value`` is raw; the other texts must be safe to display."""

    value: str
    title: str = ""
    """The display name; defaults to the value."""
    note: str = ""
    also: str = ""
    """Further search terms."""


Choices = Callable[[], Awaitable[Sequence[PickOption]]]
"""Returns the options of a picker. If it raises GatewayError, the field works without options."""
Preview = Callable[[Any, Mapping[str, Any], PreviewContext], Cell | None]
"""Returns the text that explains the value of a field, None for no text.

It is called with the value, all valid values of the form by name, and the context.
"""
Format = Callable[[Any, PlanContext], str]
"""Formats a non-empty value for people."""


async def no_choices() -> Sequence[PickOption]:
    """Return no options, for a field without a list."""
    return ()


def name_of(value: Any, context: PlanContext) -> str:
    """Return the name that the context has for an identifier, else the identifier itself.

    Both are safe to display.
    """
    return safe_line(context.names.get(value) or value, NAME_LIMIT)


def entries(value: Any, context: PlanContext) -> str:
    """Join the names that the context has for a list of identifiers, in one text."""
    return several([name_of(entry, context) for entry in value], MOST_NAMED)


@dataclass(frozen=True, slots=True)
class ListColumn:
    """How a list displays a field: its width in cells and its help.

    ``id`` and ``title`` are those of the column, if they differ from name and label of the field.
    A column that can ``grow`` shares the width that remains.
    """

    width: int
    help: str
    id: str = ""
    title: str = ""
    kind: ValueKind = "text"
    grow: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a resource, or of a form only.

    ``name`` is the field in request and response, or "object.field". ``format`` formats a value for
    a plan, by default according to its type; ``words`` are the texts for False and True. ``empty``
    is the text for a missing value: None, or any value in ``blank``. ``editable`` fields are
    changed by the edit form and by ``update``. Other fields have a verb of their own, or are
    ``fixed_because``: the edit form displays them read-only.
    """

    name: str
    label: str
    format: Format | None = None
    empty: str = "none"
    words: tuple[str, str] = ("no", "yes")
    blank: tuple[Any, ...] = ()
    editable: bool = True
    format_empty: Callable[[PlanContext], str] | None = None
    """The text for a missing value in a plan, if it differs from ``empty``."""
    is_limit: bool = False
    """Whether it is a spending limit in USD."""
    mask: str = ""
    """The field of the response that holds the masked secret."""
    effect: str = ""
    """The effect of setting the field, as a sentence; {name} inserts another field."""
    short: str = ""
    """The label in the detail pane, if it differs from ``label``."""
    note: str | tuple[str, str] = ""
    """A note in the detail pane; a flag has one for False and one for True."""
    column: ListColumn | None = None
    """Its column in the list, if it has one of its own."""

    # In forms -----------------------------------------------------------------------------------

    group: str = ""
    """The group of a long form. Titles are one or two words, because all share one line."""
    kind: Kind = "auto"
    help: str = ""
    """Replaces the description of the request model."""
    placeholder: str = ""
    preview: Preview | None = None
    fixed_because: str = ""
    """Why the field cannot be changed after creation."""
    fixed: tuple[str, str] | None = None
    """The text displayed in place of an editor, and why the field cannot be edited."""
    suggest: Callable[[Mapping[str, Any]], str] | None = None
    """Computes the text from the other values of a creation form until the user edits it."""
    options: Sequence[tuple[str, str]] = ()
    """The allowed values if the model does not list them: (value, label), safe to display."""
    offers: Callable[[FormContext], Choices] | None = None
    """Builds ``choices`` for a form."""
    choices: Choices = no_choices
    chosen: str = "only these"
    """Text in front of a list that is not None: "only these"."""
    noun: str = "entries"
    """The noun for an entry of a list."""
    free: bool = False
    """Whether the user may enter values that are not among the choices."""
    dialect: Dialect = GENERIC
    """The dialect whose rules apply to content filters."""

    @property
    def row_id(self) -> str:
        """The widget id of the field's row."""
        return f"field-{self.name.replace('.', '-')}"

    def note_for(self, value: Any) -> str:
        """Return the note for a value in the detail pane."""
        if isinstance(self.note, str):
            return self.note
        return "" if value is None else self.note[value]

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


def workspace_field(*, editable: bool, **more: Any) -> Field:
    """Return the field ``workspace_id``: the workspace that a resource belongs to.

    It shows the name of the workspace. ``more`` are further arguments of ``Field``.
    """
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
    """Return a field for a spending limit in USD."""

    def in_usd(value: Any, _context: PlanContext) -> str:
        return usd(value)

    return Field(name, label, in_usd, empty, is_limit=True, kind="usd", **more)


def reset_field(name: str, label: str, limit: str, noun: str, **more: Any) -> Field:
    """Return a field for the interval after which the usage of a limit resets.

    ``limit`` is the name of the field with the limit; ``noun`` is what texts call it, such as
    "cap".
    """

    def in_words(value: Any, context: PlanContext) -> str:
        word = safe_line(value, 40)
        if next_reset(value, context.now) is None:
            return word
        return f"{word} (next on {describe_reset(value, context.now)})"

    def preview(value: str | None, values: Mapping[str, Any], context: PreviewContext) -> Cell:
        if values.get(limit) is None:
            return Cell(f"only applies with a spending {noun}", "muted")
        if value is None:
            return Cell(f"the {noun} never resets")
        return Cell(f"next reset {describe_reset(value, context.now())}")

    return Field(name, label, in_words, "never", preview=preview, **more)


def limit_warnings(label: str, before: Any, after: Decimal | None) -> Iterator[str]:
    """Yield warnings about a new limit in USD.

    ``before`` is None if there was no limit, ABSENT if it is unknown.
    """
    known = None if before is ABSENT else before
    if after is None:
        if known is not None:
            yield f"This removes the {in_sentence(label)} of {usd(known)}."
    elif known is not None and known < after and known <= after / 10:
        yield f"{label} grows tenfold or more, from {usd(known)} to {usd(after)}."
    elif after >= _VERY_HIGH and (known is None or known < _VERY_HIGH):
        yield f"{label} is very high: {usd(after)}."


class Fields:
    """The fields of one resource, in the order in which plans show them."""

    def __init__(self, *fields: Field) -> None:
        self._fields = {field.name: field for field in fields}
        self.labels: Mapping[str, str] = {
            field.name: field.label for field in fields if "." not in field.name
        }
        """Request field -> label."""
        self.editable: tuple[str, ...] = tuple(field.name for field in fields if field.editable)
        """Names of the fields that the edit form changes."""
        self.masks: Mapping[str, str] = {field.name: field.mask for field in fields if field.mask}
        """Secret request field -> the response field with its mask."""

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields.values())

    def format(self, name: str, value: Any, context: PlanContext) -> str:
        """Format the value of a field, declared or not."""
        return self._fields.get(name, Field(name, name)).text(value, context)

    def formatter(self, context: PlanContext) -> Callable[[str, Any], str]:
        """Return ``format`` bound to a context: a function of field name and value."""
        return lambda name, value: self.format(name, value, context)

    def is_known(self, name: str, model: ResponseModel) -> bool:
        """Return whether a response has the value, which may be null."""
        return getattr(model, name) is not None or model.sent_null(name)

    def cell(self, name: str, model: ResponseModel, context: PlanContext = _ANY_CONTEXT) -> Cell:
        """Return the cell of a field; null is displayed as the field's empty text."""
        if not self.is_known(name, model):
            return Cell(UNKNOWN, "muted")
        value = getattr(model, name)
        tone: Tone = "bad" if value == [] else "plain" if value else "muted"
        return Cell(self.format(name, value, context), tone)

    def columns(self, of: Callable[[T], ResponseModel]) -> dict[str, Column[T]]:
        """Return the columns by id; ``of`` returns the response that a row holds."""
        columns = (
            self._column(field, field.column, of) for field in self if field.column is not None
        )
        return {column.id: column for column in columns}

    def _column(
        self, field: Field, column: ListColumn, of: Callable[[T], ResponseModel]
    ) -> Column[T]:
        def value(row: T) -> Any:
            return getattr(of(row), field.name)

        def order(row: T, _now: datetime) -> SortValue:
            given = value(row)
            return given.casefold() if isinstance(given, str) else given

        return Column(
            column.id or field.name,
            column.title or field.label,
            lambda row, _now: self.cell(field.name, of(row)),
            order,
            column.width,
            grow=column.grow,
            help=column.help,
            export=lambda row, _now: value(row),
            kind=column.kind,
        )

    def rows(
        self, model: ResponseModel, names: Iterable[str], context: PlanContext = _ANY_CONTEXT
    ) -> list[DetailRow]:
        """Return a detail row for each of the fields ``names``, with the value in ``model``."""
        return [
            DetailRow(
                field.short or in_sentence(field.label),
                self.cell(field.name, model, context),
                field.note_for(getattr(model, field.name)),
            )
            for field in (self._fields[name] for name in names)
        ]

    def known(self, model: ResponseModel) -> dict[str, Any]:
        """Return the values of the editable fields, without missing or malformed ones."""
        return self.read(model, self.editable)

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of the fields ``names``, without missing or malformed ones."""
        garbled = {gap.partition("[")[0].partition(".")[0] for gap in model.gaps}
        return {name: getattr(model, name) for name in names if name not in garbled}

    def changes(
        self, known: Mapping[str, Any], request: RequestModel, context: PlanContext
    ) -> tuple[Change, ...]:
        """Return the fields that an update changes; fields missing from ``known`` are unknown."""
        words = self.formatter(context)
        values = (
            (name, label, known.get(name, ABSENT), getattr(request, name))
            for name, label in self._labelled(request.model_fields_set)
        )
        return tuple(
            Change(label, *both_sides(name, before, after, words))
            for name, label, before, after in values
            if before is ABSENT or before != after
        )

    def _labelled(self, names: Set[str]) -> Iterator[tuple[str, str]]:
        yield from ((name, label) for name, label in self.labels.items() if name in names)
        yield from ((name, name) for name in sorted(names - self.labels.keys()))

    def limit_warnings(self, known: Mapping[str, Any], request: RequestModel) -> Iterator[str]:
        """Yield warnings about the limits that a request sets."""
        for declared in self._fields.values():
            if declared.is_limit and declared.name in request.model_fields_set:
                before = known.get(declared.name, ABSENT)
                yield from limit_warnings(declared.label, before, getattr(request, declared.name))

    def effects(
        self, request: RequestModel, resource: RequestModel | ResponseModel, context: PlanContext
    ) -> Iterator[str]:
        """Yield the declared effect of each field that the request sets, unless its value is empty.

        The placeholders in an effect are replaced with the values of ``resource``.
        """
        given = request.model_fields_set
        for rule in self:
            if rule.effect and rule.name in given and getattr(request, rule.name):
                named = {
                    field.name: field.text(getattr(resource, field.name), context)
                    for field in self
                    if f"{{{field.name}}}" in rule.effect
                }
                yield rule.effect.format_map(named)

    def creation_changes(
        self, request: RequestModel, context: PlanContext, always: Iterable[str] = ()
    ) -> tuple[Change, ...]:
        """Return the changes of a creation: the fields that were set, and those in ``always``."""
        return tuple(
            Change(label, None, self.format(name, getattr(request, name), context))
            for name, label in self._labelled({*always, *request.model_fields_set})
        )
