"""Columns of the common kinds, so that a resource only says what it shows."""

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
    """Text from the gateway, sorted without regard to case. The name of a row grows.

    ``most`` are the cells of its longest text, where there is room for more than ``width``.
    """

    def cell(item: T, _now: datetime) -> Cell:
        found = value(item)
        return missing(item) if missing is not None and found is None else cells.text(found)

    def key(item: T, _now: datetime) -> str | None:
        found = value(item)
        return None if found is None else found.casefold()

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
    """A cell that is sorted, filtered and exported by its text."""
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
    """A number that reads its own way; ``value`` is what sorting and filters compare."""
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
    """A number whose cell follows from its value alone, as does what sorting compares."""
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
"""An amount in USD, in cents."""
count_column = partial(value_column, show=cells.count)
"""A whole number, such as a count."""
tokens_column = partial(value_column, show=cells.tokens)
"""A number of tokens, short."""
share_column = partial(value_column, show=cells.share, sort=cells.in_percent)
"""A share, 0..1, as a percentage."""


def moment_column(
    name: str,
    title: str,
    value: Callable[[T], datetime | None],
    width: int,
    help: str,
) -> Column[T]:
    """A moment as seen from now."""
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
    """A flag as a word."""
    return Column(
        name,
        title,
        lambda item, _now: cells.yes_no(value(item)),
        lambda item, _now: value(item),
        width,
        help=help,
        kind="flag",
    )
