"""Workspaces and what belongs to them: contract "Workspace", extended contract sections 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.contract.budgets import Budget
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Workspace
from gwtui.domain.workspace_spend import KeyCount, spent_by_interval
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import Parts, fetch_each
from gwtui.watch.hub import FeedHub, Scope

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

DEFAULT_SLUG = "default"


@dataclass(frozen=True, slots=True)
class Figures:
    """What belongs to a workspace; None is what could not be read, and ``faults`` says why."""

    keys: KeyCount | None = None
    spent: Mapping[str, Decimal | None] = field(default_factory=dict)
    """USD by budget interval, as far as the present keys tell."""
    members: int | None = None
    budgets: Mapping[str, Budget] | None = None
    """By interval."""
    guardrails: Mapping[str, Guardrail] | None = None
    """By id."""
    faults: tuple[str, ...] = ()
    workspace: Workspace | None = None


async def fetch_workspaces(client: GatewayClient) -> Sequence[Workspace]:
    """Every workspace of the account. Raises GatewayError."""
    return (await client.workspaces.list()).items


def workspaces_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[Workspace]]:
    """The workspaces as they are, without figures; the same in every scope."""
    return hub.feed("workspaces:plain", fetch_workspaces, cadence.WORKSPACES)


def figures_feed(hub: FeedHub, _scope: Scope) -> Feed[Mapping[str, Figures]]:
    """What belongs to each workspace, by its id; the same in every scope."""
    return hub.feed("workspaces:figures", fetch_figures, cadence.WORKSPACES)


def figures_of_feed(hub: FeedHub, space: Workspace) -> Feed[Figures] | None:
    """What belongs to one workspace; None for one that came without an id."""
    if not space.id:
        return None
    # Whether BYOK counts decides what is spent: with another answer it is another reading.
    name = f"workspaces:figures:{space.id}:{space.include_byok_in_budgets}"
    return hub.feed(
        name, lambda client: figures_of(client, space), cadence.WORKSPACES, passing=True
    )


def by_interval(budgets: Sequence[Budget]) -> Mapping[str, Budget]:
    """Budgets by the interval that paths name them by; one whose interval is unreadable is out."""
    return {budget.interval: budget for budget in budgets if budget.interval is not None}


async def default_workspace_id(client: GatewayClient) -> str | None:
    """Which workspace is meant where none is named: the one whose keys are listed then.

    None when that list is empty or refused: the contract marks the default one nowhere.
    """
    try:
        return await client.keys.default_workspace()
    except GatewayError:
        return None


async def fetch_figures(client: GatewayClient) -> Mapping[str, Figures]:
    """The figures of every workspace by its id. A part that fails is a fault, not a failure.

    Raises GatewayError only when the workspaces cannot be listed.
    """
    spaces = [space for space in (await client.workspaces.list()).items if space.id]
    figures = await fetch_each(spaces, lambda space: figures_of(client, space))
    return {space.id or "": found for space, found in zip(spaces, figures, strict=True)}


async def figures_of(client: GatewayClient, space: Workspace) -> Figures:
    """Keys, members, budgets and guardrails of one workspace."""
    identity = space.id or ""
    parts = Parts()
    keys: tuple[ApiKey, ...] | None = await parts.read(
        "keys", lambda: client.keys.list(workspace_id=identity)
    )
    members = await parts.read("members", lambda: client.workspaces.members(identity))
    budgets = await parts.read("budgets", lambda: client.workspaces.budgets(identity))
    guardrails = await parts.read(
        "guardrails", lambda: client.guardrails.list(workspace_id=identity)
    )
    byok = bool(space.include_byok_in_budgets)
    return Figures(
        keys=None if keys is None else KeyCount.of(keys),
        spent={} if keys is None else spent_by_interval(keys, byok=byok),
        members=None if members is None else len(members),
        budgets=None if budgets is None else by_interval(budgets),
        guardrails=None if guardrails is None else {one.id or "": one for one in guardrails},
        faults=tuple(parts.faults),
        workspace=space,
    )
