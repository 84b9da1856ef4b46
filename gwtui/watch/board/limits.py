"""Keys and workspaces by how near they are to what they may spend. Amounts are USD."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from gwtui.contract.keys import is_expired
from gwtui.domain.resets import next_reset
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.workspaces import Figures

Kind = Literal["key", "workspace"]


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that may spend so much. ``share`` is used, 0..1 and above; None is unknown.

    ``schedule`` is when it starts over ("daily"), None for never. ``subject`` is the hash of the
    key or the id of the workspace.
    """

    kind: Kind
    subject: str
    name: str | None
    limit: Decimal | None
    left: Decimal | None
    share: Decimal | None
    schedule: str | None
    workspace: str | None = None

    @property
    def identity(self) -> str:
        """Tells it from all others: a workspace may have several budgets."""
        return f"{self.kind} {self.subject} {self.schedule}"

    def resets_at(self, now: datetime) -> datetime | None:
        """When it starts over; None when never, or when the schedule is not known."""
        return next_reset(self.schedule, now)


def limits(
    keys: Sequence[KeyRow], workspaces: Mapping[str, Figures], now: datetime
) -> tuple[Limit, ...]:
    """Every limit that is in force, the nearest to its end first; unknown shares last."""
    found = [*_of_keys(keys, now), *_of_workspaces(workspaces)]
    found.sort(key=lambda one: (one.share is None, -(one.share or Decimal(0)), one.identity))
    return tuple(found)


def _of_keys(keys: Sequence[KeyRow], now: datetime) -> Iterable[Limit]:
    for row in keys:
        key = row.key
        if key.limit is None or key.disabled or is_expired(key.expires_at, now):
            continue
        yield Limit(
            "key",
            row.identity,
            key.name or key.label or key.hash,
            key.limit,
            key.limit_remaining,
            row.used_share,
            key.limit_reset,
            row.workspace_name,
        )


def _of_workspaces(workspaces: Mapping[str, Figures]) -> Iterable[Limit]:
    for identity, found in workspaces.items():
        space = found.workspace
        name = identity if space is None else space.name or space.slug or identity
        for interval, budget in (found.budgets or {}).items():
            limit, spent = budget.limit_usd, found.spent.get(interval)
            if limit is None:
                continue
            share = spent / limit if spent is not None and limit > 0 else None
            left = None if spent is None else limit - spent
            yield Limit("workspace", identity, name, limit, left, share, interval)
