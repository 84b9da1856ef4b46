"""The fields of a list filter, their values, and completions for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from gwtui.crud.resource import (
    Column,
    Facets,
    ResourceSpec,
    filter_headings,
    filter_kinds,
)
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.filter_completion import Suggestions, suggestions

_ROWS = 1_000
"""Maximum number of rows to collect values from."""
_LONGEST = 40
"""Maximum length of a suggested value."""


def filter_completions(
    spec: ResourceSpec[Any], rows: Iterable[Any], text: str, now: datetime
) -> Suggestions:
    """Return completions for a filter; ``text`` is the filter up to the cursor."""
    columns, facets = spec.columns, spec.facets
    kinds, headings = filter_kinds(columns, facets), filter_headings(columns, facets)
    return suggestions(
        text,
        {**kinds, **{heading: kinds[column] for heading, column in headings.items()}},
        lambda name: filter_values(headings.get(name, name), columns, facets, rows, now),
    )


def filter_values(
    name: str,
    columns: Sequence[Column[Any]],
    facets: Facets[Any],
    rows: Iterable[Any],
    now: datetime,
) -> list[str]:
    """Return the distinct values of a column or facet, the most frequent first."""
    counts: dict[str, int] = {}
    column = next((column for column in columns if column.id == name), None)
    for row, _ in zip(rows, range(_ROWS), strict=False):
        for value in _values(name, column, facets, row, now):
            if value and value != UNKNOWN and value.isprintable() and len(value) <= _LONGEST:
                counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: (-counts[value], value.casefold()))


def _values(
    name: str, column: Column[Any] | None, facets: Facets[Any], row: Any, now: datetime
) -> Sequence[str]:
    facet = facets.get(name)
    if facet is not None:
        words = facet(row, now)
        return words.split() if len(words) > _LONGEST else (words,)
    value = None if column is None else column.sort(row, now)
    return (value,) if isinstance(value, str) else ()
