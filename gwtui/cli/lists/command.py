"""The verbs that read: ``list`` and ``get``, the same for every resource."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from gwtui.cli import exits
from gwtui.cli.exits import CommandError
from gwtui.cli.lists.lookup import CommandReadings, find_parent, find_row, find_workspace
from gwtui.cli.lists.query import ListQuery, list_query
from gwtui.cli.lists.show import STREAMED_FORMS, PortionPrinter, print_detail, show_list
from gwtui.cli.output import FORMS, add_output_option, narrate, print_json, print_ndjson
from gwtui.cli.resources import Resource
from gwtui.cli.running import reading_hub, run_async
from gwtui.cli.target import add_demo_option, resolve_connection
from gwtui.crud.export import raw_object, with_id
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.local.paths import Paths
from gwtui.resources.known_names import store_names
from gwtui.watch.feed import Feed

_MACHINE = ("json", "ndjson")
_CALLED = "its identifier, how that begins, or name"
_COMPLETING = "what completes the rows"


def declaration(resource: Resource) -> ResourceSpec[Any]:
    """What the dashboard draws of it."""
    module, _, name = resource.declaration.partition(":")
    spec: ResourceSpec[Any] = getattr(import_module(module), name)
    return spec


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """What every verb that only reads takes."""
    add_output_option(parser, FORMS)
    add_demo_option(parser)


def _add_parent(parser: argparse.ArgumentParser, resource: Resource) -> None:
    if resource.parent is None:
        return
    text = f"the {resource.parent} whose rows are meant"
    if resource.any_parent:
        parser.add_argument(f"--{resource.parent}", dest="parent", metavar="ID", help=text)
    else:
        parser.add_argument("parent", metavar=resource.parent.upper(), help=text)


@dataclass(frozen=True, slots=True)
class ListVerb:
    """Every row, or those that a filter lets through."""

    resource: Resource
    name: str = "list"

    @property
    def help(self) -> str:
        """What it does."""
        return "print it" if self.resource.single else "print them all, or those that match"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Which rows, in which order and form."""
        spec = declaration(self.resource)
        _add_parent(parser, self.resource)
        parser.add_argument(
            "--filter", metavar="QUERY", help="only rows that match, as in the dashboard's filter"
        )
        parser.add_argument("--sort", metavar="COLUMN[:desc]", help="order of the rows")
        parser.add_argument(
            "--columns", metavar="A,B", help="columns of a table or of CSV; 'all' for every one"
        )
        if spec.scoped:
            parser.add_argument("--workspace", metavar="ID", help="only of it: id, slug or name")
        add_reading_options(parser)
        columns = with_id(spec, spec.columns)
        width = max(len(column.id) for column in columns)
        lines = [f"  {column.id:<{width}}  {column.help}" for column in columns]
        parser.epilog = "columns:\n" + "\n".join(lines)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the rows; returns an exit code."""
        spec = declaration(self.resource)
        if arguments.columns is not None and arguments.output in _MACHINE:
            raise CommandError("--columns goes with table and csv", exits.USAGE)
        query = list_query(spec, arguments.filter, arguments.sort, arguments.columns)
        connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

        async def work() -> int:
            async with reading_hub(connect) as hub:
                readings = CommandReadings(hub)
                scope = await read_scope(readings, self.resource, arguments)
                if arguments.output in STREAMED_FORMS and not query.ordered and self.in_portions:
                    rows, code = await self._portions(readings, query, scope, arguments)
                else:
                    rows, code = await self._whole(readings, query, scope, arguments)
                if not {getattr(arguments, name, None) for name in ("parent", "workspace")} - {
                    None
                }:
                    store_names(hub.connection, spec, rows)
                return code

        return run_async(work)

    @property
    def in_portions(self) -> bool:
        """Whether it may be printed before all of it was read."""
        return True

    def exit_code(
        self,
        _rows: Sequence[Any],
        _shown: Sequence[Any],
        code: int,
        _arguments: argparse.Namespace,
    ) -> int:
        """The exit code after ``_shown`` of ``_rows`` were printed; ``code`` is the reading's."""
        return code

    def rows_before_filter(
        self, rows: Sequence[Any], _readings: CommandReadings, _arguments: argparse.Namespace
    ) -> Sequence[Any]:
        """The rows before any filter. Raises CommandError."""
        return rows

    async def _whole(
        self,
        readings: CommandReadings,
        query: ListQuery,
        scope: Scope,
        arguments: argparse.Namespace,
    ) -> tuple[Sequence[Any], int]:
        """Print the list once it was read; its rows and the exit code."""
        found = await readings.value(query.spec.feed(readings.hub, scope))
        complete = await self._completing(readings, query, scope, arguments)
        rows = complete(self.rows_before_filter(found, readings, arguments))
        now = readings.hub.clock.now()
        shown = query.apply(rows, now)
        if arguments.output == "table":
            narrate(_counted(len(shown), len(rows), query.spec))
        show_list(shown, query, arguments.output, now)
        return rows, self.exit_code(rows, shown, readings.exit_code, arguments)

    async def _portions(
        self,
        readings: CommandReadings,
        query: ListQuery,
        scope: Scope,
        arguments: argparse.Namespace,
    ) -> tuple[Sequence[Any], int]:
        """Print the list while it is read; its first rows and the exit code."""
        complete = await self._completing(readings, query, scope, arguments)
        printer = PortionPrinter(query, arguments.output, readings.hub.clock)
        await printer.print_all(
            readings.portions(lambda hub: query.spec.feed(hub, scope)),
            lambda rows: complete(self.rows_before_filter(rows, readings, arguments)),
        )
        return printer.first, readings.exit_code

    async def _completing(
        self,
        readings: CommandReadings,
        query: ListQuery,
        scope: Scope,
        arguments: argparse.Namespace,
    ) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """What completes rows as far as that is asked for, once it was read."""
        completion = query.spec.completion
        every = arguments.output not in _MACHINE
        if completion is None or self.resource.brief or not query.shown(every=every):
            return lambda rows: rows
        feed = completion.feed(readings.hub, scope)
        more = await readings.value_or_nothing(feed, _COMPLETING)
        if more is None:
            return lambda rows: rows
        return lambda rows: [completion.complete(row, more) for row in rows]


@dataclass(frozen=True, slots=True)
class GetVerb:
    """One row with everything that is known of it."""

    resource: Resource
    name: str = "get"

    @property
    def help(self) -> str:
        """What it does."""
        return "print everything that is known of it" if self.resource.single else "print one"

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Which one, and in which form."""
        _add_parent(parser, self.resource)
        if not self.resource.single:
            called = "its identifier" if self.resource.by_id else _CALLED
            parser.add_argument("id", metavar="ID", help=called)
        if declaration(self.resource).scoped:
            parser.add_argument("--workspace", metavar="ID", help="look there: id, slug or name")
        add_reading_options(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it; returns an exit code."""
        connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

        async def work() -> int:
            async with reading_hub(connect) as hub:
                readings = CommandReadings(hub)
                row = await self._row(readings, arguments)
                self._show(row, arguments.output, hub.clock.now())
                return readings.exit_code

        return run_async(work)

    async def _row(self, readings: CommandReadings, arguments: argparse.Namespace) -> Any:
        spec = declaration(self.resource)
        scope = await read_scope(readings, self.resource, arguments)
        rows = await readings.value(spec.feed(readings.hub, scope))
        is_one = self.resource.single or self.resource.by_id
        row = rows[0] if is_one else find_row(spec, rows, arguments.id)
        completion = spec.completion
        if completion is None or arguments.output in _MACHINE:
            return row
        feed: Feed[Any] | None = completion.feed(readings.hub, scope)
        if completion.one is not None:
            feed = completion.one(readings.hub, row)
        more = None if feed is None else await readings.value_or_nothing(feed, _COMPLETING)
        if more is None:
            return row
        known = more if completion.one is None else {spec.identity(row): more}
        return completion.complete(row, known)

    def _show(self, row: Any, form: str, now: datetime) -> None:
        spec = declaration(self.resource)
        if form == "table":
            print_detail(spec, row, now)
        elif form == "csv":
            show_list([row], list_query(spec, None, None, None), form, now)
        elif form == "json":
            print_json(raw_object(spec, row))
        else:
            print_ndjson([raw_object(spec, row)])


async def read_scope(
    readings: CommandReadings, resource: Resource, arguments: argparse.Namespace
) -> Scope:
    """The scope that the arguments name. Raises CommandError and GatewayError."""
    workspace: str | None = None
    parent: str | None = arguments.id if resource.by_id else None
    named = getattr(arguments, "workspace", None)
    if named is not None:
        workspace = (await find_workspace(readings, named)).id
    if resource.parent is not None and arguments.parent is not None:
        parent = await find_parent(readings, resource.parent, arguments.parent)
    return Scope(workspace, parent)


def _counted(shown: int, every: int, spec: ResourceSpec[Any]) -> str:
    noun = spec.singular if shown == 1 else spec.plural or f"{spec.singular}s"
    return f"{shown} {noun}" if shown == every else f"{shown} {noun} of {every}"
