"""The fields of a resource, each declared once: label, how a value reads, what empty means.

Plans, forms, three-way comparison, undo, recovery and the command line all read this declaration.
Limits and value sets are not here: the request models of the contract have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Change
from gwtui.crud.plan_text import (
    DEFAULT_WORKSPACE,
    MOST_NAMED,
    NAME_LIMIT,
    Names,
    changes,
    first_values,
    known_fields,
    several,
    workspace_in_words,
)
from gwtui.domain.diffs import ABSENT
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line

_TEXT_LIMIT = 200
"""Characters of a text value in a plan."""
_VERY_HIGH = Decimal(10_000)
"""USD from which on a limit is warned of."""


@dataclass(frozen=True, slots=True)
class PlanContext:
    """What a write is planned in view of.

    ``now`` is aware UTC. ``names`` gives the name of whatever has an identifier (workspace, key,
    member), fit to be shown. ``dialect`` is the one that the gateway speaks.
    """

    now: datetime
    names: Names = field(default_factory=dict)
    dialect: Dialect = GENERIC


Format = Callable[[Any, PlanContext], str]
"""A value that is not empty, as people read it."""


def text(value: Any, _context: PlanContext) -> str:
    """A text as it is, made safe for a terminal."""
    return safe_line(value, _TEXT_LIMIT)


def yes_no(value: Any, _context: PlanContext) -> str:
    """A boolean as "yes" or "no"."""
    return "yes" if value else "no"


def on_off(value: Any, _context: PlanContext) -> str:
    """A boolean as "on" or "off"."""
    return "on" if value else "off"


def disabled_enabled(value: Any, _context: PlanContext) -> str:
    """The field ``disabled`` as the state it means."""
    return "disabled" if value else "enabled"


def name_of(value: Any, context: PlanContext) -> str:
    """An identifier by the name of what it stands for, where that is known."""
    return safe_line(context.names.get(value) or value, NAME_LIMIT)


def entries(value: Any, context: PlanContext) -> str:
    """A list of identifiers, by their names; an empty one is not the same as none."""
    named = [name_of(entry, context) for entry in value]
    return several(named, MOST_NAMED) if named else "none at all"


def texts(value: Any, _context: PlanContext) -> str:
    """A list of texts as they are."""
    return several([safe_line(entry, NAME_LIMIT) for entry in value], MOST_NAMED)


def plain(value: Any, context: PlanContext) -> str:
    """A value of which nothing is declared, by its type alone."""
    if isinstance(value, bool):
        return on_off(value, context)
    return texts(value, context) if isinstance(value, list) else text(value, context)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a resource.

    ``name`` is the field of the request and of the answer. ``empty`` says what it means that there
    is no value; besides None the values in ``blank`` count as none. ``editable`` fields are changed
    by the edit form and by ``update``; the others are fixed or have a verb of their own.
    """

    name: str
    label: str
    format: Format = text
    empty: str = "none"
    blank: tuple[Any, ...] = ()
    editable: bool = True
    format_empty: Callable[[PlanContext], str] | None = None
    """What it means in a plan, where more is known there than ``empty`` says."""
    is_limit: bool = False
    """Whether it is an amount in USD that may be spent at most."""


def workspace_field(*, editable: bool) -> Field:
    """The workspace that something belongs to; none is the default one, named where known."""
    return Field(
        "workspace_id",
        "Workspace",
        name_of,
        DEFAULT_WORKSPACE,
        blank=("",),
        editable=editable,
        format_empty=lambda context: workspace_in_words(None, context.names),
    )


def limit_field(name: str, label: str, empty: str = "none") -> Field:
    """An amount in USD that may be spent at most."""
    return Field(name, label, lambda value, _context: usd(value), empty, is_limit=True)


def limit_warnings(label: str, before: Any, after: Decimal | None) -> Iterator[str]:
    """What may be a mistake about a limit in USD, as sentences.

    ``before`` is None where there was no limit, ABSENT where it is not known.
    """
    known = None if before is ABSENT else before
    if after is None:
        if known is not None:
            yield f"{label} is taken away; it was {usd(known)}."
    elif known is not None and known < after and known <= after / 10:
        yield f"{label} grows tenfold or more, from {usd(known)} to {usd(after)}."
    elif after >= _VERY_HIGH and (known is None or known < _VERY_HIGH):
        yield f"{label} is very high: {usd(after)}."


class Fields:
    """The fields of one resource, in the order in which plans show them."""

    def __init__(self, *fields: Field) -> None:
        self._fields = {one.name: one for one in fields}
        self.labels: Mapping[str, str] = {one.name: one.label for one in fields}
        """Name on the wire -> what people call it."""
        self.editable: tuple[str, ...] = tuple(one.name for one in fields if one.editable)
        """The fields that the edit form changes."""

    def empty(self, name: str) -> str:
        """What it means that this field has no value."""
        return self._fields[name].empty

    def format(self, name: str, value: Any, context: PlanContext) -> str:
        """A field's value as people read it, declared or not."""
        known = self._fields.get(name, Field(name, name, plain))
        if value is None or value in known.blank:
            return known.empty if known.format_empty is None else known.format_empty(context)
        return known.format(value, context)

    def formatter(self, context: PlanContext) -> Callable[[str, Any], str]:
        """``format`` for one context: from field name and value to text."""
        return lambda name, value: self.format(name, value, context)

    def known(self, model: ResponseModel) -> dict[str, Any]:
        """The editable fields as the gateway gave them; what it left out or garbled is missing."""
        return self.read(model, self.editable)

    def read(self, model: ResponseModel, names: Iterable[str]) -> dict[str, Any]:
        """These fields in the form in which a request carries them; a garbled one is missing."""
        return known_fields(model, names)

    def changes(
        self, known: Mapping[str, Any], request: RequestModel, context: PlanContext
    ) -> tuple[Change, ...]:
        """What an update changes, field by field; a field missing from ``known`` is unknown."""
        return changes(known, request, self.labels, self.formatter(context))

    def limit_warnings(self, known: Mapping[str, Any], request: RequestModel) -> Iterator[str]:
        """What may be a mistake about the limits that a request sets, as sentences."""
        for one in self._fields.values():
            if one.is_limit and one.name in request.model_fields_set:
                before = known.get(one.name, ABSENT)
                yield from limit_warnings(one.label, before, getattr(request, one.name))

    def first_values(
        self, request: RequestModel, context: PlanContext, always: Iterable[str] = ()
    ) -> tuple[Change, ...]:
        """What a creation sets: the fields that were given, and those that always matter."""
        return first_values(request, self.labels, self.formatter(context), always)
