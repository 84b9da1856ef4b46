"""Columns for the common kinds of values."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar

from gwtui.crud import cells
from gwtui.crud.resource import Cell, Column, SortValue

T = TypeVar("T")


def text_column(  # noqa: PLR0913 - a column has as many properties
    name: str,
    title: str,
    value: Callable[[T], str | None],
    width: int,
    *,
    help: str,
    missing: Callable[[T], Cell] | None = None,
    most: int = 0,
    grow: bool = False,
) -> Column[T]:
    """A column of gateway text, sorted case-insensitively.

    ``grow``: it takes its share of unused width. ``most`` is the width in cells to grow to before
    the unused width is shared.
    """

    def cell(item: T, _now: datetime) -> Cell:
        content = value(item)
        return missing(item) if missing is not None and content is None else cells.text(content)

    def key(item: T, _now: datetime) -> str | None:
        content = value(item)
        return None if content is None else content.casefold()

    return Column(
        name,
        title,
        cell,
        key,
        width,
        grow=grow,
        most=most,
        help=help,
        export=lambda item, _now: value(item),
    )


def word_column(
    name: str, title: str, cell: Callable[[T], Cell], width: int, help: str
) -> Column[T]:
    """A column that sorts, filters and exports the text of its cell."""
    return Column(
        name,
        title,
        lambda item, _now: cell(item),
        lambda item, _now: cell(item).text,
        width,
        help=help,
    )


def figure_column(
    name: str,
    title: str,
    value: Callable[[T], Decimal | int | None],
    width: int,
    *,
    show: Callable[[T], Cell],
    help: str,
) -> Column[T]:
    """A column of numbers; ``show`` formats the row, ``value`` is used to sort and filter."""
    return Column(
        name,
        title,
        lambda item, _now: show(item),
        lambda item, _now: value(item),
        width,
        right=True,
        help=help,
        kind="number",
    )


def value_column(  # noqa: PLR0913 - a column has as many properties
    name: str,
    title: str,
    value: Callable[[T], Any],
    width: int,
    help: str,
    *,
    show: Callable[[Any], Cell],
    sort: Callable[[Any], SortValue] = lambda value: value,
) -> Column[T]:
    """A column of values; ``show`` formats a value, ``sort`` converts it for sorting."""
    return Column(
        name,
        title,
        lambda item, _now: show(value(item)),
        lambda item, _now: sort(value(item)),
        width,
        right=True,
        help=help,
        kind="number",
    )


usd_column = partial(value_column, show=cells.cents)
"""A column of amounts in USD, with two decimals."""
count_column = partial(value_column, show=cells.count)
"""A column of whole numbers."""
tokens_column = partial(value_column, show=cells.tokens)
"""A column of shortened token counts."""
share_column = partial(value_column, show=cells.share, sort=cells.in_percent)
"""A column of percentages, from fractions in 0..1."""


def moment_column(
    name: str,
    title: str,
    value: Callable[[T], datetime | None],
    width: int,
    help: str,
) -> Column[T]:
    """A column of moments, displayed relative to now."""
    return Column(
        name,
        title,
        lambda item, now: cells.ago(value(item), now),
        lambda item, _now: value(item),
        width,
        help=help,
        kind="moment",
    )


def flag_column(
    name: str, title: str, value: Callable[[T], bool | None], width: int, help: str
) -> Column[T]:
    """A column of flags, displayed as "yes" or "no"."""
    return Column(
        name,
        title,
        lambda item, _now: cells.yes_no(value(item)),
        lambda item, _now: value(item),
        width,
        help=help,
        kind="flag",
    )
