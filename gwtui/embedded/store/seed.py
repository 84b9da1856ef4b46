"""Seeding a database: the account, its workspaces and, unless it is to be empty, seed data."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from gwtui.contract.dialects import Dialect
from gwtui.embedded.simulator.usage import UsageProfile, UsageStream
from gwtui.embedded.simulator.usage import accrued as usage_between
from gwtui.embedded.store import (
    account,
    activity,
    budgets,
    byok,
    guardrails,
    keys,
    organization,
    workspaces,
)
from gwtui.embedded.store.budgets import BudgetRecord
from gwtui.embedded.store.byok import NewCredential, Terms
from gwtui.embedded.store.guardrails import Assigner, GuardrailRecord, Policy
from gwtui.embedded.store.table import from_micros, from_pico, shallow, to_day, to_micros, to_pico
from gwtui.embedded.store.usage import (
    DayUsage,
    Spend,
    add_earlier_usage,
    add_usage,
    window_days,
)
from gwtui.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from gwtui.embedded.simulator.world import SeedKey, SeedWorkspace, World

Step = Callable[[sqlite3.Connection, "World"], None]


def _add_missing(db: sqlite3.Connection, origin: Origin) -> None:
    """Take the steps that this database has not seen yet.

    An account without a simulated past has its people all the same: they come from the outside,
    no operation makes one.
    """
    simulated = origin.content == "simulated"
    for name, step in _STEPS.items():
        if account.setting(db, _DONE.format(name)) is None:
            if simulated or name in _ALWAYS:
                step(db, origin.world())
            account.change_setting(db, _DONE.format(name), "yes")


def _people(db: sqlite3.Connection, world: World) -> None:
    for user in world.users:
        organization.add(db, organization.Person(**shallow(user)))


def _members(db: sqlite3.Connection, world: World) -> None:
    for member in world.members:
        if _exists(db, member.workspace_id):
            joined = {member.id: member.user_id}
            organization.join(db, member.workspace_id, joined, member.created_at)


def _budgets(db: sqlite3.Connection, world: World) -> None:
    for seed in world.budgets:
        if _exists(db, seed.workspace_id):
            budgets.add(db, BudgetRecord(**shallow(seed)))
    for workspace in world.workspaces:
        included = workspace.include_byok_in_budgets
        workspaces.count_byok_in_budgets(db, workspace.id, included=included)


def _guardrails(db: sqlite3.Connection, world: World) -> None:
    for seed in world.guardrails:
        if not _exists(db, seed.workspace_id) or guardrails.find(db, seed.id):
            continue
        guardrails.add(
            db,
            GuardrailRecord(
                id=seed.id,
                workspace_id=seed.workspace_id,
                policy=Policy(name=seed.name, **seed.settings),
                created_at=seed.created_at,
                updated_at=seed.updated_at,
            ),
        )
        by = Assigner(seed.assigned_by, seed.assigned_at)
        known = keys.ids_of(db, seed.key_hashes)
        bound = [known[key_hash] for key_hash in seed.key_hashes if key_hash in known]
        guardrails.assign(db, "keys", seed.id, bound, by)
        guardrails.assign(db, "members", seed.id, seed.user_ids, by)


def _credentials(db: sqlite3.Connection, world: World) -> None:
    for seed in world.credentials:
        if _exists(db, seed.workspace_id):
            new = NewCredential(
                id=seed.id,
                workspace_id=seed.workspace_id,
                provider=seed.provider,
                label=seed.label,
                terms=Terms(**seed.terms),
                created_at=seed.created_at,
            )
            byok.add(db, new, None)


def _exists(db: sqlite3.Connection, workspace_id: str) -> bool:
    return workspaces.get(db, workspace_id) is not None


_STEPS: Mapping[str, Step] = {
    "people": _people,
    "members": _members,
    "budgets": _budgets,
    "activity": activity.add_past,
    "guardrails": _guardrails,
    "credentials": _credentials,
}
_ALWAYS = frozenset({"people"})
_DONE = "furnished {}"
"""The setting that says that a step was taken."""


Content = Literal["simulated", "empty"]


@dataclass(frozen=True, slots=True)
class Origin:
    """How a database began; what never changes afterwards."""

    seed: int
    moment: datetime
    content: Content

    def profiles(self, db: sqlite3.Connection) -> dict[str, UsageProfile]:
        """What the clients of each simulated key ask for, by key hash, without end.

        Whether a key may still spend is for the ledger to say: a key that someone enables again
        is used again.
        """
        if self.content == "empty":
            return {}
        kept = account.setting(db, _PROFILES)
        if kept is not None:
            return {profile.identity: profile for profile in map(_profile, json.loads(kept))}
        return {profile.identity: profile for profile in self._made_profiles()}

    def keep_profiles(self, db: sqlite3.Connection) -> None:
        """Write the profiles down, so that the world need not be built again to run it."""
        if self.content == "simulated" and account.setting(db, _PROFILES) is None:
            made = [asdict(profile) for profile in self._made_profiles()]
            account.change_setting(db, _PROFILES, json.dumps(made, default=_instant))

    def _made_profiles(self) -> list[UsageProfile]:
        keys = self.world().keys
        return [key.profile.without_end() for key in keys if not key.profile.quiet]

    def world(self) -> World:
        """The simulated world as it stood on its first moment."""
        return _world(self.seed, self.moment, self.content)

    def relabel(self, db: sqlite3.Connection, dialect: Dialect) -> None:
        """Give the simulated keys labels in the form of a dialect; no key text exists for them."""
        if self.content == "simulated":
            hashes = [key.hash for key in self.world().keys]
            keys.relabel(db, hashes, dialect.key_prefix)


_PROFILES = "profiles 1"
"""The setting that holds the profiles; its number is another one when they are made otherwise."""


def _instant(moment: datetime) -> str:
    return moment.isoformat()


def _profile(kept: dict[str, Any]) -> UsageProfile:
    """A profile as ``Origin.keep_profiles`` wrote it."""
    abandoned = kept["abandoned_at"]
    return UsageProfile(
        **{
            **kept,
            "active_from": datetime.fromisoformat(kept["active_from"]),
            "abandoned_at": None if abandoned is None else datetime.fromisoformat(abandoned),
            "streams": tuple(UsageStream(**stream) for stream in kept["streams"]),
        }
    )


@lru_cache(maxsize=2)
def _world(seed: int, moment: datetime, content: Content) -> World:
    """The simulated world; kept because seeding a database and running it both need it."""
    from gwtui.embedded.simulator.build import build_world  # noqa: PLC0415 - the first time

    return build_world(seed, moment, keys=content == "simulated")


def seed_database(db: sqlite3.Connection, seed: int, now: datetime, content: Content) -> Origin:
    """The origin of this database; an empty one is seeded now with these arguments.

    One that an earlier version seeded gains what the world has had since.
    """
    origin = read_origin(db) if account.find(db) is not None else _seed(db, seed, now, content)
    _add_missing(db, origin)
    origin.keep_profiles(db)
    return origin


def _seed(db: sqlite3.Connection, seed: int, now: datetime, content: Content) -> Origin:
    origin = Origin(seed, from_micros(to_micros(now)), content)
    account.change_setting(db, "seed", str(seed))
    account.change_setting(db, "founded_at", str(to_micros(now)))
    account.change_setting(db, "content", content)
    world = origin.world()
    if content == "empty":
        _seed_empty(db, world)
    else:
        _seed_simulated(db, world)
    return origin


def read_origin(db: sqlite3.Connection) -> Origin:
    """The origin of a database that was seeded."""
    seed, moment = account.setting(db, "seed"), account.setting(db, "founded_at")
    content: Content = "empty" if account.setting(db, "content") == "empty" else "simulated"
    return Origin(int(seed or 0), from_micros(int(moment or 0)), content)


def _seed_empty(db: sqlite3.Connection, world: World) -> None:
    """A new account: nothing bought, nothing used, one workspace, no keys."""
    _add_account(db, world, credits=Decimal(0), usage=Decimal(0))
    _add_workspace(db, world.default_workspace)


def _seed_simulated(db: sqlite3.Connection, world: World) -> None:
    _add_account(db, world, credits=world.total_credits, usage=world.total_usage)
    for workspace in world.workspaces:
        _add_workspace(db, workspace)
    for key in world.keys:
        _add_key(db, key, world.moment)


def _add_account(db: sqlite3.Connection, world: World, *, credits: Decimal, usage: Decimal) -> None:
    owner = world.users[0]
    account.add(
        db,
        account.Account(
            organization_id=f"org_{uuid.uuid5(uuid.NAMESPACE_OID, owner.id).hex}",
            owner_user_id=owner.id,
            total_credits=credits,
            total_usage=usage,
            accrued_until=world.moment,
        ),
    )


def _add_workspace(db: sqlite3.Connection, seed: SeedWorkspace) -> None:
    workspaces.add(db, workspaces.WorkspaceRecord(**shallow(seed)))


def _add_key(db: sqlite3.Connection, seed: SeedKey, now: datetime) -> None:
    known = {field.name for field in fields(keys.NewKey)}
    values = {name: value for name, value in shallow(seed).items() if name in known}
    key_id = keys.add(db, keys.NewKey(**values))
    days = _recent_days(key_id, seed.profile, now)
    add_usage(db, days)
    total = seed.usage.all_time
    earlier = Spend(
        total.usd - from_pico(sum(day.usage_pico for day in days)),
        total.byok_usd - from_pico(sum(day.byok_usage_pico for day in days)),
    )
    add_earlier_usage(db, key_id, earlier)


def _recent_days(key_id: int, profile: UsageProfile, now: datetime) -> list[DayUsage]:
    """Usage by day as far back as any current window reaches."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = []
    for back in range(to_day(now) - min(window_days(now).values()) + 1):
        start = today - timedelta(days=back)
        used = usage_between(profile, start, min(now, start + timedelta(days=1)))
        if used.requests:
            days.append(
                DayUsage(
                    key_id, to_day(start), to_pico(used.usd), to_pico(used.byok_usd), used.requests
                )
            )
    return days
