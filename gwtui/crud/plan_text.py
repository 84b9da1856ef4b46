"""Sentences about resources, and what a request changes, as plans word them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from gwtui.contract.response import ResponseModel
from gwtui.crud.plan import Plan
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.safe_text import safe_line
from gwtui.domain.serialize import plain_json

NAME_LIMIT = 60
"""Characters of a name in a sentence."""
SEVERAL = 5
"""Names in a sentence before the rest is only counted."""
MOST_NAMED = 30
"""Entries of a value that are named before the rest is only counted."""
_BEFORE_IT = 20
"""Characters that are shown before the first one that differs."""
_MOST_KEPT = 100_000
"""Characters of a field that the ledger keeps."""

Names = Mapping[str, str]
"""Identifier -> name, fit to be shown; of workspaces, "" is the default one's."""
DEFAULT_WORKSPACE = "the default workspace"
Formatter = Callable[[str, Any], str]
"""A field's value as people read it, from the field's name and the value."""


def deletion_warning(disabled: bool | None) -> str:
    """That a deletion is final, and the alternative if there is one."""
    final = "Deleting cannot be undone."
    return final if disabled else f"{final} To keep a way back, disable it instead."


def quoted(name: str | None, *otherwise: str | None) -> str:
    """A name in quotes, else the first identifier there is."""
    if name:
        return f"“{safe_line(name, NAME_LIMIT)}”"
    return safe_line(next(filter(None, otherwise), "without a name"), NAME_LIMIT)


def sentence(message: str) -> str:
    """A message as a sentence that others can follow."""
    return message if message.endswith((".", "!", "?", "…")) else f"{message}."


def named(identity: str | None, names: Names) -> str:
    """The name behind an identity in quotes, else the identity."""
    return quoted(names.get(identity or ""), identity)


def workspace_in_words(identity: str | None, names: Names) -> str:
    """A workspace by its name; none is the default one, by its name where that is known."""
    if identity:
        return safe_line(names.get(identity) or identity, NAME_LIMIT)
    if default := names.get(""):
        return f"{safe_line(default, NAME_LIMIT)} ({DEFAULT_WORKSPACE})"
    return DEFAULT_WORKSPACE


def several(names: Sequence[str], most: int = SEVERAL) -> str:
    """Names in a sentence: "a", "a and b", "a, b and 4 more"."""
    if len(names) <= 1:
        return "".join(names)
    # The last place is for one name or for the count of all that are left.
    shown = names[:-1] if len(names) <= most else names[: most - 1]
    rest = names[-1] if len(names) <= most else f"{len(names) - len(shown)} more"
    return f"{', '.join(shown)} and {rest}"


def count(number: int, noun: str) -> str:
    """A number of things: "1 key", "3 keys", "4,915 requests"."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def as_read(fresh: ResponseModel, names: Iterable[str]) -> dict[str, JsonValue]:
    """These fields as the gateway sent them, for the ledger, without huge ones."""
    found = {name: plain_json(fresh.raw[name]) for name in names if name in fresh.raw}
    return {name: value for name, value in found.items() if len(repr(value)) <= _MOST_KEPT}


def in_one_line(plan: Plan[Any]) -> str:
    """A plan as one line: its title, and the values that the title does not name."""
    changes = [
        f"{change.field} {change.after}"
        for change in plan.changes
        if not plan.title.endswith((f" {change.after}", f"“{change.after}”"))
    ]
    return " · ".join([plan.title, *changes])


def both_sides(name: str, before: Any, after: Any, format_value: Formatter) -> tuple[str, str]:
    """A field before and after as text that shows the difference.

    The text of a long list names its first entries only, that of a long text its beginning: two
    values may differ behind that. ABSENT is a value that is not known.
    """
    first, second = (
        UNKNOWN if value is ABSENT else format_value(name, value) for value in (before, after)
    )
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return _entries(name, before, after, format_value) or (first, second)
    if first == second and isinstance(before, str) and isinstance(after, str) and before != after:
        apart = (
            at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other
        )
        start = max(0, next(apart, min(len(before), len(after))) - _BEFORE_IT)
        return format_value(name, f"…{before[start:]}"), format_value(name, f"…{after[start:]}")
    return first, second


def _entries(
    name: str, before: Sequence[Any], after: Sequence[Any], format_value: Formatter
) -> tuple[str, str] | None:
    """Added and removed entries; None where both texts name every entry anyway."""
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


def identity_of(value: str | None, noun: str) -> str:
    """The identifier that a write needs; ValueError when the gateway gave none."""
    if not value:
        raise ValueError(f"the gateway gave this {noun} no identifier: it cannot be changed")
    return value
