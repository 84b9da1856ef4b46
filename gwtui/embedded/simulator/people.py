"""The organization's people and its workspaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from gwtui.contract.budgets import BudgetInterval
from gwtui.contract.values import ProviderSort
from gwtui.embedded.simulator.chance import between, fraction, hex_text, uuid_text
from gwtui.embedded.simulator.world import SeedBudget, SeedMember, SeedUser, SeedWorkspace

WorkspaceSlug = Literal["default", "production", "research", "data-pipelines", "partner-portal"]

_PEOPLE = (
    ("Mara", "Lindqvist", "org:admin"),
    ("Tomasz", "Zieliński", "org:admin"),
    ("Ana", "Ferreira", "org:member"),
    ("Kenji", "Watanabe", "org:member"),
    ("Ngozi", "Okafor", "org:member"),
    ("Ruth", "Abrams", "org:member"),
    ("Élodie", "Marchand", "org:member"),
    (None, None, "org:member"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    slug: WorkspaceSlug
    name: str
    description: str | None
    age: int
    """Days."""
    creator: int | None
    changed: float | None
    """Days ago, None for never."""
    text_model: str | None = None
    image_model: str | None = None
    sort: ProviderSort | None = None
    logged_keys: tuple[int, ...] | None = None
    sampling: str = "1"
    discount_logging: bool = True
    broadcast: bool = False
    io_logging: bool = False
    disabled_tools: tuple[str, ...] | None = None
    byok_in_budgets: bool = False


_WORKSPACES = (
    _Row(
        slug="default",
        name="Default Workspace",
        description=None,
        age=412,
        creator=None,
        changed=None,
    ),
    _Row(
        slug="production",
        name="Production",
        description="Keys of the services that customers talk to. Changes need a second person.",
        age=398,
        creator=0,
        changed=21.4,
        text_model="northwind/atlas-large",
        sort="latency",
        sampling="0.05",
        discount_logging=False,
        broadcast=True,
        io_logging=True,
        logged_keys=(4, 9, 12),
        disabled_tools=("service:bash", "service:shell"),
    ),
    _Row(
        slug="research",
        name="Research",
        description="Experiments and evaluations; anything here may be switched off at night.",
        age=305,
        creator=3,
        changed=2.1,
        text_model="northwind/atlas-deep",
        image_model="ampersand/canvas-xl",
        sort="exacto",
        io_logging=True,
    ),
    _Row(
        slug="data-pipelines",
        name="Data pipelines",
        description="Nightly batches: embeddings, transcription, classification of the archive.",
        age=233,
        creator=1,
        changed=64.0,
        text_model="tessera/mosaic-8b-instruct",
        sort="price",
        sampling="0.001",
        byok_in_budgets=True,
    ),
    _Row(
        slug="partner-portal",
        name="Partner portal (pilot)",
        description="Prepared for the pilot with two partners. No keys yet.",
        age=3,
        creator=0,
        changed=None,
    ),
)


def build_users(seed: int) -> tuple[SeedUser, ...]:
    """The members of the organization, administrators first."""
    return tuple(
        SeedUser(
            id=f"user_{hex_text(24, seed, 'user', index)}",
            email=f"member{index + 1}@example.test",
            first_name=first,
            last_name=last,
            role=role,
        )
        for index, (first, last, role) in enumerate(_PEOPLE)
    )


def build_workspaces(
    seed: int, now: datetime, users: tuple[SeedUser, ...]
) -> tuple[SeedWorkspace, ...]:
    """The workspaces, the default one first."""
    return tuple(_workspace(seed, now, users, row) for row in _WORKSPACES)


def _workspace(seed: int, now: datetime, users: tuple[SeedUser, ...], row: _Row) -> SeedWorkspace:
    jitter = between(0, 36_000, seed, "workspace age", row.slug)
    return SeedWorkspace(
        id=uuid_text(seed, "workspace", row.slug),
        name=row.name,
        slug=row.slug,
        description=row.description,
        created_at=now - timedelta(days=row.age, seconds=int(jitter)),
        created_by=None if row.creator is None else users[row.creator].id,
        updated_at=None
        if row.changed is None
        else now - timedelta(seconds=int(row.changed * 86_400)),
        is_default=row.slug == "default",
        default_guardrail_id=uuid_text(seed, "guardrail", row.slug),
        default_image_model=row.image_model,
        default_text_model=row.text_model,
        default_provider_sort=row.sort,
        io_logging_api_key_ids=row.logged_keys,
        io_logging_sampling_rate=Decimal(row.sampling),
        is_data_discount_logging_enabled=row.discount_logging,
        is_observability_broadcast_enabled=row.broadcast,
        is_observability_io_logging_enabled=row.io_logging,
        disabled_server_tools=row.disabled_tools,
        include_byok_in_budgets=row.byok_in_budgets,
    )


_MEMBERS: Mapping[WorkspaceSlug, tuple[int, ...]] = {
    "production": (0, 1, 2, 3, 4, 5, 6),
    "research": (3, 4, 5, 6, 7),
    "data-pipelines": (1, 4, 5),
    "partner-portal": (0, 2),
}
"""Indexes of people. The default workspace needs none: the whole organization is in it."""

_BUDGETS: Mapping[WorkspaceSlug, Mapping[BudgetInterval, str]] = {
    "production": {"daily": "90", "weekly": "400", "monthly": "1300"},
    "research": {"weekly": "190", "monthly": "700"},
    "data-pipelines": {"monthly": "550"},
    "partner-portal": {"daily": "5", "lifetime": "100"},
}
"""USD. Those of busy workspaces leave room above what the simulated keys use."""

_JOINING = timedelta(days=60)
"""Over how long a team gathers after its workspace was made."""
_REVISED = 0.4
"""Share of budgets that were changed once."""


def build_members(
    seed: int, now: datetime, users: Sequence[SeedUser], workspaces: Sequence[SeedWorkspace]
) -> tuple[SeedMember, ...]:
    """The members of each workspace but the default one, in the order they joined."""
    members = [
        SeedMember(
            id=uuid_text(seed, "member", workspace.slug, index),
            workspace_id=workspace.id,
            user_id=users[index].id,
            created_at=_after(workspace, now, fraction(seed, "joined", workspace.slug, index)),
        )
        for workspace in workspaces
        for slug, indexes in _MEMBERS.items()
        if slug == workspace.slug
        for index in indexes
    ]
    return tuple(sorted(members, key=lambda member: member.created_at))


def build_budgets(
    seed: int, now: datetime, workspaces: Sequence[SeedWorkspace]
) -> tuple[SeedBudget, ...]:
    """The budgets of each workspace that has any."""
    return tuple(
        _budget(seed, now, workspace, interval, limit)
        for workspace in workspaces
        for slug, limits in _BUDGETS.items()
        if slug == workspace.slug
        for interval, limit in limits.items()
    )


def _budget(
    seed: int, now: datetime, workspace: SeedWorkspace, interval: BudgetInterval, limit: str
) -> SeedBudget:
    what = (workspace.slug, interval)
    made = _after(workspace, now, fraction(seed, "budget made", *what))
    changed = made + (now - made) * fraction(seed, "budget changed", *what)
    revised = fraction(seed, "budget revised", *what) < _REVISED
    return SeedBudget(
        id=uuid_text(seed, "budget", *what),
        workspace_id=workspace.id,
        interval=interval,
        limit=Decimal(limit),
        created_at=made,
        updated_at=changed.replace(microsecond=0) if revised else made,
    )


def _after(workspace: SeedWorkspace, now: datetime, share: float) -> datetime:
    """A moment in the first weeks of a workspace, to the second."""
    span = min(_JOINING, now - workspace.created_at)
    return (workspace.created_at + span * share).replace(microsecond=0)
