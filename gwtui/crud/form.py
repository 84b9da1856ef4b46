"""The declaration of a form, and parsing of typed values.

Limits, choices and units come from the request model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import SecretStr

from gwtui.contract.content_filters import (
    PROMPT_INJECTION,
    BuiltinFilterRequest,
    CustomFilterRequest,
)
from gwtui.contract.request import FieldRules, Problem, RequestModel, all_rules
from gwtui.crud.fields import Field, FormContext, Kind, no_choices

if TYPE_CHECKING:
    from gwtui.crud.plan import Plan


import re

from gwtui.domain.money import parse_quantity, parse_share
from gwtui.domain.times import parse_duration_or_zero, parse_moment

_ENTRIES: Mapping[Any, Kind] = {
    int: "integers",
    BuiltinFilterRequest: "builtins",
    CustomFilterRequest: "filters",
}
"""List editor by entry type; other types use a picker."""
_KINDS: Mapping[Any, Kind] = {
    bool: "switch",
    Decimal: "number",
    SecretStr: "secret",
    datetime: "datetime",
    timedelta: "duration",
    int: "number",
    float: "number",
}


def kind_of(field: Field, rules: FieldRules) -> Kind:
    """Return the editor of a field: declared, or derived from its type in the request."""
    if field.kind != "auto":
        return field.kind
    if get_origin(rules.type) is list:
        return _ENTRIES.get(get_args(rules.type)[0], "pick")
    if rules.choices or field.options:
        return "choice"
    kind = "usd" if rules.unit == "USD" else _KINDS.get(rules.type, "text")
    if kind == "switch":
        return "three_way" if rules.nullable else kind
    if kind == "text" and rules.name == "workspace_id":
        return "workspace"
    return "model" if kind == "text" and field.choices is not no_choices else kind


@dataclass(frozen=True, slots=True)
class BuiltinRow:
    """An enabled builtin filter."""

    slug: str
    action: str
    scan_scope: str = ""
    """Empty if not set: the gateway then filters all messages."""

    def value(self) -> dict[str, str]:
        """Return the entry for the request."""
        entry = {"slug": self.slug, "action": self.action}
        if self.scan_scope and self.slug == PROMPT_INJECTION:
            entry["scan_scope"] = self.scan_scope
        return entry


@dataclass(frozen=True, slots=True)
class CustomRow:
    """A custom filter."""

    pattern: str
    action: str
    label: str = ""

    def value(self) -> dict[str, str]:
        """Return the entry for the request."""
        entry = {"pattern": self.pattern, "action": self.action}
        if self.label:
            entry["label"] = self.label
        return entry


def builtin_rows(entries: Iterable[Any]) -> tuple[BuiltinRow, ...]:
    """Convert the entries of a request or response to rows.

    Entries are mappings or models; filters that gwtui does not know are kept.
    """
    return tuple(
        BuiltinRow(_part(entry, "slug"), _part(entry, "action"), _part(entry, "scan_scope"))
        for entry in entries
    )


def custom_rows(entries: Iterable[Any]) -> tuple[CustomRow, ...]:
    """Convert the entries of a request or response, mappings or models, to rows."""
    return tuple(
        CustomRow(_part(entry, "pattern"), _part(entry, "action"), _part(entry, "label"))
        for entry in entries
    )


def _part(entry: Any, name: str) -> str:
    value = entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class FormSpec:
    """A form: its fields, the request model it fills in, and the initial values.

    Neighbouring ``fields`` of one group share a title. ``partial``: an update, which sends
    only values that differ from ``initial``; any other request also sends the ``initial`` values of
    fields that cannot be edited. A field missing from ``initial`` shows ``missing`` and stays
    unchanged unless something is typed. ``first`` is the field that gets the focus. ``check``
    reports problems that the model does not detect, such as rules of a dialect. ``plan`` plans the
    partly filled request for the line above the buttons; None if the form always displays its plan,
    or sends nothing. ``sends`` names the submit action in the footer, in one word. ``unknown_help``
    is the advice after a lost response.
    """

    title: str
    model: type[RequestModel]
    fields: Sequence[Field]
    submit: str
    initial: Mapping[str, Any] = field(default_factory=dict)
    partial: bool = False
    missing: str = "unknown"
    first: str = ""
    sends: str = "sends"
    unknown_help: str = "The change may have been applied: check before you try again."
    check: Callable[[Any], Sequence[Problem]] | None = None
    plan: Callable[[Any], Plan[Any]] | None = None

    def __post_init__(self) -> None:
        rules = all_rules(self.model)
        fields = (
            replace(field, kind=kind_of(field, rules[field.name])) if field.name in rules else field
            for field in self.fields
        )
        object.__setattr__(self, "fields", tuple(fields))


def request_fields(
    fields: Iterable[Field], model: type[RequestModel], context: FormContext
) -> tuple[Field, ...]:
    """Return the declared ``fields`` that a form for the request ``model`` shows.

    These are the fields that the model contains, and all fields with a ``fixed`` text, which the
    form shows read-only. If inner fields of an object ("object.field") are declared, they replace
    the field of the object. If a field has ``offers``, the returned field has the choices that
    ``offers`` returns for ``context``.
    """
    declared = [
        replace(field, choices=field.offers(context)) if field.offers else field for field in fields
    ]
    objects = {field.name.partition(".")[0] for field in declared if "." in field.name}
    return tuple(
        field
        for field in declared
        if field.fixed is not None
        or (field.name.partition(".")[0] in model.model_fields and field.name not in objects)
    )


# Parsing of typed values --------------------------------------------------------------------------

_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
NO_INTEGERS = "[]"
"""The text that stands for an empty list."""


def parse_integers(text: str) -> list[int]:
    """Parse whole numbers separated by commas, semicolons or blanks, without duplicates.

    Raises ValueError with a message for the user.
    """
    if text.strip() == NO_INTEGERS:
        return []
    words = re.split(r"[\s,;]+", text.strip().strip("[],; "))
    for word in words:
        if not _INTEGER.fullmatch(word):
            raise ValueError(f"expected whole numbers such as 12, 40: not “{word[:20]}”")
    return list(dict.fromkeys(int(word) for word in words))


_PARSERS: Mapping[Kind, Callable[[str, FieldRules, datetime], Any]] = {
    "usd": lambda text, _rules, _now: parse_quantity(text, "USD"),
    "percent": lambda text, _rules, _now: parse_share(text),
    "integers": lambda text, _rules, _now: parse_integers(text),
    "number": lambda text, rules, _now: parse_quantity(text, rules.unit),
    "duration": lambda text, _rules, _now: parse_duration_or_zero(text),
    "datetime": lambda text, _rules, now: parse_moment(text, now),
}
"""Editors whose value is not the typed text."""


def parse_value(kind: Kind, text: str, rules: FieldRules, now: datetime) -> Any:
    """Parse the text of a field. Raises ValueError with a message for the user."""
    return _PARSERS[kind](text, rules, now) if kind in _PARSERS else text
