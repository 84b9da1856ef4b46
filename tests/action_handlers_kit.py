"""Runs the handlers of dashboard actions without a terminal, against the real embedded gateway."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
from pydantic import SecretStr

from declared_kit import SPECS, sample_of, values_of, verbs_of
from gwtui.cli.changes.change import ChangeContext
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.dialects import GENERIC
from gwtui.contract.request import RequestModel
from gwtui.crud.evidence import alike
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Confirmation, Plan, Refused
from gwtui.crud.undo import AppliedChange
from gwtui.crud.writes import Update, declared_writes
from gwtui.local.ledger import Ledger
from gwtui.resources.session import Session
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.form_state import to_typed
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.watch.hub import FeedHub, Scope
from writes_kit import CLOCK, NOW, FaultWorld


@dataclass
class Person:
    """A scripted user: what is typed into forms, and the answers to questions.

    ``meanwhile`` runs after a form is filled in and before it is sent, ``reading`` while the plan
    is shown.
    """

    types: Mapping[str, Any] = field(default_factory=dict)
    agrees: bool = True
    meanwhile: Callable[[], Awaitable[Any]] | None = None
    reading: Callable[[], Awaitable[Any]] | None = None
    plans: list[Plan[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    async def answer(self, screen: Any) -> Any:
        """Return what a modal screen dismisses with."""
        match screen:
            case FormScreen():
                return await self._fill_in(screen)
            case ConfirmScreen():
                self.plans.append(screen._plan)
                self.notes += screen._notes
                if self.reading is not None:
                    reading, self.reading = self.reading, None
                    await reading()
                return self.agrees
            case AskScreen():
                self.notices.append(f"{screen._question} {screen._text}")
                return False
        raise AssertionError(f"nobody expects a {type(screen).__name__}")

    async def _fill_in(self, form: FormScreen[Any]) -> Any:
        """Fill in the form and send it once; leave it if it is refused."""
        state = form.state
        for name, value in self.types.items():
            assert name in state.fields, f"the form has no field {name}"
            secret = isinstance(value, SecretStr)
            state.put(name, value if secret else to_typed(state.fields[name], value))
        if self.meanwhile is not None:
            await self.meanwhile()
        request = state.attempt()
        outcome = None if request is None else await form._outcome(request)
        if isinstance(outcome, Refused):
            state.refuse(outcome.error)
        problems = (state.problem(name) for name in state.fields)
        self.notices += [cell.text for cell in problems if cell is not None]
        self.notices.append(state.refusal)
        if outcome is not None and not isinstance(outcome, Applied | Refused):
            self.notices.append(outcome.error.message)
        return None if isinstance(outcome, Refused) else outcome

    @property
    def text(self) -> str:
        """All notices."""
        return "\n".join(self.notices)


class _Door(httpx.AsyncBaseTransport):
    """The transport to the gateway; keeps the write requests that pass through it."""

    def __init__(self, world: FaultWorld) -> None:
        self._inner = httpx.ASGITransport(world.gateway.asgi)
        self.writes: list[tuple[str, Any]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            content = await request.aread()
            body = json.loads(content, parse_float=Decimal) if content else None
            self.writes.append((request.method, body))
        return await self._inner.handle_async_request(request)


class ActionHarness:
    """One resource, the user who changes it, and a second administrator who changes it too."""

    def __init__(
        self, world: FaultWorld, resource: str, client: GatewayClient, door: _Door, folder: Path
    ) -> None:
        self.world = world
        self.spec = SPECS[resource]
        self.identity = sample_of(resource, world)
        self.client = client
        self.door = door
        self.person = Person()
        self.ledger = Ledger(folder / "audit.jsonl")
        self.executor = WriteExecutor(client, self.ledger, CLOCK)
        self.hub = FeedHub(client, CLOCK)
        self.row: Any = None
        self.writes = declared_writes(self.spec)
        self.spaces: list[str] = []
        self._workers: list[asyncio.Task[Any]] = []

    async def open(self, colleague: GatewayClient) -> None:
        """Select the row of the sample in its list."""
        self.colleague = colleague
        await self.reload()
        self.spaces = [one.id for one in (await colleague.workspaces.list()).items if one.id]

    async def reload(self) -> None:
        """Select the row of the sample again, with its current values."""
        listed = await self.spec.feed(self.hub, Scope()).refresh()
        declared = declared_writes(self.spec)
        rows = [
            row
            for row in listed.value or ()
            if declared.identity(declared.of_row(row)) == self.identity
        ]
        assert rows, f"the list of {self.spec.id} lacks the sample {self.identity}"
        self.row = rows[0]
        self.writes = declared.for_row(self.row, GENERIC)

    @property
    def session(self) -> SimpleNamespace:
        return SimpleNamespace(
            connection=self.client.connection,
            gateway=self.client,
            hub=self.hub,
            executor=self.executor,
            complete=_opened,
        )

    @property
    def context(self) -> ActionContext[Any]:
        screen: Any = SimpleNamespace(expect_gone=lambda _gone: None)
        app = SimpleNamespace(
            **vars(self.session),
            session=self.session,
            clock=CLOCK,
            local_zone=UTC,
            scope=Scope(),
            screen=screen,
            say=lambda text, **_: self.person.notices.append(text),
            push_screen_wait=self.person.answer,
            run_worker=self._run_worker,
        )
        return ActionContext(
            cast("GwtuiApp", app), self.spec, self.row, self.spec.identity(self.row), screen
        )

    def _run_worker(self, work: Coroutine[Any, Any, Any], **_options: Any) -> None:
        self._workers.append(asyncio.create_task(work))

    async def close(self) -> None:
        """Wait for the work that handlers started, then close the feeds."""
        await asyncio.gather(*self._workers)
        await self.hub.close()

    def command_line(self, given: Mapping[str, Any] | None = None) -> ChangeContext:
        """Return a command that names the sample and sets these values."""
        arguments = Namespace(id=self.identity, force=False)
        return ChangeContext(cast("Session", self.session), arguments, given or {}, NOW)

    @property
    def plan_context(self) -> PlanContext:
        return PlanContext(NOW)

    # What there is ------------------------------------------------------------------------------

    async def read(self) -> Any:
        """Read the sample as a second administrator."""
        return await self.writes.read(self.colleague, self.identity)

    async def known(self) -> dict[str, Any]:
        """Every declared field of the sample that the gateway reports."""
        resource = await self.read()
        return {
            name: value
            for name, value in self.writes.known(resource).items()
            if name in resource.raw
        }

    async def names(self) -> dict[str, str]:
        """Names by identifier, as plans show them."""
        spaces = (await self.colleague.workspaces.list()).items
        names = {workspace.id or "": workspace.name or "" for workspace in spaces}
        if self.writes.names is not None:
            names |= (await self.writes.names(self.hub).refresh()).value or {}
        return names

    async def count(self) -> int:
        """Number of resources of this kind."""
        return len((await self.writes.service(self.colleague).list()).items)

    def request(self, **values: Any) -> RequestModel:
        return self.writes.update.request.model_validate(values)

    async def others(self, name: str) -> list[Any]:
        """Return values of a field, in request format, that differ from the current one."""
        current = (await self.known()).get(name)
        candidates = values_of(self.writes.update.request, name, self)
        typed = [getattr(self.request(**{name: value}), name) for value in candidates]
        return [value for value in typed if not alike(value, current)]

    async def colleague_sets(self, **values: Any) -> None:
        await self.writes.service(self.colleague).update(self.identity, self.request(**values))

    async def colleague_deletes(self) -> None:
        fresh, context = await self.read(), self.plan_context
        related = await self.writes.read_related(self.colleague, fresh, context)
        plan = self.writes.plan_delete(fresh, context, related)
        assert plan.obstacles == ()
        await plan.send(self.colleague)

    # What is done -------------------------------------------------------------------------------

    @property
    def verbs(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """All verbs that the declaration allows, run as the dashboard runs them, forms included."""
        return {name: partial(self._do, name) for name in verbs_of(self.writes)}

    async def _do(self, name: str) -> None:
        try:
            await self._handle(name)
        except GatewayError as error:
            self.person.notices.append(error.message)

    async def _handle(self, name: str) -> None:
        further = {verb.action: verb for verb in self.writes.further}
        if name == "create":
            self.person.types = self.needed(self.writes.create.request)
            await crud.create(self.context)
        elif name == "edit":
            if not self.person.types:
                field = self.writes.fields.editable[0]
                self.person.types = {field: (await self.others(field))[0]}
            await crud.edit(self.context)
        elif name in further:
            self.person.types = self.given(further[name])
            await crud.change(name, self.context)
        else:
            await {"toggle": crud.toggle, "delete": crud.delete}[name](self.context)

    def needed(self, model: type[RequestModel]) -> dict[str, Any]:
        """A value for every required field of a request."""
        required = (name for name, field in model.model_fields.items() if field.is_required())
        return {name: values_of(model, name, self)[0] for name in required}

    def given(self, verb: Update) -> dict[str, Any]:
        """A value for every field that a verb changes."""
        return {name: values_of(verb.request, name, self)[0] for name in verb.fields}

    async def undo(self) -> AppliedChange:
        """Undo the last change with a plan."""
        change = self.executor.undo.latest()
        assert change is not None, "the last change cannot be undone"
        plan = await self.executor.undo.plan(self.client, change)
        assert plan.obstacles == ()
        assert (plan.title, plan.undoes, plan.undo) == (
            f"Undo: {change.title}",
            change.parts[0].plan_id,
            None,
        )
        assert plan.changes or plan.danger == "high", "the undo plan is empty"
        outcome = await self.executor.execute(Confirmation(plan, "dialog"))
        assert isinstance(outcome, Applied), outcome
        assert next(self.ledger.entries()).undoes == change.parts[0].plan_id
        return change

    @property
    def events(self) -> list[str]:
        """Entries of the ledger."""
        return [entry.outcome for entry in self.ledger.entries()][::-1]


async def _opened() -> None: ...


async def distinct(desk: ActionHarness) -> tuple[str, list[Any]] | None:
    """Return a field with two values that differ from the current one; None if no field has two."""
    for name in desk.writes.fields.editable:
        others = await desk.others(name)
        if len(others) > 1:
            return name, others
    return None


@asynccontextmanager
async def action_harness(
    world: FaultWorld, resource: str, folder: Path, *, read_only: bool = False
) -> AsyncIterator[ActionHarness]:
    """A harness with the sample's row selected, on an unchanged gateway."""
    world.begin()
    door = _Door(world)
    where = Connection("http://localhost", token=world.token, read_only=read_only)
    other = Connection("http://localhost", token=world.token)
    through = Transport(where, clock=CLOCK, http=door)
    beside = Transport(other, clock=CLOCK, http=httpx.ASGITransport(world.gateway.asgi))
    async with (
        GatewayClient(where, clock=CLOCK, transport=through) as client,
        GatewayClient(other, clock=CLOCK, transport=beside) as colleague,
    ):
        desk = ActionHarness(world, resource, client, door, folder)
        try:
            await desk.open(colleague)
            yield desk
        finally:
            await desk.close()
