"""Rows that no declaration of a resource describes, in the four forms of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gwtui.cli import exits
from gwtui.cli.output import print_csv, print_json, print_ndjson, print_table
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.lookup import among
from gwtui.domain.serialize import exact_json
from gwtui.domain.times import parse_past, utc

Row = Mapping[str, Any]

_ALL = "all"
_MACHINE = ("json", "ndjson")


def chosen_columns(columns: str | None, known: Sequence[str], form: str) -> Sequence[str] | None:
    """The columns that were asked for, None where nobody asked. Raises CommandError."""
    if columns is None:
        return None
    if form in _MACHINE:
        raise exits.CommandError("--columns goes with table and csv", exits.USAGE)
    if columns == _ALL:
        return known
    names = [name.strip().replace("-", "_") for name in columns.split(",")]
    for name in names:
        if name not in known:
            hint = among(name, known)
            raise exits.CommandError(f"--columns: there is no column {name!r}{hint}", exits.USAGE)
    return names


def print_rows(
    rows: Sequence[Row],
    form: str,
    *,
    known: Sequence[str],
    usual: Mapping[str, str],
    columns: str | None,
) -> None:
    """Print them. ``known`` are the names of every value, ``usual`` the headings of a table.

    Raises CommandError for a column that there is not, and OutputLostError.
    """
    chosen = chosen_columns(columns, known, form)
    if form == "json":
        print_json([_plain(row) for row in rows])
    elif form == "ndjson":
        print_ndjson([_plain(row) for row in rows])
    elif form == "csv" and (rows or chosen):
        names = chosen or known
        print_csv(names, [[_flat(row.get(name)) for name in names] for row in rows])
    elif form == "table" and rows:
        names = chosen or [name for name in usual if name in known]
        table = [[_text(row.get(name)) for name in names] for row in rows]
        print_table([[usual.get(name, name) for name in names], *table])


def _plain(row: Row) -> dict[str, Any]:
    return {
        name: timestamp_text(value) if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def _flat(value: Any) -> Any:
    """A value that fits into one cell."""
    if isinstance(value, list | dict):
        return exact_json(value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return utc(value).removesuffix(" UTC")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(_flat(value))


def past_moment(text: str | None, now: datetime) -> datetime | None:
    """A moment that is over, as people type it. Raises ValueError with a message."""
    if text is None:
        return None
    try:
        return parse_past(text, now)
    except ValueError as error:
        raise ValueError(f"{text!r} is no moment: {error}") from None
