"""The first moment of a database: the account, its workspaces and, if wanted, a simulated past."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from gwtui.contract.dialects import Dialect
from gwtui.embedded.simulator import SeedKey, SeedWorkspace, UsageProfile, World, build_world
from gwtui.embedded.simulator import accrued as usage_between
from gwtui.embedded.store import account, keys, workspaces
from gwtui.embedded.store.columns import from_micros, from_pico, to_day, to_micros, to_pico
from gwtui.embedded.store.furnishing import furnish
from gwtui.embedded.store.usage import (
    DayUsage,
    Spend,
    add_earlier_usage,
    add_usage,
    window_days,
)

Content = Literal["simulated", "empty"]


@dataclass(frozen=True, slots=True)
class Founding:
    """How a database began; what never changes afterwards."""

    seed: int
    moment: datetime
    content: Content

    def profiles(self) -> dict[str, UsageProfile]:
        """What the clients of each simulated key ask for, by key hash, without end.

        Whether a key may still spend is for the ledger to say: a key that someone enables again
        is used again.
        """
        if self.content == "empty":
            return {}
        world = _world(self.seed, self.moment)
        return {key.hash: key.profile.without_end() for key in world.keys if not key.profile.quiet}

    def speak(self, db: sqlite3.Connection, dialect: Dialect) -> None:
        """Give the simulated keys the labels of a dialect: their texts never were."""
        if self.content == "simulated":
            hashes = [key.hash for key in _world(self.seed, self.moment).keys]
            keys.relabel(db, hashes, dialect.key_prefix)


@lru_cache(maxsize=2)
def _world(seed: int, moment: datetime) -> World:
    """The simulated world; kept because founding a database and running it both need it."""
    return build_world(seed, moment)


def found_or_recall(db: sqlite3.Connection, seed: int, now: datetime, content: Content) -> Founding:
    """The founding of this database; an empty one is founded now with these arguments.

    One that an earlier version founded gains what the world has had since.
    """
    founding = recall(db) if account.find(db) is not None else _found(db, seed, now, content)
    furnish(db, _world(founding.seed, founding.moment), simulated=founding.content == "simulated")
    return founding


def _found(db: sqlite3.Connection, seed: int, now: datetime, content: Content) -> Founding:
    founding = Founding(seed, from_micros(to_micros(now)), content)
    account.remember(db, "seed", str(seed))
    account.remember(db, "founded_at", str(to_micros(now)))
    account.remember(db, "content", content)
    world = _world(seed, founding.moment)
    if content == "empty":
        _found_empty(db, world)
    else:
        _found_simulated(db, world)
    return founding


def recall(db: sqlite3.Connection) -> Founding:
    """The founding of a database that has one."""
    seed, moment = account.setting(db, "seed"), account.setting(db, "founded_at")
    content: Content = "empty" if account.setting(db, "content") == "empty" else "simulated"
    return Founding(int(seed or 0), from_micros(int(moment or 0)), content)


def _found_empty(db: sqlite3.Connection, world: World) -> None:
    """A new account: nothing bought, nothing used, one workspace, no keys."""
    _add_account(db, world, credits=Decimal(0), usage=Decimal(0))
    _add_workspace(db, world.default_workspace)


def _found_simulated(db: sqlite3.Connection, world: World) -> None:
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
    names = [field.name for field in fields(workspaces.WorkspaceRecord)]
    workspaces.add(db, workspaces.WorkspaceRecord(**{name: getattr(seed, name) for name in names}))


def _add_key(db: sqlite3.Connection, seed: SeedKey, now: datetime) -> None:
    names = {field.name for field in fields(keys.NewKey)} & {field.name for field in fields(seed)}
    key_id = keys.add(db, keys.NewKey(**{name: getattr(seed, name) for name in names}))
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
