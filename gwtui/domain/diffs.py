"""Differences between two versions of a resource, and conflicts between two editors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final


class Absent(Enum):
    """The type of ``ABSENT``: the field does not exist, unlike a field that is null."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class FieldChange:
    """The value of one field before and after; ABSENT if the field does not exist."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ThreeWayField:
    """A field that this edit (``mine``), somebody else (``theirs``) or both changed."""

    field: str
    original: Any
    mine: Any
    theirs: Any

    @property
    def changed_here(self) -> bool:
        """Whether this edit changed the field."""
        return not same(self.original, self.mine)

    @property
    def changed_there(self) -> bool:
        """Whether somebody else changed the field."""
        return not same(self.original, self.theirs)

    @property
    def conflict(self) -> bool:
        """Whether both changed the field, to different values."""
        return self.changed_here and self.changed_there and not same(self.mine, self.theirs)


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """The fields that this edit or somebody else has changed since the edit began."""

    fields: tuple[ThreeWayField, ...]

    @property
    def conflicts(self) -> tuple[ThreeWayField, ...]:
        """The fields that both changed to different values."""
        return tuple(field for field in self.fields if field.conflict)

    @property
    def changed_elsewhere(self) -> tuple[ThreeWayField, ...]:
        """The fields that somebody else changed."""
        return tuple(field for field in self.fields if field.changed_there)

    @property
    def to_send(self) -> Mapping[str, Any]:
        """Field -> new value: the changes of this edit that the gateway does not have yet."""
        return {
            field.field: field.mine
            for field in self.fields
            if field.changed_here and not same(field.mine, field.theirs)
        }


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """The fields that differ: those in ``after`` in its order, then those only in ``before``."""
    return tuple(
        FieldChange(name, before.get(name, ABSENT), after.get(name, ABSENT))
        for name in _names(after, before)
        if not same(before.get(name, ABSENT), after.get(name, ABSENT))
    )


def three_way(
    original: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> ThreeWay:
    """Compare an edit (``mine``) and the present version (``theirs``) with the original.

    A field that is missing in ``mine`` was not edited.
    """
    fields = []
    for name in _names(original, theirs, mine):
        start = original.get(name, ABSENT)
        field = ThreeWayField(name, start, mine.get(name, start), theirs.get(name, ABSENT))
        if field.changed_here or field.changed_there:
            fields.append(field)
    return ThreeWay(tuple(fields))


def same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal on the wire: 1 equals 1.0, but true does not equal 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float):
        left = Decimal(str(left))
    if isinstance(right, float):
        right = Decimal(str(right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _names(*mappings: Mapping[str, Any]) -> dict[str, None]:
    return {name: None for mapping in mappings for name in mapping}
