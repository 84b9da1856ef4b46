"""Bulk changes: several rows, one plan, one confirmation, a result for each row."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gwtui.cli import exits
from gwtui.cli.changes.change import ChangeContext, NothingToDoError
from gwtui.cli.changes.execute import (
    LOST,
    changes_json,
    confirm_plan,
    execute_one,
    plan_json,
    print_plan,
    result_json,
)
from gwtui.cli.command import Argument
from gwtui.cli.lists.selection import ListQuery, find_row, parse_query
from gwtui.cli.output import narrate, print_ndjson
from gwtui.crud.bulk import (
    BulkOperation,
    BulkPlan,
    BulkRun,
    LeftOut,
    LeftOutError,
    RowResult,
    left_out_lines,
    plan_many,
)
from gwtui.crud.plan import Confirmation, Outcome, Plan
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.crud.writes import declared_writes

if TYPE_CHECKING:
    from gwtui.cli.changes.command import DeclaredChange


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows to change: those that ``names`` name, or those that match the filter ``query``."""

    spec: ResourceSpec[Any]
    names: tuple[str, ...]
    query: ListQuery | None = None


FILTER = Argument(
    "--filter",
    metavar="QUERY",
    help="select all rows that match this filter; same syntax as in the dashboard",
)
"""The option that selects several rows."""


def row_selection(spec: ResourceSpec[Any], arguments: argparse.Namespace) -> RowSelection | None:
    """Return the selected rows; None for a single named row, which becomes ``arguments.id``.

    A filter always makes a bulk change, even with one row. Raises CommandError.
    """
    names: list[str] = [*arguments.id]
    if bool(names) == (arguments.filter is not None):
        either = "give names or ids, or --filter QUERY"
        raise exits.CommandError(f"{either}, not both" if names else either, exits.USAGE)
    if arguments.filter is not None:
        return RowSelection(spec, (), _query(spec, arguments.filter))
    if len(names) > 1:
        return RowSelection(spec, tuple(dict.fromkeys(names)))
    arguments.id = names[0]
    return None


def _query(spec: ResourceSpec[Any], text: str) -> ListQuery:
    query = parse_query(spec, text, strict=True)
    if query.query.is_empty:
        raise exits.CommandError(
            "--filter: the filter is empty and would match every row", exits.USAGE
        )
    return query


def reject_unique_fields(spec: ResourceSpec[Any], given: Mapping[str, Any]) -> None:
    """Raise CommandError if ``given`` sets a field that must be unique, such as a name."""
    unique = sorted(given.keys() & {*declared_writes(spec).called, "slug"})
    if unique:
        raise exits.CommandError(
            f"{unique[0]} must be unique: set it for one resource at a time", exits.USAGE
        )


# The plan ---------------------------------------------------------------------------------------


async def plan_selection(
    change: DeclaredChange, context: ChangeContext, chosen: RowSelection
) -> BulkPlan:
    """Plan a change of all selected rows.

    Raises CommandError for an unknown row, and GatewayError.
    """
    rows = await _rows(context, chosen)
    writes = declared_writes(chosen.spec)

    async def one(identity: str) -> Plan[Any]:
        try:
            return await change.plan(context.for_identity(identity))
        except NothingToDoError as nothing:
            raise LeftOutError(nothing.brief, already=True) from None
        except exits.CommandError as error:
            raise LeftOutError(str(error)) from None

    operation = BulkOperation(
        action=f"{writes.resource}.{change.name}",
        resource=writes.resource,
        verb=change.name.capitalize(),
        noun=writes.noun,
        plan=one,
        after=writes.delete.done if change.name == "delete" and writes.delete else "",
    )
    names = {chosen.spec.identity(row): writes.name(writes.of_row(row)) for row in rows}
    return await plan_many(operation, names)


async def _rows(context: ChangeContext, chosen: RowSelection) -> Sequence[Any]:
    spec, hub = chosen.spec, context.session.hub
    rows = await context.readings.value(spec.feed(hub, Scope()))
    if chosen.query is not None:
        completion = spec.completion
        if completion is not None:
            more = await context.readings.value(completion.feed(hub, Scope()))
            rows = [completion.complete(row, more) for row in rows]
        if context.readings.exit_code != exits.OK:
            raise exits.CommandError(
                "nothing was sent: the list is incomplete, so the filter may miss rows"
            )
        return chosen.query.apply(rows, context.now)
    named: list[Any] = []
    wrong = 0
    for name in chosen.names:
        try:
            named.append(find_row(spec, rows, name))
        except exits.CommandError as error:
            narrate(str(error))
            wrong += 1
    if wrong:
        raise exits.CommandError(
            f"nothing was sent: {wrong} of {len(chosen.names)} names match no single row"
        )
    return named


def bulk_json(bulk: BulkPlan) -> dict[str, Any]:
    """Return a bulk plan as JSON values, with the rows to change and the rows left out."""
    rows = [
        {**changes_json(part.plan), "identity": part.identity, "name": part.name}
        for part in bulk.parts
    ]
    return {
        **plan_json(bulk.plan),
        "rows": rows,
        "left_out": [_left_out_json(row) for row in bulk.left_out],
    }


def _left_out_json(skipped: LeftOut) -> dict[str, Any]:
    outcome = "already" if skipped.already else "not sent"
    return {
        "identity": skipped.identity,
        "name": skipped.name,
        "outcome": outcome,
        "why": skipped.why,
    }


# Execution --------------------------------------------------------------------------------------


class ManyChanges:
    """Confirms and executes a bulk plan."""

    def __init__(self, context: ChangeContext, bulk: BulkPlan) -> None:
        self._context = context
        self._bulk = bulk
        self._json = context.arguments.output == "json"
        self._reported = 0
        self._interrupted = False

    async def decide(self) -> int:
        """With ``--plan``, print the plan; else confirm and execute it. Returns an exit code."""
        bulk = self._bulk
        missing = [row for row in bulk.left_out if not row.already]
        if self._context.arguments.plan:
            print_plan(bulk.plan, bulk_json(bulk) if self._json else None)
            return exits.OK if bulk.parts or not missing else exits.FAILED
        if not bulk.parts:
            for line in bulk.plan.obstacles:
                narrate(line)
            if self._json:
                print_ndjson(_left_out_json(row) for row in bulk.left_out)
            why = "needs a request" if bulk.left_out else "matches"
            narrate(f"nothing to do: no {bulk.operation.noun} {why}")
            return exits.FAILED if missing else exits.OK
        agreed = await confirm_plan(bulk.plan, self._context)
        return exits.FAILED if agreed is None else await self._send(agreed)

    async def _send(self, agreed: Confirmation[tuple[Any, ...]]) -> int:
        for line in left_out_lines(self._bulk.left_out) if self._context.arguments.yes else ():
            narrate(line)
        run = BulkRun(self._bulk, agreed, self._send_one)
        self._run = run
        try:
            await run.run(self._report)
        except asyncio.CancelledError:
            # Between two requests, so none is in flight.
            self._interrupted = True
        return self._finish(run)

    async def _send_one(self, confirmation: Confirmation[Any]) -> Outcome[Any]:
        outcome, interrupted = await execute_one(self._context.session.executor, confirmation)
        if interrupted:
            self._interrupted = True
            self._run.stop()
        return outcome

    def _report(self) -> None:
        results = self._run.results
        while self._reported < len(results) and results[self._reported].status != "not sent":
            result = results[self._reported]
            self._reported += 1
            number = f"{self._reported} of {len(results)}"
            why = f": {result.why}" if result.why else ""
            narrate(f"{number}: {result.status}: {result.part.plan.title}{why}")
            if self._json:
                print_ndjson([_result(result)])

    def _finish(self, run: BulkRun) -> int:
        rest = run.with_status("not sent")
        if self._json:
            print_ndjson(_result(result) for result in rest)
            print_ndjson(_left_out_json(row) for row in self._bulk.left_out)
        for result in rest:
            narrate(f"not sent: {result.part.plan.title}")
        narrate(run.summary() if run.complete or not run.ended else f"{run.summary()}: {run.ended}")
        if run.lost is not None:
            narrate(LOST)
            return exits.UNKNOWN
        if self._interrupted:
            return exits.INTERRUPTED
        if run.complete and all(row.already for row in self._bulk.left_out):
            return exits.OK
        return exits.INCOMPLETE if run.applied else exits.FAILED


def _result(result: RowResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "identity": result.part.identity,
        "name": result.part.name,
        "outcome": result.status,
    }
    if result.outcome is not None:
        row |= result_json(result.part.plan, result.outcome)
    if result.status != "applied":
        row["why"] = result.why
    return row
