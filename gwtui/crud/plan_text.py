"""Sentences and texts of plans: names, counts, values before and after."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Plan
from gwtui.domain.diffs import ABSENT, ThreeWayField
from gwtui.domain.safe_text import safe_line
from gwtui.domain.serialize import exact_json

NAME_LIMIT = 60
"""Maximum length of a name in a sentence."""
SEVERAL = 5
"""Maximum number of names in a sentence; any others are only counted."""
MOST_NAMED = 30
"""Maximum number of list entries named in a change; any others are only counted."""
_BEFORE_IT = 20
"""Number of characters kept in front of the first difference."""
_MOST_KEPT = 100_000
"""Maximum size of a field in the ledger, in characters."""

Names = Mapping[str, str]
"""Identifier -> name, safe to display; "" maps to the name of the default workspace."""
DEFAULT_WORKSPACE = "the default workspace"
Formatter = Callable[[str, Any], str]
"""Formats a field's value for people, from the field name and the value."""


def conflict_lines(
    conflicts: Iterable[ThreeWayField], labels: Names, words: Formatter, unknown: str
) -> Iterator[str]:
    """Yield "LABEL is now VALUE" for each field that somebody else changed.

    ``words`` formats a value; ``unknown`` is the text for a missing value.
    """
    for field in conflicts:
        value = unknown if field.theirs is ABSENT else words(field.field, field.theirs)
        yield f"{labels.get(field.field, field.field)} is now {value}"


def displayed(plan: Plan[Any]) -> Plan[Any]:
    """Return a copy of the plan with the texts to display.

    If there are obstacles, the title says that the plan cannot be carried out, and there are no
    effects and warnings. Without obstacles, the first effect of a plan with danger "high" says that
    it cannot be undone.
    """
    if plan.obstacles:
        title = f"Cannot {plan.title[:1].lower()}{plan.title[1:]}"
        return replace(plan, title=title, effects=(), warnings=())
    if plan.danger == "high":
        return replace(plan, effects=("This cannot be undone.", *plan.effects))
    return plan


DISABLE_INSTEAD = "If you might need it again, disable it instead."


def quoted(name: str | None, *identifiers: str | None) -> str:
    """Return a name in quotes; if it is empty, the first non-empty one of ``identifiers``."""
    if name:
        return f"“{safe_line(name, NAME_LIMIT)}”"
    return safe_line(next(filter(None, identifiers), "without a name"), NAME_LIMIT)


def sentence(message: str) -> str:
    """Return a message with a final full stop unless it has one."""
    return message if message.endswith((".", "!", "?", "…")) else f"{message}."


def named(identity: str | None, names: Names) -> str:
    """Return the quoted name of an identity, or the identity if it has no name."""
    return quoted(names.get(identity or ""), identity)


def workspace_in_words(identity: str | None, names: Names) -> str:
    """Return the name of a workspace; None is the default workspace."""
    if identity:
        return safe_line(names.get(identity) or identity, NAME_LIMIT)
    if default := names.get(""):
        return f"{safe_line(default, NAME_LIMIT)} ({DEFAULT_WORKSPACE})"
    return DEFAULT_WORKSPACE


def several(names: Sequence[str], most: int = SEVERAL) -> str:
    """Join names for a sentence: "a", "a and b", "a, b and 4 more"."""
    if len(names) <= 1:
        return "".join(names)
    # The last part is a single name or the number of remaining names.
    shown = names[:-1] if len(names) <= most else names[: most - 1]
    rest = names[-1] if len(names) <= most else f"{len(names) - len(shown)} more"
    return f"{', '.join(shown)} and {rest}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 key", "3 keys", "4,915 requests"."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def as_read(fresh: ResponseModel, names: Iterable[str]) -> dict[str, JsonValue]:
    """Return these fields as the gateway sent them, for the ledger, without oversized ones."""
    raw = fresh.raw
    values = {name: json.loads(exact_json(raw[name])) for name in names if name in raw}
    return {name: value for name, value in values.items() if len(repr(value)) <= _MOST_KEPT}


def in_one_line(plan: Plan[Any]) -> str:
    """Return a plan on one line: its title, and the values that the title does not mention."""
    changes = [
        f"{change.field} {change.after}"
        for change in plan.changes
        if not plan.title.endswith((f" {change.after}", f"“{change.after}”"))
    ]
    return " · ".join([plan.title, *changes])


def both_sides(name: str, before: Any, after: Any, format_value: Formatter) -> tuple[str, str]:
    """Return the texts of a field before and after, chosen so that the difference is visible.

    Long lists are reduced to added and removed entries; long texts start near the first difference.
    An unknown value is ABSENT.
    """
    first, second = (
        "unknown" if value is ABSENT else format_value(name, value) for value in (before, after)
    )
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return _entries(name, before, after, format_value) or (first, second)
    if first == second and isinstance(before, str) and isinstance(after, str) and before != after:
        apart = (at for at, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
        start = max(0, next(apart, min(len(before), len(after))) - _BEFORE_IT)
        return format_value(name, f"…{before[start:]}"), format_value(name, f"…{after[start:]}")
    return first, second


def _entries(
    name: str, before: Sequence[Any], after: Sequence[Any], format_value: Formatter
) -> tuple[str, str] | None:
    if max(len(before), len(after)) <= SEVERAL or not before or not after:
        return None

    def each(entries: Sequence[Any], others: Sequence[Any]) -> str:
        only = [format_value(name, [entry]) for entry in entries if entry not in others]
        return several(only, MOST_NAMED)

    parts = (("added", each(after, before)), ("removed", each(before, after)))
    differences = [f"{label} {which}" for label, which in parts if which]
    if not differences:
        return None
    return f"{len(before)} entries", f"{len(after)} entries: {'; '.join(differences)}"


def identity_of(value: str | None, noun: str, identifier: str = "identifier") -> str:
    """Return ``value``, the id that a write needs. Raises ValueError if it is missing.

    ``noun`` and ``identifier`` name the resource and the id in the message.
    """
    if not value:
        raise ValueError(f"the gateway gave this {noun} no {identifier}: it cannot be changed")
    return value
