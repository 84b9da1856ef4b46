"""Output of commands: data on stdout, messages on stderr, both without control characters."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from gwtui.cli.exits import USAGE, CommandError
from gwtui.domain.lookup import among
from gwtui.domain.money import grouped, usd
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.serialize import exact_json, write_csv

if TYPE_CHECKING:
    from pydantic import SecretStr

FORMS = ("table", "json", "ndjson", "csv")
"""Output formats of a list: one for people, three for programs."""
MACHINE_FORMS = ("json", "ndjson")
"""Formats that print whole objects instead of columns."""
ALL = "all"
"""The value of --columns for all columns."""

_CELL = 300
_LINE = 1000
_VALUE = 4096


class OutputLostError(Exception):
    """Output could not be written; ``left`` is True if the reader closed the pipe."""

    def __init__(self, reason: str, *, left: bool) -> None:
        super().__init__(f"the output could not be written: {reason}")
        self.left = left


@contextlib.contextmanager
def data_on_stdout() -> Iterator[None]:
    """Flush stdout at the end of the context. Raises OutputLostError."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            # The interpreter flushes stdout at exit, and would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        left = isinstance(error, BrokenPipeError)
        raise OutputLostError(error.strerror or "stdout is closed", left=left) from None


def narrate(message: str) -> None:
    """Print one line on stderr; never fails."""
    with contextlib.suppress(OSError):
        print(f"gwtui: {safe_line(message, _LINE)}", file=sys.stderr, flush=True)


def narrate_lines(lines: Iterable[str]) -> None:
    """Print several lines on stderr; never fails."""
    with contextlib.suppress(OSError):
        for line in lines:
            print(safe_text(line, _LINE), file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    with data_on_stdout():
        print(exact_json(value, indent=2))


def print_value(value: SecretStr) -> None:
    """Print a secret on stdout, synced to disk if stdout is a file. Raises OutputLostError."""
    text = value.get_secret_value()
    with data_on_stdout():
        # The value of a hostile gateway could hold escape sequences.
        print(safe_text(text, _VALUE) if sys.stdout.isatty() else text, flush=True)
        _sync()


def _sync() -> None:
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # stdout has no file descriptor
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)


def print_ndjson(values: Iterable[Any]) -> None:
    """Print each value as a line of JSON."""
    with data_on_stdout():
        for value in values:
            print(exact_json(value))


def print_table(rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> None:
    """Print rows in aligned columns; ``right`` says for each column whether it is right-aligned."""
    shown = [[safe_line(cell, _CELL) for cell in row] for row in rows]
    with data_on_stdout():
        for line in table_lines(shown, right):
            print(line)


def table_lines(rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> Iterator[str]:
    """Yield the lines of a table; the last cells of a row may be missing."""
    widths = [max(map(cell_width, column)) for column in zip_longest(*rows, fillvalue="")]
    sides = right or [False] * len(widths)
    for row in rows:
        padded = [
            _padded(cell, width, right=figures)
            for cell, width, figures in zip(row, widths, sides, strict=False)
        ]
        yield "  ".join(padded).rstrip()


def cell_width(text: str) -> int:
    """Return the width of a text in terminal cells."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _padded(cell: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - cell_width(cell))
    return f"{blanks}{cell}" if right else f"{cell}{blanks}"


def print_csv(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print CSV rows, after a header if ``titles`` is not empty."""
    with data_on_stdout():
        write_csv(sys.stdout, titles, rows)


def print_rows(
    rows: Sequence[Mapping[str, Any]],
    arguments: argparse.Namespace,
    known: Sequence[str],
    *,
    default: Sequence[str] = (),
) -> None:
    """Print rows in the format given by ``arguments.output``.

    ``known`` lists all columns, ``default`` the columns of a table without --columns. Raises
    CommandError for an unknown column or for --columns with a JSON format, and OutputLostError.
    """
    form, columns = arguments.output, arguments.columns
    if columns is not None and form in MACHINE_FORMS:
        raise CommandError("--columns requires --output table or csv", USAGE)
    names = (form == "table" and default) or known
    if columns is not None:
        names = known if columns == ALL else columns.replace("-", "_").split(",")
    for name in names:
        if name not in known:
            hint = among(name, known)
            raise CommandError(f"--columns: there is no column {name!r}{hint}", USAGE)
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
