"""CSV for other programs: exact figures, and text that no spreadsheet runs as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TextIO

from gwtui.domain.safe_text import safe_text

if TYPE_CHECKING:
    from gwtui.domain.cells import SortValue

_CELL = 100_000
_FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet would run when a text begins so."""


def write_csv(file: TextIO, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows below the titles of their columns, if there are any. Raises OSError."""
    writer = csv.writer(file, lineterminator="\n")
    if titles:
        writer.writerow(titles)
    writer.writerows([csv_cell(value) for value in row] for row in rows)


def csv_cell(value: Any) -> Any:
    """As machines read it; text fit for a spreadsheet, which must not run a name as a formula."""
    if not isinstance(value, str):
        return exact_text(value)
    text = safe_text(value, _CELL)
    return f"'{text}" if text.startswith(_FORMULA) else text


def exact_text(value: SortValue) -> str:
    """A figure with every digit, a moment in UTC, a flag as a word; empty where it is not known."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return _timestamp(value) if isinstance(value, datetime) else str(value)


def _timestamp(moment: datetime) -> str:
    from gwtui.contract.scalars import timestamp_text  # noqa: PLC0415 - loads pydantic

    return timestamp_text(moment)
