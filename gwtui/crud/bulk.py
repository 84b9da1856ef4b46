"""Bulk operations: one plan for many resources, then one request after the other.

Resources are named by identity. Each one is read for the plan and again right before its request;
the request is not sent if the resource changed in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from gwtui.client.errors import (
    ConnectFailedError,
    GatewayError,
    NotFoundError,
    NotSentError,
    RateLimitedError,
    UnauthorizedError,
)
from gwtui.crud.plan import (
    Applied,
    Change,
    Confirmation,
    Outcome,
    Plan,
    Refused,
    Unknown,
    bundle,
)
from gwtui.crud.plan_text import conflict_lines, count, several
from gwtui.domain.diffs import ABSENT, same, three_way

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.contract.request import RequestModel
    from gwtui.crud.fields import PlanContext
    from gwtui.crud.writes import Writes

AT_ONCE = 4
"""Number of resources that are read concurrently for a plan."""
_NAMED = 8
"""Maximum number of resources named on one line; any others are only counted."""

_OF_ALL = (ConnectFailedError, UnauthorizedError, RateLimitedError, NotSentError)
"""Errors that the next requests would meet as well."""

BulkStatus = Literal["applied", "refused", "unknown", "not sent"]


class LeftOutError(Exception):
    """Raised to skip a resource; the message says why.

    ``already``: the resource is already in the requested state.
    """

    def __init__(self, why: str, *, already: bool = False) -> None:
        super().__init__(why)
        self.already = already


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOperation:
    """The operation that a bulk change performs on each resource.

    ``verb`` starts the title ("Disable"); ``noun`` is the singular name of the resource. ``plan``
    reads one resource and plans its request; it raises LeftOutError and GatewayError. ``again``
    plans the same request right before it is sent, without the reads that only inform the user;
    None uses ``plan``. ``after`` is the new value displayed for a request that sets no field:
    "deleted".
    """

    action: str
    resource: str
    verb: str
    noun: str
    plan: Callable[[str], Awaitable[Plan[Any]]]
    again: Callable[[str], Awaitable[Plan[Any]]] | None = None
    after: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A skipped resource and the reason. ``already``: it is already in the requested state."""

    identity: str
    name: str
    why: str
    already: bool = False
    error: GatewayError | None = None
    """The error if the resource could not be read."""


@dataclass(frozen=True, slots=True)
class BulkPart:
    """One request of a bulk plan, with the identity and the name of its resource."""

    identity: str
    name: str
    plan: Plan[Any]


@dataclass(frozen=True, slots=True)
class BulkPlan:
    """A bulk change.

    The user confirms ``plan``, which shows everything; then the requests of ``parts`` are sent.
    """

    operation: BulkOperation
    plan: Plan[tuple[Any, ...]]
    parts: tuple[BulkPart, ...]
    left_out: tuple[LeftOut, ...]


class BulkWrites:
    """Builds the bulk operations of a resource: disable or enable, delete, change.

    All mappings are by identity: ``declared`` has the write declaration of each resource, ``known``
    its row as last listed, and ``skip_reasons`` why a resource must be skipped.
    """

    def __init__(
        self,
        client: GatewayClient,
        declared: Mapping[str, Writes[Any]],
        known: Mapping[str, Any],
        context: PlanContext,
        skip_reasons: Mapping[str, str] | None = None,
    ) -> None:
        self._client = client
        self.declared = declared
        self.known = known
        self._at = context
        self._skip_reasons = skip_reasons or {}
        self.writes = next(iter(declared.values()))
        """One of the declarations, for what all of them have in common."""

    def switch(self, disabled: bool) -> BulkOperation:
        """Return the operation that disables or enables the resources."""

        async def plan(identity: str, *, with_related: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            if fresh.disabled is disabled:
                raise LeftOutError(
                    "disabled already" if disabled else "enabled already", already=True
                )
            related = (
                await writes.read_related(self._client, fresh, self._at)
                if disabled and with_related
                else None
            )
            return writes.plan_switch(fresh, disabled, self._at, related)

        return self._operation("toggle", "Disable" if disabled else "Enable", plan)

    def delete(self) -> BulkOperation:
        """Return the operation that deletes the resources."""
        deletion = self.writes.delete

        async def plan(identity: str, *, with_related: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            related = (
                await writes.read_related(self._client, fresh, self._at) if with_related else None
            )
            return writes.plan_delete(fresh, self._at, related)

        return self._operation(
            "delete", "Delete", plan, after="" if deletion is None else deletion.done
        )

    def change(self, request: RequestModel) -> BulkOperation:
        """Return the operation that sets the fields of ``request`` on the resources.

        Resources that somebody else changed since they were listed are skipped.
        """
        given = {name: getattr(request, name) for name in request.model_fields_set}

        async def plan(identity: str, *, with_related: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            now, was = writes.known(fresh), writes.known(self.known[identity])
            merged = three_way(was, given, now)
            if merged.conflicts:
                fields = writes.fields
                lines = conflict_lines(
                    merged.conflicts, fields.labels, fields.formatter(self._at), "unknown"
                )
                raise LeftOutError(f"somebody changed it since: {'; '.join(lines)}")
            missing = {
                name: value
                for name, value in given.items()
                if not same(now.get(name, ABSENT), value)
            }
            if not missing:
                raise LeftOutError("like this already", already=True)
            uses = await writes.uses(self._client, fresh, self._at) if with_related else ()
            return writes.plan_update(fresh, type(request).model_validate(missing), self._at, uses)

        return self._operation("edit", "Change", plan)

    async def _read(self, identity: str) -> tuple[Writes[Any], Any]:
        if identity in self._skip_reasons:
            raise LeftOutError(self._skip_reasons[identity])
        writes = self.declared[identity]
        return writes, await writes.read(self._client, identity)

    def _operation(self, action: str, verb: str, plan: Any, after: str = "") -> BulkOperation:
        async def again(identity: str) -> Plan[Any]:
            replanned: Plan[Any] = await plan(identity, with_related=False)
            return replanned

        return BulkOperation(
            action=f"{self.writes.resource}.{action}",
            resource=self.writes.resource,
            verb=verb,
            noun=self.writes.noun,
            plan=plan,
            again=again,
            after=after,
        )


async def plan_many(
    operation: BulkOperation, names: Mapping[str, str], hidden: int = 0
) -> BulkPlan:
    """Read each resource, plan its request, and return the bulk plan.

    ``names`` maps the identities of the resources to display names, in sending order. ``hidden`` is
    the number of these resources that a filter hides from the user. Never raises GatewayError: a
    resource that cannot be read is skipped.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(identity: str, name: str) -> BulkPart | LeftOut:
        async with turns:
            return await _part(operation.plan, identity, name)

    results = await asyncio.gather(*(one(identity, name) for identity, name in names.items()))
    parts = tuple(result for result in results if isinstance(result, BulkPart))
    left_out = tuple(result for result in results if isinstance(result, LeftOut))
    return BulkPlan(operation, _shown(operation, parts, left_out, hidden), parts, left_out)


async def _part(
    plan_one: Callable[[str], Awaitable[Plan[Any]]], identity: str, name: str
) -> BulkPart | LeftOut:
    try:
        plan = await plan_one(identity)
    except LeftOutError as reason:
        return LeftOut(identity, name, str(reason), reason.already)
    except NotFoundError:
        return LeftOut(identity, name, "no longer exists")
    except GatewayError as error:
        return LeftOut(identity, name, f"could not be read: {error.message}", error=error)
    if plan.obstacles:
        return LeftOut(identity, name, " ".join(plan.obstacles))
    return BulkPart(identity, name, plan)


def _shown(
    operation: BulkOperation, parts: Sequence[BulkPart], left_out: Sequence[LeftOut], hidden: int
) -> Plan[tuple[Any, ...]]:
    title = f"{operation.verb} {count(len(parts or left_out), operation.noun)}"
    plan = bundle(
        title,
        [part.plan for part in parts],
        action=parts[0].plan.action if parts else operation.action,
        resource=operation.resource,
        identity=None,
    )
    hidden_line = (f"{hidden} of those marked are hidden by the filter.",) if hidden else ()
    return replace(
        plan,
        changes=tuple(change for part in parts for change in _changes_of(part, operation.after)),
        effects=(
            *hidden_line,
            *left_out_lines(left_out),
            *_by_name([(part.name, part.plan.effects) for part in parts]),
        ),
        warnings=_by_name([(part.name, part.plan.warnings) for part in parts]),
        obstacles=() if parts else left_out_lines(left_out),
    )


def _changes_of(part: BulkPart, after: str) -> tuple[Change, ...]:
    changes = part.plan.changes
    if not changes:
        return (Change(part.name, None, after or part.plan.title),)
    if len(changes) == 1:
        return (replace(changes[0], field=part.name),)
    return tuple(replace(change, field=f"{part.name} · {change.field}") for change in changes)


def _by_name(lines: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    every = dict.fromkeys(line for _, part in lines for line in part)
    common = [line for line in every if all(line in part for _, part in lines)]
    rest = [f"{name}: {line}" for name, part in lines for line in part if line not in common]
    return (*common, *rest)


def left_out_lines(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """Return sentences about the skipped resources, one for each reason."""
    reasons: dict[str, list[str]] = {}
    for skipped in left_out:
        reasons.setdefault(skipped.why.rstrip("."), []).append(skipped.name)
    return tuple(f"Left out, {why}: {several(names, _NAMED)}." for why, names in reasons.items())


@dataclass(slots=True)
class RowResult:
    """The status of one request; ``why`` explains "refused" and "unknown"."""

    part: BulkPart
    status: BulkStatus = "not sent"
    why: str = ""
    outcome: Outcome[Any] | None = None


Send = Callable[[Confirmation[Any]], Awaitable[Outcome[Any]]]


@dataclass(slots=True)
class BulkRun:
    """Sends the confirmed requests one by one, each at most once.

    ``send`` sends one request through the executor. A refused request does not stop the run unless
    the next ones would be refused as well: no connection, unauthorized, rate limited or read-only.
    A lost response stops the run.
    """

    bulk: BulkPlan
    confirmation: Confirmation[tuple[Any, ...]]
    send: Send
    results: list[RowResult] = field(init=False)
    current: RowResult | None = None
    """The resource whose request is in flight."""
    ended: str = ""
    """Why the run ended early; empty if it did not."""
    _stop: bool = False

    def __post_init__(self) -> None:
        self.results = [RowResult(part) for part in self.bulk.parts]

    def stop(self) -> None:
        """Stop after the request in flight."""
        self._stop = True

    async def run(self, on_progress: Callable[[], None] = lambda: None) -> None:
        """Send the remaining requests; ``on_progress`` is called before and after each one.

        After ``stop``, another call continues with the next request. After a lost response, it
        does nothing.
        """
        if any(result.status == "unknown" for result in self.results):
            return
        self._stop, self.ended = False, ""
        confirmations = {
            confirmation.plan.id: confirmation for confirmation in self.confirmation.each()
        }
        for result in self.results:
            if result.status != "not sent":
                continue
            if self._stop:
                self.ended = "stopped"
                break
            self.current = result
            on_progress()
            await self._send(result, confirmations[result.part.plan.id])
            self.current = None
            on_progress()
            if self.ended:
                break
        on_progress()

    async def _send(self, result: RowResult, confirmation: Confirmation[Any]) -> None:
        part = result.part
        now = await _part(
            self.bulk.operation.again or self.bulk.operation.plan, part.identity, part.name
        )
        if isinstance(now, LeftOut):
            result.status, result.why = "refused", f"not sent: {now.why}"
            return
        if _request(now.plan) != _request(part.plan):
            result.status, result.why = (
                "refused",
                "not sent: it was changed since the plan was made",
            )
            return
        result.outcome = outcome = await self.send(confirmation)
        match outcome:
            case Applied():
                result.status = "applied"
            case Refused(error):
                result.status, result.why = "refused", error.message
                if isinstance(error, _OF_ALL):
                    self.ended = error.message
            case Unknown(error):
                result.status, result.why = "unknown", error.message
                self.ended = "stopped because an outcome is unknown"

    def with_status(self, *statuses: BulkStatus) -> list[RowResult]:
        """Return the results whose status is one of ``statuses``."""
        return [result for result in self.results if result.status in statuses]

    @property
    def lost(self) -> RowResult | None:
        """The result whose response was lost; None if there is none."""
        return next(iter(self.with_status("unknown")), None)

    @property
    def complete(self) -> bool:
        """Whether every request was applied."""
        return len(self.with_status("applied")) == len(self.results)

    @property
    def applied(self) -> list[tuple[BulkPart, Any]]:
        """Applied parts, each with the gateway's response."""
        return [
            (result.part, result.outcome.value)
            for result in self.results
            if isinstance(result.outcome, Applied)
        ]

    def summary(self) -> str:
        """Return the number of results by status: "2 applied, 1 refused, 3 not sent"."""
        statuses: tuple[BulkStatus, ...] = ("applied", "refused", "unknown", "not sent")
        counts = [(len(self.with_status(status)), status) for status in statuses]
        return ", ".join(f"{number} {status}" for number, status in counts if number)


def _request(plan: Plan[Any]) -> tuple[Any, ...]:
    return plan.action, dict(plan.summary), dict(plan.before)
