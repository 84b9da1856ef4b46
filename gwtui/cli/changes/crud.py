"""The verbs create, update, disable, enable and delete of all declared resources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gwtui.cli.changes.change import ChangeContext, NothingToDoError, invalid_values
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.command import Argument, Command
from gwtui.contract.request import Problem
from gwtui.contract.usage import FeedbackRequest
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.resource import ResourceSpec
from gwtui.crud.writes import Update, Writes, declared_writes
from gwtui.resources.entries import RegistryEntry
from gwtui.resources.generations import plan_feedback
from gwtui.resources.registry import SPECS, import_object


def resource_changes(resource: RegistryEntry) -> Iterable[DeclaredChange | Command]:
    """Return the verbs that change a resource, from its own module or from its declaration."""
    if resource.changes:
        declared: Iterable[DeclaredChange | Command] = import_object(resource.changes)
        return declared
    spec = SPECS[resource.id]
    return () if spec.writes is None else declared_changes(spec)


def change_commands(resource: RegistryEntry) -> Iterator[Command]:
    """Yield the verbs that change a resource, as commands."""
    for change in resource_changes(resource):
        yield change if isinstance(change, Command) else change.command()


def row_operand(spec: ResourceSpec[Any], *, several: bool = False) -> Argument:
    """Return the operand that names one row of a list, or ``several`` rows."""
    nargs, help = "*" if several else None, declared_writes(spec).operand
    return Argument("id", metavar="ID", nargs=nargs, kind=spec.id, help=help)


def declared_changes(
    spec: ResourceSpec[Any],
    *,
    delete: Callable[[ChangeContext], Awaitable[Plan[Any]]] | None = None,
    deletes_with: tuple[Argument, ...] = (),
    notes: tuple[str, ...] = (),
) -> Iterator[DeclaredChange]:
    """Yield a verb for each change that the resource declares: create, update, delete and so on.

    ``delete`` replaces the function that plans deletions, ``deletes_with`` are further arguments
    of the verb delete, and ``notes`` are lines of help for the verb create.
    """
    writes, verbs = declared_writes(spec), _Verbs(spec)
    rows = (row_operand(spec, several=True),) if writes.operand else ()
    many = spec if writes.operand else None
    if writes.create is not None:
        yield DeclaredChange(
            "create",
            writes.create.help,
            verbs.create,
            model=writes.create.request,
            secret=writes.create.secret,
            creates=True,
            notes=notes,
        )
    for update in (*filter(None, (writes.update,)), *writes.further):
        yield DeclaredChange(
            update.command,
            update.help,
            partial(verbs.update, update),
            (row_operand(spec),) if update.secret else rows,
            update.request,
            update.fields or writes.fields.editable,
            secret=update.secret,
            many=None if update.secret else many,
        )
    if writes.switch is not None:
        for name, help, disabled in (
            ("disable", writes.switch.disable_help, True),
            ("enable", writes.switch.enable_help, False),
        ):
            yield DeclaredChange(name, help, partial(verbs.switch, disabled), rows, many=many)
    if writes.delete is not None:
        takes = (*rows, *deletes_with)
        yield DeclaredChange("delete", writes.delete.help, delete or verbs.delete, takes, many=many)


class _Verbs:
    """Plans declared changes from the given values and a fresh reading."""

    def __init__(self, spec: ResourceSpec[Any]) -> None:
        self._spec = spec
        self._writes: Writes[Any] = declared_writes(spec)

    async def create(self, context: ChangeContext) -> Plan[Any]:
        creation = self._writes.create
        if creation is None:
            raise TypeError(f"{self._spec.id} cannot be created")
        request = await context.request(creation.request)
        writes = self._writes.for_row(None, context.dialect)
        _refuse(writes.check(request, context.dialect))
        warning = await creation.gateway_warning(context.session.hub, request)
        names = await context.workspace_names(default=True)
        return writes.plan_create(request, plan_context(context, names), warning)

    async def update(self, verb: Update, context: ChangeContext) -> Plan[Any]:
        writes, fresh = await self._named(context)
        request = await context.update(verb.request, writes.known(fresh) if not verb.secret else {})
        _refuse(writes.check(request, context.dialect))
        at = plan_context(context, await self._names(context, verb))
        uses = await writes.uses(context.gateway, fresh, at)
        return writes.plan_update(fresh, request, at, uses, verb=verb)

    async def switch(self, disabled: bool, context: ChangeContext) -> Plan[Any]:
        writes, fresh = await self._named(context)
        if fresh.disabled is disabled:
            already = f"already {'disabled' if disabled else 'enabled'}"
            raise NothingToDoError(f"{writes.noun} {writes.name(fresh)} is {already}", already)
        at = plan_context(context)
        related = await writes.read_related(context.gateway, fresh, at) if disabled else None
        return writes.plan_switch(fresh, disabled, at, related)

    async def delete(self, context: ChangeContext) -> Plan[Any]:
        (writes, fresh), at = await self._named(context), plan_context(context)
        return writes.plan_delete(fresh, at, await writes.read_related(context.gateway, fresh, at))

    async def _named(self, context: ChangeContext) -> tuple[Writes[Any], Any]:
        spec, row, identity = self._spec, None, ""
        if self._writes.by_row:
            row = await context.row(spec, context.arguments.id)
            identity = spec.identity(row)
        elif self._writes.operand:
            identity = await context.identity(spec, context.arguments.id)
        writes = self._writes.for_row(row, context.dialect)
        return writes, await writes.read(context.gateway, identity)

    async def _names(self, context: ChangeContext, verb: Update) -> Mapping[str, str]:
        scoped = "workspace_id" in verb.request.model_fields
        names = await context.workspace_names() if scoped else {}
        feed = self._writes.names
        further = None if feed is None else (await feed(context.session.hub).refresh()).value
        return {**names, **(further or {})}


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        raise invalid_values(problems)


def plan_context(context: ChangeContext, names: Mapping[str, str] | None = None) -> PlanContext:
    """Return the context that plans are made in; ``names`` maps identifiers to names."""
    return PlanContext(context.now, names or {}, context.dialect)


async def _feedback(context: ChangeContext) -> Plan[None]:
    return plan_feedback(await context.request(FeedbackRequest), plan_context(context))


GENERATION = (
    DeclaredChange(
        "feedback",
        "report a problem with a generation",
        _feedback,
        (Argument("generation_id", help="id of the generation"),),
        FeedbackRequest,
        ("category", "comment"),
    ),
)
