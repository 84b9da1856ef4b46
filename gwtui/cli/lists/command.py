"""The verbs of a resource: ``list``, ``get``, and its special verbs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

from gwtui.cli.command import COLUMNS, DEMO, ROWS_OUTPUT, Argument, Command, sentence
from gwtui.cli.lists.selection import (
    CommandReadings,
    ListQuery,
    find_parent,
    find_row,
    find_workspace,
    list_query,
    parse_query,
)
from gwtui.cli.lists.show import STREAMED_FORMS, BatchPrinter, print_detail, show_list
from gwtui.cli.output import MACHINE_FORMS, narrate, print_json, print_ndjson
from gwtui.cli.target import reading_hub, resolve_connection, run_async
from gwtui.crud.export import raw_object, with_id
from gwtui.crud.resource import ResourceSpec, Scope, filter_kinds
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.paths import Paths
from gwtui.resources.entries import RegistryEntry
from gwtui.resources.known_names import store_names
from gwtui.resources.registry import SPECS, import_object

_OPERAND = "id, unique beginning of an id, or name"
_COMPLETING = "some columns"
Rows = Sequence[Any]


def resource_command(resource: RegistryEntry, verb: str = "") -> Command:
    """Return the command of a resource with its verbs.

    If ``verb`` only reads the resource, the verbs that change it are not loaded, to save time.
    """
    reading = (
        [get_command(resource)]
        if resource.by_id
        else [list_command(resource), get_command(resource)]
    )
    verbs = {command.name: command for command in reading}
    if resource.reads:
        verbs |= {command.name: command for command in import_object(resource.reads)}
    if verb not in verbs and (resource.changes or SPECS[resource.id].writes is not None):
        from gwtui.cli.changes.crud import change_commands  # noqa: PLC0415 - reading needs none

        verbs |= {command.name: command for command in change_commands(resource)}
    return Command(
        resource.id,
        resource.help,
        verbs=tuple(verbs.values()),
        about=f"{sentence(resource.help)} Without a verb, opens its screen of the dashboard.",
    )


def _parent_argument(resource: RegistryEntry) -> Iterator[Argument]:
    if resource.of is None:
        return
    help, kind = f"id or name of the {resource.of}", f"{resource.of}s"
    if resource.any_of:
        name = f"--{resource.of}"
        yield Argument(name, dest="parent", metavar="ID", kind=kind, help=help)
    else:
        yield Argument("parent", metavar=resource.of.upper(), kind=kind, help=help)


def _workspace_argument(spec: ResourceSpec[Any], help: str) -> Iterator[Argument]:
    if spec.scoped:
        yield Argument("--workspace", metavar="ID", kind="workspaces", help=help)


# List -------------------------------------------------------------------------------------------


def list_command(resource: RegistryEntry) -> Command:
    """Return the verb that lists all rows, or those that match a filter."""
    spec = SPECS[resource.id]
    return Command(
        "list",
        f"{'print' if resource.single else 'list'} {resource.help or resource.id}",
        partial(run_list, resource),
        (
            *_parent_argument(resource),
            *_workspace_argument(spec, "only this workspace: id, slug or name"),
            *query_arguments(spec),
            DEMO,
        ),
        notes=columns_help(spec),
    )


def query_arguments(spec: ResourceSpec[Any]) -> tuple[Argument, ...]:
    """Return the options of a list: filter, sort order, columns and output format."""
    columns = [column.id for column in with_id(spec, spec.columns)]
    return (
        Argument(
            "--filter",
            metavar="QUERY",
            offers=(f"{name}:" for name in filter_kinds(spec.columns, spec.facets)),
            help="only rows that match this filter, as in the dashboard",
        ),
        Argument("--sort", metavar="COLUMN[:desc]", offers=columns, help="sort order of the rows"),
        Argument(*COLUMNS.names, help=COLUMNS.help, offers=columns, **COLUMNS.settings),
        ROWS_OUTPUT,
    )


def columns_help(spec: ResourceSpec[Any]) -> str:
    """Return the help on the columns, one line each."""
    columns = with_id(spec, spec.columns)
    width = max(len(column.id) for column in columns)
    return "\n".join(
        ["columns:", *(f"  {column.id:<{width}}  {column.help}" for column in columns)]
    )


def print_local_rows(spec: ResourceSpec[Any], rows: Rows, arguments: argparse.Namespace) -> None:
    """Print rows from this machine, filtered and sorted according to ``query_arguments``."""
    now, query = SYSTEM_CLOCK.now(), list_query(spec, arguments)
    shown = query.apply(rows, now)
    narrate(_counted(len(shown), len(rows), spec))
    show_list(shown, query, arguments.output, now)


def run_list(
    resource: RegistryEntry,
    arguments: argparse.Namespace,
    *,
    chosen: Callable[[Rows, CommandReadings], Rows] = lambda rows, _readings: rows,
    exit_code: Callable[[Rows, Rows, int], int] | None = None,
) -> int:
    """Print the rows of a list; returns an exit code.

    ``chosen`` selects rows before the filter of the command line is applied. ``exit_code``
    computes the exit code from the rows before that filter, the printed rows, and the exit code of
    reading the list; without it, the latter is returned.
    """
    spec = SPECS[resource.id]
    query = list_query(spec, arguments)
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())
    form: str = arguments.output

    async def work() -> int:
        async with reading_hub(connect) as hub:
            readings = CommandReadings(hub)
            scope = await read_scope(readings, resource, arguments)
            prints_columns = form not in MACHINE_FORMS
            brief = resource.brief or not query.needs_completion(prints_columns=prints_columns)

            async def prepare() -> Callable[[Rows], Rows]:
                complete = await _completing(spec, readings, scope, brief=brief)
                return lambda rows: complete(chosen(rows, readings))

            if form in STREAMED_FORMS and not query.ordered and exit_code is None:
                rows = await _print_batches(query, scope, readings, form, prepare)
                code = readings.exit_code
            else:
                rows = await readings.value(spec.feed(hub, scope))
                rows = (await prepare())(rows)
                shown = query.apply(rows, hub.clock.now())
                if form == "table":
                    narrate(_counted(len(shown), len(rows), spec))
                show_list(shown, query, form, hub.clock.now())
                code = readings.exit_code
                code = code if exit_code is None else exit_code(rows, shown, code)
            if scope == Scope():
                store_names(hub.connection, spec, rows)
            return code

    return run_async(work)


async def _print_batches(
    query: ListQuery,
    scope: Scope,
    readings: CommandReadings,
    form: str,
    prepare: Callable[[], Awaitable[Callable[[Rows], Rows]]],
) -> Rows:
    prepared = await prepare()
    printer = BatchPrinter(query, form, readings.hub.clock)
    await printer.print_all(readings.batches(lambda hub: query.spec.feed(hub, scope)), prepared)
    return printer.first


async def _completing(
    spec: ResourceSpec[Any], readings: CommandReadings, scope: Scope, *, brief: bool
) -> Callable[[Rows], Rows]:
    completion = spec.completion
    if completion is None or brief:
        return lambda rows: rows
    feed = completion.feed(readings.hub, scope)
    more = await readings.value_or_nothing(feed, _COMPLETING)
    if more is None:
        return lambda rows: rows
    return lambda rows: [completion.complete(row, more) for row in rows]


def _counted(shown: int, every: int, spec: ResourceSpec[Any]) -> str:
    noun = spec.singular if shown == 1 else spec.plural or f"{spec.singular}s"
    return f"{shown} {noun}" if shown == every else f"{shown} {noun} of {every}"


# Get --------------------------------------------------------------------------------------------


def get_command(resource: RegistryEntry) -> Command:
    """Return the verb that prints one row in full."""
    spec = SPECS[resource.id]
    called = "identifier" if resource.by_id else _OPERAND
    kind = "" if resource.by_id else resource.id
    operand = () if resource.single else (Argument("id", metavar="ID", kind=kind, help=called),)
    return Command(
        "get",
        f"print all fields of {resource.help}"
        if resource.single
        else f"print all fields of one {spec.singular}",
        partial(run_get, resource),
        (
            *_parent_argument(resource),
            *operand,
            *_workspace_argument(spec, "look in this workspace: id, slug or name"),
            ROWS_OUTPUT,
            DEMO,
        ),
    )


def run_get(resource: RegistryEntry, arguments: argparse.Namespace) -> int:
    """Print one row; returns an exit code."""
    spec, form = SPECS[resource.id], arguments.output
    connect = resolve_connection(arguments, Paths.of_user(), may_ask=sys.stdin.isatty())

    async def work() -> int:
        async with reading_hub(connect) as hub:
            readings = CommandReadings(hub)
            scope = await read_scope(readings, resource, arguments)
            rows = await readings.value(spec.feed(hub, scope))
            is_one = resource.single or resource.by_id
            row = rows[0] if is_one else find_row(spec, rows, arguments.id)
            if form not in MACHINE_FORMS:
                row = await _completed(spec, row, readings, scope)
            now = hub.clock.now()
            if form == "table":
                print_detail(spec, row, now)
            elif form == "csv":
                show_list([row], parse_query(spec), form, now)
            else:
                raw = raw_object(spec, row)
                print_json(raw) if form == "json" else print_ndjson([raw])
            return readings.exit_code

    return run_async(work)


async def _completed(
    spec: ResourceSpec[Any], row: Any, readings: CommandReadings, scope: Scope
) -> Any:
    completion = spec.completion
    if completion is None or completion.row_feed is None:
        return (await _completing(spec, readings, scope, brief=False))([row])[0]
    feed = completion.row_feed(readings.hub, row)
    more = None if feed is None else await readings.value_or_nothing(feed, _COMPLETING)
    return row if more is None else completion.complete(row, {spec.identity(row): more})


async def read_scope(
    readings: CommandReadings, resource: RegistryEntry, arguments: argparse.Namespace
) -> Scope:
    """Return the workspace and the parent that the arguments name.

    Raises CommandError and GatewayError.
    """
    workspace: str | None = None
    parent: str | None = arguments.id if resource.by_id else None
    named = getattr(arguments, "workspace", None)
    if named is not None:
        workspace = (await find_workspace(readings, named)).id
    if resource.of is not None and arguments.parent is not None:
        parent = await find_parent(readings, resource.of, arguments.parent)
    return Scope(workspace, parent)
