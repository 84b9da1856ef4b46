"""Columns of the common kinds, so that a resource only says what it shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from gwtui.crud import cells
from gwtui.crud.resource import Cell, Column

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


def usd_column(
    name: str,
    title: str,
    value: Callable[[T], Decimal | None],
    width: int,
    help: str,
) -> Column[T]:
    """An amount in USD, in cents."""
    return figure_column(
        name, title, value, width, show=lambda item: cells.cents(value(item)), help=help
    )


def count_column(
    name: str,
    title: str,
    value: Callable[[T], int | None],
    width: int,
    help: str,
) -> Column[T]:
    """How many there are of something."""
    return figure_column(
        name, title, value, width, show=lambda item: cells.count(value(item)), help=help
    )


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
