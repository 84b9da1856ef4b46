"""Accrual: enters what the keys used since the last time somebody looked.

Nothing runs in the background. Usage is an exact function of time, so it is booked when it is
asked for, and only for keys that may spend: enabled, not expired, and no cap that binds them
exhausted: their own limit, a budget of their workspace, or the cap of a guardrail.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from gwtui.embedded.errors import DatabaseBusyError
from gwtui.embedded.simulator.usage import UsageProfile, UsageSlice, accrual
from gwtui.embedded.store import account, activity, budgets, guardrails, usage, workspaces
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.guardrails import GuardrailRecord
from gwtui.embedded.store.table import (
    from_micros,
    to_day,
    to_micros,
    to_pico,
)
from gwtui.embedded.store.usage import DayUsage, add_usage, window_days
from gwtui.lazy_dataclass import dataclass

Booked = Callable[[int], tuple[int, int]]
"""Pico-USD (credits, BYOK) that are booked already from a day on; day 0 is all time."""


class Allowance:
    """One cap: the limit of a key, or a budget of the workspace that many keys share.

    A request is let through while anything is left, so the last one may overdraw.
    """

    def __init__(
        self, limit: Decimal, reset: str | None, booked: Booked, *, with_byok: bool
    ) -> None:
        self._limit = to_pico(limit)
        self._reset = reset
        self._booked = booked
        self._with_byok = with_byok
        self._day = self._window = -1
        self._spent = 0

    def admits(self, moment: datetime) -> bool:
        """Whether anything is left at a moment, which is never earlier than the one before."""
        self._turn_to(moment)
        return self._spent < self._limit

    def count(self, used: UsageSlice) -> None:
        """Take what a request that was let through has used."""
        self._spent += to_pico(used.usd) + (to_pico(used.byok_usd) if self._with_byok else 0)

    def _turn_to(self, moment: datetime) -> None:
        day = to_day(moment)
        if day == self._day:
            return
        self._day = day
        window = 0 if self._reset is None else window_days(moment)[self._reset]
        if window != self._window:
            self._window = window
            usage, byok = self._booked(window)
            self._spent = usage + (byok if self._with_byok else 0)


class Caps:
    """The allowances of keys, as they stand when a booking begins."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._budgets: dict[str, list[Allowance]] = {}
        self._of_members: dict[Hashable, Allowance] = {}
        self._any_guardrail_caps = (
            db.execute("SELECT 1 FROM guardrails WHERE limit_usd IS NOT NULL LIMIT 1").fetchone()
            is not None
        )

    def of(self, key: sqlite3.Row) -> list[Allowance]:
        """The allowances of an ordinary key, given as its row."""
        workspace_id = key["workspace_id"]
        if workspace_id not in self._budgets:
            self._budgets[workspace_id] = list(self._of_workspace(workspace_id))
        found = [*self._of_key(key), *self._budgets[workspace_id]]
        if self._any_guardrail_caps:
            found += self._of_guardrails(key)
        return found

    def _of_key(self, key: sqlite3.Row) -> Iterator[Allowance]:
        if key["limit_usd"] is not None:
            limit = Decimal(key["limit_usd"])
            booked = partial(usage.of_key_since, self._db, key["id"])
            with_byok = bool(key["include_byok_in_limit"])
            yield Allowance(limit, key["limit_reset"], booked, with_byok=with_byok)

    def _of_workspace(self, workspace_id: str) -> Iterator[Allowance]:
        workspace = workspaces.get(self._db, workspace_id)
        with_byok = workspace is not None and workspace.include_byok_in_budgets
        booked = partial(budgets.spent_since, self._db, workspace_id)
        for budget in budgets.of_workspace(self._db, workspace_id).values():
            yield Allowance(budget.limit_usd, budget.reset_interval, booked, with_byok=with_byok)

    def _of_guardrails(self, key: sqlite3.Row) -> Iterator[Allowance]:
        workspace_id, user_id = key["workspace_id"], key["creator_user_id"]
        holder = guardrails.BoundKey(key["id"], workspace_id, user_id)
        bound = guardrails.binding_of(self._db, holder)
        own: Booked = partial(usage.of_key_since, self._db, key["id"])
        for guardrail in (bound.of_workspace, bound.of_key):
            if guardrail is not None:
                yield from _cap(guardrail, own)
        if user_id is not None:
            if bound.of_workspace is not None:
                yield from self._of_member(bound.of_workspace, user_id, workspace_id)
            if bound.of_member is not None:
                yield from self._of_member(bound.of_member, user_id, None)

    def _of_member(
        self, guardrail: GuardrailRecord, user_id: str, workspace_id: str | None
    ) -> Iterator[Allowance]:
        shared = (guardrail.id, user_id, workspace_id)
        if shared not in self._of_members:
            booked = partial(usage.of_member_since, self._db, user_id, workspace_id)
            for allowance in _cap(guardrail, booked):
                self._of_members[shared] = allowance
        if shared in self._of_members:
            yield self._of_members[shared]


def _cap(guardrail: GuardrailRecord, booked: Booked) -> Iterator[Allowance]:
    policy = guardrail.policy
    if policy.limit_usd is not None:
        with_byok = policy.include_byok_in_budgets
        yield Allowance(policy.limit_usd, policy.reset_interval, booked, with_byok=with_byok)


_INTERVAL = timedelta(seconds=1)
"""Reads that follow each other faster than this share one booking."""

TOP_UP_BELOW = Decimal(25)
TOP_UP = Decimal(500)
"""The simulated account buys credits in USD when few are left, so that an old database lives on."""


class Ledger:
    """Enters usage into a database up to a moment."""

    def __init__(
        self, database: Database, profiles: Mapping[str, UsageProfile], booked_until: datetime
    ) -> None:
        self._database = database
        self._profiles = profiles
        self._booked_until = booked_until

    def catch_up(self, now: datetime, *, exactly: bool = False) -> None:
        """Book everything up to ``now``, or to within a second of it when that is enough.

        A clock that went back enters nothing until it has caught up. Raises DatabaseBusyError when
        ``exactly`` is not possible now.
        """
        if now <= self._booked_until or not (exactly or now - self._booked_until >= _INTERVAL):
            return
        try:
            self._book(now)
        except DatabaseBusyError:
            # Another process is writing. Who only reads sees what is booked so far.
            if exactly:
                raise

    def _book(self, now: datetime) -> None:
        with self._database.write(durable=False, patience=0) as db:
            usage = self._used(db, account.get(db).accrued_until, now)
            add_usage(db, usage)
            account.book(db, sum(day.usage_pico for day in usage), now)
            activity.delete_old(db, to_day(now))
            if usage:
                account.top_up(db, below=TOP_UP_BELOW, by=TOP_UP)
        self._booked_until = now

    def _used(self, db: sqlite3.Connection, since: datetime, now: datetime) -> list[DayUsage]:
        """What was used by key and day. Keys that share a cap use it up in order of time."""
        meters = list(self._meters(db, since))
        requested = [(used, meter) for meter in meters for used in meter.requested(since, now)]
        for used, meter in sorted(requested, key=lambda pair: pair[0].moment):
            meter.admit(used)
        return [day for meter in meters for day in meter.close(db)]

    def _meters(self, db: sqlite3.Connection, since: datetime) -> Iterator[_Meter]:
        # Of a large account hardly any key is used by the simulated clients.
        rows = db.execute(
            "SELECT * FROM api_keys WHERE hash IN (SELECT value FROM json_each(?)) "
            "AND NOT is_management AND NOT disabled AND (expires_at IS NULL OR expires_at > ?) "
            "ORDER BY id",
            (json.dumps(list(self._profiles)), to_micros(since)),
        ).fetchall()
        caps = Caps(db)
        for row in rows:
            yield _Meter(row, self._profiles[row["hash"]], caps.of(row))


@dataclass
class _Meter:
    """One key while its usage is booked."""

    row: sqlite3.Row
    profile: UsageProfile
    allowances: Sequence[Allowance]
    admitted: list[UsageSlice] = field(default_factory=list)

    def requested(self, since: datetime, now: datetime) -> list[UsageSlice]:
        """What the key's clients asked for, up to its expiry."""
        expires_at = self.row["expires_at"]
        until = now if expires_at is None else min(now, from_micros(expires_at))
        return accrual(self.profile, since, until)

    def admit(self, used: UsageSlice) -> None:
        """Let a request through unless a cap is exhausted."""
        if all(allowance.admits(used.moment) for allowance in self.allowances):
            for allowance in self.allowances:
                allowance.count(used)
            self.admitted.append(used)

    def close(self, db: sqlite3.Connection) -> list[DayUsage]:
        """Note what was let through; the sums by day are for the caller to book."""
        if not self.admitted:
            return []
        row = self.row
        db.execute(
            "UPDATE api_keys SET last_used_at = ? WHERE id = ?",
            (to_micros(self.admitted[-1].moment), row["id"]),
        )
        actor = activity.Actor(row["hash"], row["workspace_id"], row["creator_user_id"])
        activity.book(db, actor, self.admitted)
        return _by_day(row["id"], self.admitted)


def _by_day(key_id: int, slices: list[UsageSlice]) -> list[DayUsage]:
    days: dict[int, list[int]] = {}
    for piece in slices:
        sums = days.setdefault(to_day(piece.moment), [0, 0, 0])
        sums[0] += to_pico(piece.usd)
        sums[1] += to_pico(piece.byok_usd)
        sums[2] += piece.requests
    return [DayUsage(key_id, day, *sums) for day, sums in days.items()]
