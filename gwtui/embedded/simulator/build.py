"""The world's first day: people, workspaces, budgets, guardrails, credentials, keys, credits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any

from gwtui.contract.budgets import BudgetInterval
from gwtui.contract.content_filters import BUILTIN_LABELS
from gwtui.embedded.simulator.catalog import Catalog, build_catalog
from gwtui.embedded.simulator.keys import KeyBuilder
from gwtui.embedded.simulator.seed_data import (
    CredentialEntry,
    GuardrailEntry,
    KeyEntry,
    UserEntry,
    WorkspaceEntry,
    entries,
    with_tuples,
)
from gwtui.embedded.simulator.seeded_random import between, fraction, hex_text, uuid_text
from gwtui.embedded.simulator.world import (
    Purchase,
    SeedBudget,
    SeedCredential,
    SeedGuardrail,
    SeedMember,
    SeedUser,
    SeedWorkspace,
    World,
)
from gwtui.lazy_dataclass import dataclass

_TOP_UP = Decimal(500)
_BALANCE = (430.0, 690.0)
_CENT = Decimal("0.01")
_JOINING = timedelta(days=60)
"""Over how long a team gathers after its workspace was made."""
_REVISED = 0.4
"""Share of budgets that were changed once."""
_MODEL_LISTS = ("allowed_models", "ignored_models")


def build_world(seed: int, now: datetime, *, keys: bool = True) -> World:
    """The world of a seed as it stands at ``now`` (aware, UTC).

    Timestamps lie relative to ``now``, so that each state (near its limit, expiring soon, unused
    for long) is there whenever the gateway is born. The same arguments give the same world: a
    gateway that keeps (seed, birth) can rebuild every key's profile later. Without ``keys`` there
    are none, and nothing was ever used: what they used takes most of the time.
    """
    people = _people(seed)
    workspaces = _workspaces(seed, now, people)
    catalog = build_catalog(seed)
    builder = KeyBuilder(seed, now, catalog, people, workspaces)
    rows = entries(KeyEntry) if keys else ()
    made = sorted(map(builder.build, rows), key=lambda key: key.created_at)
    spent = sum((key.usage.all_time.usd for key in made), Decimal(0))
    purchases, retired = _account(seed, now, spent)
    organization = _Organization(seed, now, catalog, people, workspaces)
    return World(
        seed=seed,
        moment=now,
        users=tuple(people.values()),
        workspaces=tuple(workspaces.values()),
        members=organization.members(),
        budgets=organization.budgets(),
        guardrails=organization.guardrails(),
        credentials=organization.credentials(),
        keys=tuple(made),
        purchases=purchases,
        retired_usage=retired,
    )


def _account(seed: int, now: datetime, spent: Decimal) -> tuple[tuple[Purchase, ...], Decimal]:
    """Purchases that leave a plausible balance, and what earlier, deleted keys used."""
    balance = Decimal(between(*_BALANCE, seed, "balance")).quantize(_CENT)
    tops = int(((spent + balance) / _TOP_UP).to_integral_value(ROUND_CEILING)) + 1
    purchases = tuple(
        Purchase(now - timedelta(days=6 + 370 * (tops - 1 - index) // tops, hours=3), _TOP_UP)
        for index in range(tops)
    )
    return purchases, tops * _TOP_UP - balance - spent


def _people(seed: int) -> Mapping[str, SeedUser]:
    """The members of the organization by handle, administrators first."""
    return {
        person.handle: SeedUser(
            id=f"user_{hex_text(24, seed, 'user', index)}",
            email=f"member{index + 1}@example.test",
            first_name=person.first_name,
            last_name=person.last_name,
            role=person.role,
        )
        for index, person in enumerate(entries(UserEntry))
    }


def _workspaces(
    seed: int, now: datetime, people: Mapping[str, SeedUser]
) -> Mapping[str, SeedWorkspace]:
    """The workspaces by slug, the default one first."""
    return {row.slug: _workspace(seed, now, people, row) for row in entries(WorkspaceEntry)}


def _workspace(
    seed: int, now: datetime, people: Mapping[str, SeedUser], row: WorkspaceEntry
) -> SeedWorkspace:
    jitter = between(0, 36_000, seed, "workspace age", row.slug)
    settings = with_tuples(row.settings)
    settings["io_logging_sampling_rate"] = Decimal(settings.get("io_logging_sampling_rate", "1"))
    return SeedWorkspace(
        id=uuid_text(seed, "workspace", row.slug),
        name=row.name,
        slug=row.slug,
        description=row.description,
        created_at=now - timedelta(days=row.age, seconds=int(jitter)),
        created_by=None if row.creator is None else people[row.creator].id,
        updated_at=None
        if row.changed is None
        else now - timedelta(seconds=int(row.changed * 86_400)),
        is_default=row.slug == "default",
        default_guardrail_id=uuid_text(seed, "guardrail", row.slug),
        **settings,
    )


@dataclass(frozen=True, slots=True)
class _Organization:
    """What belongs to the workspaces, made from the data files."""

    seed: int
    now: datetime
    catalog: Catalog
    people: Mapping[str, SeedUser]
    workspaces: Mapping[str, SeedWorkspace]

    def members(self) -> tuple[SeedMember, ...]:
        """The members of each workspace but the default one, in the order they joined."""
        numbers = {handle: number for number, handle in enumerate(self.people)}
        members = [
            self._member(self.workspaces[row.slug], self.people[handle], numbers[handle])
            for row in entries(WorkspaceEntry)
            for handle in row.members
        ]
        return tuple(sorted(members, key=lambda member: member.created_at))

    def _member(self, workspace: SeedWorkspace, user: SeedUser, number: int) -> SeedMember:
        share = fraction(self.seed, "joined", workspace.slug, number)
        return SeedMember(
            id=uuid_text(self.seed, "member", workspace.slug, number),
            workspace_id=workspace.id,
            user_id=user.id,
            created_at=self._soon_after(workspace, share),
        )

    def budgets(self) -> tuple[SeedBudget, ...]:
        """The budgets of each workspace that has any."""
        return tuple(
            self._budget(self.workspaces[row.slug], interval, limit)
            for row in entries(WorkspaceEntry)
            for interval, limit in row.budgets.items()
        )

    def _budget(self, workspace: SeedWorkspace, interval: BudgetInterval, limit: str) -> SeedBudget:
        what = (workspace.slug, interval)
        made = self._soon_after(workspace, fraction(self.seed, "budget made", *what))
        changed = made + (self.now - made) * fraction(self.seed, "budget changed", *what)
        revised = fraction(self.seed, "budget revised", *what) < _REVISED
        return SeedBudget(
            id=uuid_text(self.seed, "budget", *what),
            workspace_id=workspace.id,
            interval=interval,
            limit_usd=Decimal(limit),
            created_at=made,
            updated_at=changed.replace(microsecond=0) if revised else made,
        )

    def _soon_after(self, workspace: SeedWorkspace, share: float) -> datetime:
        """A moment in the first weeks of a workspace, to the second."""
        span = min(_JOINING, self.now - workspace.created_at)
        return (workspace.created_at + span * share).replace(microsecond=0)

    def guardrails(self) -> tuple[SeedGuardrail, ...]:
        """The guardrails, oldest first."""
        made = map(self._guardrail, entries(GuardrailEntry))
        return tuple(sorted(made, key=lambda guardrail: guardrail.created_at))

    def _guardrail(self, row: GuardrailEntry) -> SeedGuardrail:
        workspace = self.workspaces[row.workspace]
        is_default = not row.name
        created_at = self._born(row.age, "rail", row.name)
        return SeedGuardrail(
            id=workspace.default_guardrail_id
            if is_default
            else uuid_text(self.seed, "rail", row.name),
            workspace_id=workspace.id,
            name=f"Workspace {workspace.id} Default" if is_default else row.name,
            settings=self._settings(row),
            created_at=created_at,
            updated_at=None
            if row.changed is None
            else (self.now - timedelta(days=row.changed)).replace(microsecond=0),
            key_hashes=self._hashes(row.keys),
            user_ids=tuple(self.people[handle].id for handle in row.members),
            assigned_by=next(iter(self.people.values())).id,
            assigned_at=created_at + timedelta(minutes=7),
        )

    def _settings(self, row: GuardrailEntry) -> dict[str, Any]:
        """Fields of the contract: amounts, lasting names of models, filters with their labels."""
        settings = with_tuples(row.settings)
        for name in settings.keys() & _MODEL_LISTS:
            settings[name] = tuple(map(self.catalog.canonical_slug, settings[name]))
        if "limit_usd" in settings:
            settings["limit_usd"] = Decimal(settings["limit_usd"])
        if "content_filter_builtins" in settings:
            settings["content_filter_builtins"] = tuple(
                {**entry, "label": BUILTIN_LABELS[entry["slug"]]}
                if entry["slug"] in BUILTIN_LABELS
                else entry
                for entry in settings["content_filter_builtins"]
            )
        if "content_filters" in settings:
            settings["content_filters"] = tuple(
                {**entry, "label": entry.get("label")} for entry in settings["content_filters"]
            )
        return settings

    def credentials(self) -> tuple[SeedCredential, ...]:
        """The BYOK credentials, oldest first."""
        made = map(self._credential, entries(CredentialEntry))
        return tuple(sorted(made, key=lambda credential: credential.created_at))

    def _credential(self, row: CredentialEntry) -> SeedCredential:
        identity = ("credential", row.workspace, row.provider, row.name)
        return SeedCredential(
            id=uuid_text(self.seed, *identity),
            workspace_id=self.workspaces[row.workspace].id,
            provider=row.provider,
            label=f"{row.prefix}...{hex_text(4, self.seed, 'label', *identity)}",
            created_at=self._born(row.age, *identity),
            terms={
                "name": row.name,
                "allowed_api_key_hashes": None if row.keys is None else self._hashes(row.keys),
                "allowed_user_ids": None
                if row.users is None
                else tuple(self.people[handle].id for handle in row.users),
                **with_tuples(row.terms),
            },
        )

    def _hashes(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(hex_text(64, self.seed, "key", name) for name in names)

    def _born(self, age: float, *identity: object) -> datetime:
        """So many days ago, to the second, and not all at the same time of the day."""
        later = int(between(0, 9000, self.seed, *identity))
        return (self.now - timedelta(days=age, seconds=later)).replace(microsecond=0)
