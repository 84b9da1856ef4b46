"""Output of commands: data on stdout, messages on stderr, both without control characters."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gwtui.domain.known_secrets import Secret
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.serialize import exact_json, write_csv

FORMS = ("table", "json", "ndjson", "csv")
"""Forms of a list: one for people, three for programs."""

_CELL = 300
_LINE = 1000
_VALUE = 4096


class OutputLostError(Exception):
    """What was printed did not reach its reader; ``left`` when that reader has gone by itself."""

    def __init__(self, reason: str, *, left: bool) -> None:
        super().__init__(f"the answer could not be written: {reason}")
        self.left = left


@contextlib.contextmanager
def data_on_stdout() -> Iterator[None]:
    """What is printed inside has left this program at the end. Raises OutputLostError."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            # Nothing more may be written to it: the interpreter would complain at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        left = isinstance(error, BrokenPipeError)
        raise OutputLostError(error.strerror or "stdout is closed", left=left) from None


def narrate(message: str) -> None:
    """One line for the person, on stderr; lost where nobody reads it."""
    with contextlib.suppress(OSError):
        print(f"gwtui: {safe_line(message, _LINE)}", file=sys.stderr, flush=True)


def narrate_lines(lines: Iterable[str]) -> None:
    """Lines for the person that belong together, on stderr."""
    with contextlib.suppress(OSError):
        for line in lines:
            print(safe_text(line, _LINE), file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    with data_on_stdout():
        print(exact_json(value, indent=2))


def print_value(value: Secret) -> None:
    """It has left this program when this returns, for a disk where it goes to a file.

    Raises OutputLostError.
    """
    text = value.get_secret_value()
    with data_on_stdout():
        # On a terminal the value of a hostile gateway could do more than be read.
        print(safe_text(text, _VALUE) if sys.stdout.isatty() else text, flush=True)
        _sync()


def _sync() -> None:
    """Raises OSError where a file did not reach its disk."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return  # not a file of the system
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fsync(descriptor)


def print_ndjson(values: Iterable[Any]) -> None:
    """One line of JSON for each value."""
    with data_on_stdout():
        for value in values:
            print(exact_json(value))


def print_table(rows: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> None:
    """Rows in columns on stdout; the last column is not limited.

    ``right`` says for each column whether it holds figures, which end below each other.
    """
    shown = [[safe_line(cell, _CELL) for cell in row] for row in rows]
    widths = [max(map(cell_width, column)) for column in zip(*shown, strict=True)]
    sides = right or [False] * len(widths)
    with data_on_stdout():
        for row in shown:
            padded = [
                _padded(cell, width, right=figures)
                for cell, width, figures in zip(row, widths, sides, strict=True)
            ]
            print("  ".join(padded).rstrip())


def cell_width(text: str) -> int:
    """Columns of a terminal that a text takes."""
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
    """Values for another program, below their names; without these below what was printed."""
    with data_on_stdout():
        write_csv(sys.stdout, titles, rows)
