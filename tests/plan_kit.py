"""Tests of plans: a client that records what is sent, and plans as plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, cast

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import FormContext
from gwtui.crud.plan import Plan
from gwtui.watch.hub import FeedHub

MOMENT = datetime(2026, 10, 1, 12, tzinfo=UTC)


class Recorder:
    """Replaces the client: each call is recorded as (service.method, arguments)."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def __getattr__(self, service: str) -> _Service:
        return _Service(self, service)


class _Service:
    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder = recorder
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[None]]:
        async def call(*arguments: Any, **options: Any) -> None:
            plain = [
                item.wire_body() if isinstance(item, RequestModel) else item for item in arguments
            ]
            end = (options,) if options else ()
            self._recorder.sent.append((f"{self._name}.{method}", *plain, *end))

        return call


async def single_request(plan: Plan[Any]) -> tuple[Any, ...]:
    """The single request that a plan sends, as (service.method, arguments)."""
    recorder = Recorder()
    await plan.send(cast("GatewayClient", recorder))
    (request,) = recorder.sent
    return request


def changes(plan: Plan[Any]) -> dict[str, tuple[str | None, str | None]]:
    """Field -> before and after, as displayed."""
    return {change.field: (change.before, change.after) for change in plan.changes}


def text_of_plan(plan: Plan[Any]) -> str:
    """All text that a plan displays or stores in the ledger."""
    return "\n".join(
        [
            plan.title,
            repr(plan),
            *plan.effects,
            *plan.obstacles,
            *(f"{change.field} {change.before} {change.after}" for change in plan.changes),
            repr(plan.summary),
        ]
    )


class _Nowhere:
    """A client that cannot read anything, so that fields offer no choices."""

    def __getattr__(self, _name: str) -> _Nowhere:
        return self

    async def __call__(self, *_arguments: Any, **_options: Any) -> None:
        raise GatewayError("there is no gateway")


def form_context(
    now: datetime = MOMENT, workspace: str | None = None, dialect: Dialect = GENERIC
) -> FormContext:
    """A form context without choices from the gateway."""
    client = cast("GatewayClient", _Nowhere())
    return FormContext(FeedHub(client), client, dialect, now, workspace)
