"""What each key did at each endpoint on each UTC day. Extended contract section 8.

Rows name the key by its hash and stay when the key, or its workspace, is deleted: they are the
account's history, kept as far back as the contract shows it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.simulator.usage import UsageSlice, accrued_by_day
from gwtui.embedded.store.table import to_day, to_pico
from gwtui.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from gwtui.embedded.simulator.world import World


@dataclass(frozen=True, slots=True)
class Actor:
    """Whose requests they are and where they count."""

    key_hash: str
    workspace_id: str
    user_id: str | None


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """Which rows to sum up; None is no restriction. Days are inclusive."""

    first_day: int
    last_day: int
    key_hash: str | None = None
    user_id: str | None = None
    workspace_id: str | None = None


@dataclass(frozen=True, slots=True)
class ActivitySum:
    """Requests at one endpoint on one day. Amounts are pico-USD."""

    day: int
    endpoint_key: str
    workspace_id: str | None
    """Only when summed up by workspace."""
    requests: int
    usage_pico: int
    byok_usage_pico: int
    prompt_tokens: int
    completion_tokens: int


def book(db: sqlite3.Connection, actor: Actor, slices: Iterable[UsageSlice]) -> None:
    """Add what a key did."""
    db.executemany(
        """
        INSERT INTO activity_days VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (day, key_hash, workspace_id, endpoint_key) DO UPDATE SET
            user_id = excluded.user_id,
            requests = requests + excluded.requests,
            usage_pico = usage_pico + excluded.usage_pico,
            byok_usage_pico = byok_usage_pico + excluded.byok_usage_pico,
            prompt_tokens = prompt_tokens + excluded.prompt_tokens,
            completion_tokens = completion_tokens + excluded.completion_tokens
        """,
        [
            (
                to_day(piece.moment),
                actor.key_hash,
                actor.workspace_id,
                piece.endpoint_key,
                actor.user_id,
                piece.requests,
                to_pico(piece.usd),
                to_pico(piece.byok_usd),
                piece.prompt_tokens,
                piece.completion_tokens,
            )
            for piece in slices
        ],
    )


def add_past(db: sqlite3.Connection, world: World) -> None:
    """Book what the simulated keys did before the world's moment."""
    today = world.moment.replace(hour=0, minute=0, second=0, microsecond=0)
    since = today - timedelta(days=ACTIVITY_DAYS)
    for key in world.keys:
        actor = Actor(key.hash, key.workspace_id, key.creator_user_id)
        book(db, actor, accrued_by_day(key.profile, since, world.moment))


def delete_old(db: sqlite3.Connection, today: int) -> None:
    """Drop the days that are further back than the contract shows."""
    db.execute("DELETE FROM activity_days WHERE day < ?", (today - ACTIVITY_DAYS,))


def sums(
    db: sqlite3.Connection, matching: ActivityFilter, *, by_workspace: bool
) -> list[ActivitySum]:
    """Requests by day and endpoint (and workspace), newest day first, then the costliest first."""
    workspace = "workspace_id" if by_workspace else "NULL"
    rows = db.execute(
        f"""
        SELECT day, endpoint_key, {workspace} AS workspace,
            sum(requests) AS requests, sum(usage_pico) AS usage_pico,
            sum(byok_usage_pico) AS byok_usage_pico, sum(prompt_tokens) AS prompt_tokens,
            sum(completion_tokens) AS completion_tokens
        FROM activity_days
        WHERE day BETWEEN :first AND :last
            AND (:key IS NULL OR key_hash = :key)
            AND (:user IS NULL OR user_id = :user)
            AND (:workspace IS NULL OR workspace_id = :workspace)
        GROUP BY day, endpoint_key, workspace
        ORDER BY day DESC, sum(usage_pico) + sum(byok_usage_pico) DESC, endpoint_key, workspace
        """,  # noqa: S608 - the column is one of two words above
        {
            "first": matching.first_day,
            "last": matching.last_day,
            "key": matching.key_hash,
            "user": matching.user_id,
            "workspace": matching.workspace_id,
        },
    )
    return [
        ActivitySum(
            day=row["day"],
            endpoint_key=row["endpoint_key"],
            workspace_id=row["workspace"],
            requests=row["requests"],
            usage_pico=row["usage_pico"],
            byok_usage_pico=row["byok_usage_pico"],
            prompt_tokens=row["prompt_tokens"],
            completion_tokens=row["completion_tokens"],
        )
        for row in rows
    ]


def knows_key(db: sqlite3.Connection, key_hash: str) -> bool:
    """Whether a key did anything in the days that are kept."""
    found = db.execute("SELECT 1 FROM activity_days WHERE key_hash = ? LIMIT 1", (key_hash,))
    return found.fetchone() is not None


def at_endpoint(
    db: sqlite3.Connection, key_hash: str, day: int, endpoint_key: str
) -> Iterator[tuple[Actor, int]]:
    """Who made a key's requests at one endpoint on one day, and how many: one per workspace."""
    rows = db.execute(
        "SELECT workspace_id, user_id, requests FROM activity_days "
        "WHERE day = ? AND key_hash = ? AND endpoint_key = ? ORDER BY requests DESC",
        (day, key_hash, endpoint_key),
    ).fetchall()
    for row in rows:
        yield Actor(key_hash, row["workspace_id"], row["user_id"]), int(row["requests"])


def requests_to_variant(db: sqlite3.Connection, day: int, variant: str) -> int:
    """How many requests of a day went to models of a variant, such as ``free``."""
    (total,) = db.execute(
        "SELECT coalesce(sum(requests), 0) FROM activity_days "
        "WHERE day = ? AND instr(endpoint_key, ?)",
        (day, f":{variant}|"),
    ).fetchone()
    return int(total)
