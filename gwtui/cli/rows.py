"""Rows that no declaration of a resource describes, in the four forms of a list."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from gwtui.cli import exits
from gwtui.cli.lists.query import ALL, MACHINE_FORMS
from gwtui.cli.output import print_csv, print_json, print_ndjson, print_table
from gwtui.domain.lookup import among
from gwtui.domain.money import grouped, usd

Row = Mapping[str, Any]


def print_rows(
    rows: Sequence[Row],
    arguments: argparse.Namespace,
    known: Sequence[str],
    *,
    usual: Sequence[str] = (),
) -> None:
    """Print them; ``known`` are the names of every value, ``usual`` those of a table.

    Raises CommandError for a column that there is not, and OutputLostError.
    """
    form, columns = arguments.output, arguments.columns
    if columns is not None and form in MACHINE_FORMS:
        raise exits.CommandError("--columns goes with table and csv", exits.USAGE)
    names = (form == "table" and usual) or known
    if columns is not None:
        names = known if columns == ALL else columns.replace("-", "_").split(",")
    for name in names:
        if name not in known:
            hint = among(name, known)
            raise exits.CommandError(f"--columns: there is no column {name!r}{hint}", exits.USAGE)
    values = [[row.get(name) for name in names] for row in rows]
    match form:
        case "json":
            print_json(list(rows))
        case "ndjson":
            print_ndjson(rows)
        case "csv":
            print_csv(names, values)
        case _ if rows:
            headings = [name.replace("_", " ") for name in names]
            figures = [
                not any(isinstance(value, str | bool) for value in column)
                for column in zip(*values, strict=True)
            ]
            print_table([headings, *([_text(value) for value in line] for line in values)], figures)


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return grouped(value)
        case Decimal():
            return usd(value)
    return str(value)
