"""Findings: reads the data of the account that the rules need, and evaluates them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.domain.alert_rules import AlertRule
from gwtui.domain.findings import (
    UNUSED_DAYS,
    AccountFacts,
    AccountFinding,
    AccountGuardrail,
    Part,
    UnreadPart,
    find,
)
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.feeds.guardrails import GuardrailRow, guardrail_by_holder, read_guardrails
from gwtui.watch.hub import ACCOUNT_FEEDS, FeedHub, FeedReader, FeedSpec, Scope
from gwtui.watch.reads import (
    PEOPLE,
    BaseRead,
    FeedKey,
    Parts,
    budgets_of,
    fetch_each,
    key_assignments,
    keys_of,
    member_assignments,
    read_workspaces,
)

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.contract.keys import ApiKey
    from gwtui.contract.workspaces import Budget, Workspace

T = TypeVar("T")

OFFERS_LAST = 600.0
"""Seconds for which the endpoint counts of used models are reused."""
MOST_MODELS = 60
"""The maximum number of models whose endpoints are counted, with one request each."""


async def read_account(reader: FeedReader) -> AccountFacts:
    """The data of the account, with a list of the parts that could not be read.

    Raises GatewayError if the workspaces cannot be read.
    """
    spaces = tuple((await read_workspaces(reader)).values())
    parts: Parts[tuple[Part, Workspace | None]] = Parts()

    async def keys_in(space: Workspace) -> tuple[ApiKey, ...] | None:
        return await parts.read(("keys", space), reader.get(keys_of(space.id)))

    async def budgets_in(space: Workspace) -> tuple[Budget, ...] | None:
        return await parts.read(("budgets", space), reader.get(budgets_of(space.id or "")))

    keys = await fetch_each(spaces, keys_in)
    budgets = await fetch_each(spaces, budgets_in)
    rows = await parts.read(("guardrails", None), read_guardrails(reader))
    held = await parts.read(("assignments", None), reader.get(key_assignments(None)))
    members = await parts.read(("assignments", None), reader.get(member_assignments(None)))
    people = await parts.read(("people", None), _people(reader))
    offers = await parts.read(("activity", None), reader.get_cached(OFFERS, OFFERS_LAST))
    return AccountFacts(
        workspaces=spaces,
        keys=_by_workspace(spaces, keys),
        budgets=_by_workspace(spaces, budgets),
        guardrails=None if rows is None else tuple(map(_account_guardrail, rows)),
        key_guardrails=None if held is None else guardrail_by_holder(held),
        member_guardrails=None if members is None else guardrail_by_holder(members),
        people=people,
        endpoints=offers,
        unread=tuple(UnreadPart(part, why, space) for (part, space), why in parts.failed),
    )


async def _offers(client: GatewayClient) -> Mapping[str, int | None]:
    used: Counter[str] = Counter()
    for row in (await client.activity.list()).items:
        if row.model:
            used[row.model] += row.requests or 0

    async def of_model(model: str) -> int | None:
        try:
            endpoints = (await client.catalog.endpoints(model)).endpoints
        except NotFoundError:
            return 0  # removed from the catalog
        except GatewayError:
            return None
        return None if endpoints is None else len(endpoints)

    models = [model for model, _ in used.most_common()]
    read = models[:MOST_MODELS]
    counts = dict(zip(read, await fetch_each(read, of_model), strict=True))
    return {model: counts.get(model) for model in models}


OFFERS: BaseRead[Mapping[str, int | None]] = BaseRead(FeedKey("offers"), _offers)


def _by_workspace(
    spaces: Sequence[Workspace], read: Sequence[tuple[T, ...] | None]
) -> Mapping[str, tuple[T, ...]]:
    both = zip(spaces, read, strict=True)
    return {space.id or "": items for space, items in both if items is not None}


def _account_guardrail(row: GuardrailRow) -> AccountGuardrail:
    return AccountGuardrail(row.guardrail, row.workspace_id, row.is_default, row.exists)


async def _people(reader: FeedReader) -> frozenset[str]:
    return frozenset(person.id for person in await reader.get(PEOPLE) if person.id)


def rules_of(hub: FeedHub) -> Mapping[str, AlertRule]:
    """The alert rules of the connection's profile. Blocks."""
    from gwtui.local.alerts import FILE_NAME, RuleFile  # noqa: PLC0415 - loads a TOML reader

    return RuleFile(Paths.of_user().config / FILE_NAME, hub.connection.label).refresh()


def _is_of(finding: AccountFinding, workspace: str | None) -> bool:
    workspace_id = finding.subject.workspace_id
    return workspace in (None, workspace_id) or (
        workspace_id is None and finding.severity == "unknown"
    )


async def _findings(reader: FeedReader, scope: Scope) -> Sequence[AccountFinding]:
    facts = await read_account(reader)
    unused = reader.client.connection.unused_days or UNUSED_DAYS
    rules = await asyncio.to_thread(rules_of, reader.hub)
    findings = find(replace(facts, unused_days=unused), rules, reader.clock.now())
    shown = [finding for finding in findings if _is_of(finding, scope.workspace)]
    if reader.client.gate.closed:
        # A fix would be refused.
        shown = [replace(finding, remedy="") for finding in shown]
    return tuple(shown)


findings_feed = FeedSpec(ACCOUNT_FEEDS, _findings, cadence.FINDINGS, workspace=True)
"""The findings of the account or of one workspace, including unread parts."""
