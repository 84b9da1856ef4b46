"""Differences between two readings of a resource, and conflicts between two editors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final


class Absent(Enum):
    """The field is not there at all, which is not the same as null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after; ABSENT where it was or is not there."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ThreeWayField:
    """One field that was edited here, there, or on both sides, since both saw ``original``."""

    field: str
    original: Any
    mine: Any
    theirs: Any

    @property
    def changed_here(self) -> bool:
        """Whether I changed it."""
        return not same(self.original, self.mine)

    @property
    def changed_there(self) -> bool:
        """Whether somebody else changed it."""
        return not same(self.original, self.theirs)

    @property
    def conflict(self) -> bool:
        """Whether both changed it, and not to the same value."""
        return self.changed_here and self.changed_there and not same(self.mine, self.theirs)


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """Every field in which my edit or the gateway's present state differs from the original."""

    fields: tuple[ThreeWayField, ...]

    @property
    def conflicts(self) -> tuple[ThreeWayField, ...]:
        """Fields that both changed differently: a person must choose."""
        return tuple(field for field in self.fields if field.conflict)

    @property
    def changed_elsewhere(self) -> tuple[ThreeWayField, ...]:
        """Fields that somebody else changed while this edit was open."""
        return tuple(field for field in self.fields if field.changed_there)

    @property
    def to_send(self) -> Mapping[str, Any]:
        """My edits, except those somebody else already made."""
        return {
            field.field: field.mine
            for field in self.fields
            if field.changed_here and not same(field.mine, field.theirs)
        }


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """The fields that differ, in the order of ``after``, then those that are gone."""
    return tuple(
        FieldChange(name, before.get(name, ABSENT), after.get(name, ABSENT))
        for name in _names(after, before)
        if not same(before.get(name, ABSENT), after.get(name, ABSENT))
    )


def three_way(
    original: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> ThreeWay:
    """Compare my edit and the present state with what the edit began from.

    ``mine`` may hold only the fields of the form: one that it lacks was not edited.
    """
    found = []
    for name in _names(original, theirs, mine):
        start = original.get(name, ABSENT)
        field = ThreeWayField(name, start, mine.get(name, start), theirs.get(name, ABSENT))
        if field.changed_here or field.changed_there:
            found.append(field)
    return ThreeWay(tuple(found))


def same(one: Any, other: Any) -> bool:
    """Whether two values mean the same on the wire: 1 is 1.0 and 1.00, but true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float):
        one = Decimal(str(one))
    if isinstance(other, float):
        other = Decimal(str(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _names(*mappings: Mapping[str, Any]) -> dict[str, None]:
    return {name: None for mapping in mappings for name in mapping}
