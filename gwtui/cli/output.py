"""What a command says: stdout is data, stderr is narration, and neither can disturb a terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from gwtui.domain.safe_text import safe_line

_CELL = 300
_LINE = 1000


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """``--output table`` for people, ``--output json`` for programs."""
    parser.add_argument(
        "--output", choices=("table", "json"), default="table", help="form of the answer (table)"
    )


def narrate(message: str) -> None:
    """One line for the person, on stderr."""
    print(f"gwtui: {safe_line(message, _LINE)}", file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Rows in columns on stdout; the last column is as wide as it likes."""
    shown = [[safe_line(cell, _CELL) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(padded).rstrip())
