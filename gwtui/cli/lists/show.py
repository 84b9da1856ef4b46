"""Print rows and single objects as text, JSON or CSV.

A long list is printed page by page while it is read, and never held in memory.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import Any

from gwtui.cli import exits
from gwtui.cli.lists.selection import ListQuery, RowBatch
from gwtui.cli.output import (
    cell_width,
    data_on_stdout,
    print_csv,
    print_json,
    print_ndjson,
    print_table,
    table_lines,
)
from gwtui.client.errors import GatewayError
from gwtui.crud.export import csv_values, raw_objects, with_id
from gwtui.crud.resource import Column, DetailRow, DetailTable, ResourceSpec, Section
from gwtui.domain.clock import Clock
from gwtui.local.name_cache import MOST

_GAP = 2
"""The width of the gap between two columns."""
_INDENT = _SPACE = " " * _GAP
STREAMED_FORMS = ("ndjson", "csv")
"""Formats that can be printed before the whole list is read."""


def show_list(
    rows: Sequence[Any], query: ListQuery, form: str, now: datetime, *, further: bool = False
) -> None:
    """Print rows in the format ``form``. Raises OutputLostError.

    ``further`` is True if earlier rows of the list were printed already, which omits the CSV
    header.
    """
    columns = query.columns
    if form == "table":
        _table(rows, columns, query.spec, now)
    elif form == "csv":
        chosen = columns or with_id(query.spec, query.spec.columns)
        print_csv(
            () if further else [column.id for column in chosen],
            csv_values(chosen, rows, now),
        )
    else:
        (print_json if form == "json" else print_ndjson)(raw_objects(query.spec, rows))


def _table(
    rows: Sequence[Any],
    chosen: Sequence[Column[Any]] | None,
    spec: ResourceSpec[Any],
    now: datetime,
) -> None:
    columns = spec.columns if chosen is None else chosen
    grid = [
        [column.title for column in columns],
        *([column.cell(row, now).text for column in columns] for row in rows),
    ]
    shown = list(range(len(columns)))
    if chosen is None and sys.stdout.isatty():
        shown = _fitting(columns, grid, shutil.get_terminal_size().columns)
    print_table(
        [[line[place] for place in shown] for line in grid],
        right=[columns[place].right for place in shown],
    )


def _fitting(columns: Sequence[Column[Any]], grid: Sequence[Sequence[str]], room: int) -> list[int]:
    widths = [max(cell_width(line[place]) for line in grid) for place in range(len(columns))]
    shown = list(range(len(columns)))
    while len(shown) > 1 and sum(widths[place] + _GAP for place in shown) - _GAP > room:
        shown.pop()
    return shown


def print_detail(spec: ResourceSpec[Any], row: Any, now: datetime) -> None:
    """Print the sections of the detail pane. Raises OutputLostError."""
    with data_on_stdout():
        for line in (spec.name(row), *section_lines(spec.sections, row, now)):
            print(line)


def section_lines(sections: Sequence[Section[Any]], row: Any, now: datetime) -> Iterator[str]:
    """Yield the lines of the sections, without hints about keys. Cell texts are safe to print."""
    for section in sections:
        parts = [
            part
            for part in section.content(row, now)
            if not (isinstance(part, DetailRow) and part.hint)
        ]
        if not parts:
            continue
        yield ""
        yield section.title
        label = max((len(part.label) for part in parts if isinstance(part, DetailRow)), default=0)
        for part in parts:
            yield from (
                _detail_table(part) if isinstance(part, DetailTable) else _detail_row(part, label)
            )


def _detail_row(row: DetailRow, label: int) -> Iterator[str]:
    head = f"{_INDENT}{row.label:<{label}}{_SPACE if label else ''}"
    first, *rest = row.value.text.split("\n")
    note = f"{_SPACE}({row.note})" if row.note else ""
    yield f"{head}{first}{note}".rstrip()
    for line in rest:
        yield f"{' ' * len(head)}{line}".rstrip()


def _detail_table(table: DetailTable) -> Iterator[str]:
    grid = [table.columns, *([cell.text for cell in line] for line in table.rows)]
    right = [place > 0 for place in range(len(table.columns))]
    yield from (f"{_INDENT}{line}" for line in table_lines(grid, right))


class BatchPrinter:
    """Prints matching rows as they arrive.

    ``first`` holds the first rows, so that the caller can cache their names.
    """

    def __init__(self, query: ListQuery, form: str, clock: Clock) -> None:
        self.first: list[Any] = []
        self._query = query
        self._form = form
        self._clock = clock
        self._met: set[int] = set()
        """Hashes of printed identities, which take a fifth of the memory of the identities."""
        self._printed = 0
        # A single thread, because each thread has its own heap.
        self._thread = ThreadPoolExecutor(1, "output")

    async def print_all(
        self,
        batches: AsyncGenerator[RowBatch[Any], None],
        complete: Callable[[Sequence[Any]], Sequence[Any]],
    ) -> None:
        """Print the matching rows of all batches, each row once.

        ``complete`` completes the rows of a batch before they are filtered. A list that arrives
        in one batch is sorted in its default order. If reading fails, raises GatewayError before
        the first printed row and CommandError after it. Raises OutputLostError.
        """
        begun = False
        try:
            async with aclosing(batches):
                async for batch in batches:
                    rows = complete(self._new(batch.rows))
                    whole = batch.last and not begun
                    arrange = self._query.apply if whole else self._query.matching
                    await self._print(arrange(rows, self._clock.now()), further=begun)
                    begun = True
        except GatewayError as error:
            if not self._printed:
                raise
            raise self._broken_off(error) from None

    def _new(self, batch: Sequence[Any]) -> list[Any]:
        identity = self._query.spec.identity
        new: list[Any] = []
        for row in batch:
            number = hash(identity(row))
            if number not in self._met:
                self._met.add(number)
                new.append(row)
        self.first += new[: MOST - len(self.first)]
        return new

    async def _print(self, rows: Sequence[Any], *, further: bool) -> None:
        # Print in a thread: a slow reader of stdout must not block reading the gateway.
        if rows or not further:
            show = partial(show_list, rows, self._query, self._form, self._clock.now())
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, partial(show, further=further))
            self._printed += len(rows)

    def _broken_off(self, error: GatewayError) -> exits.CommandError:
        spec = self._query.spec
        noun = spec.singular if self._printed == 1 else spec.plural or f"{spec.singular}s"
        return exits.CommandError(
            f"{error.message}; the list ended after {self._printed} {noun}", exits.INCOMPLETE
        )
