"""Fills the history with the past week of a gateway that can report its own past: the demo.

Each missing hour gets one reading at its end, the current hour one every two minutes. Recorded
readings are not replaced.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from gwtui.contract.models import Endpoint
from gwtui.contract.usage import Credits
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.domain.history_source import HistorySource, KeyUsage
from gwtui.domain.times import window_start
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.guardrails import GuardrailRow, guardrails_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed
from gwtui.watch.feeds.workspaces import WorkspaceFigures, figures_feed
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import UPTIMES, HistoryError, Observation
from gwtui.watch.history.sources import (
    OFTEN,
    RARELY,
    ObservedReading,
    most_used_feed,
    observe_credits,
    observe_endpoints,
    observe_guardrails,
    observe_keys,
    observe_workspaces,
)
from gwtui.watch.history.writer import observe, observe_hour, set_default_models, tidy
from gwtui.watch.hub import FeedHub, Scope

_log = logging.getLogger(__name__)

SPAN = timedelta(hours=168)
"""The span that is filled."""
_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
_EVERY = timedelta(minutes=2)
"""The time between two readings in the current hour, short enough to avoid gaps."""
_NOTHING = KeyUsage(Decimal(0), Decimal(0))
_LIVE = (*UPTIMES, "latency_last_30m", "throughput_last_30m")
"""The figures of an endpoint that vary with its traffic."""


async def fill(hub: FeedHub, archive: Archive, past: HistorySource) -> bool:
    """Fill the hours that a history lacks with figures from ``past``, up to ``past.until``.

    ``hub`` reads the present keys, workspaces and endpoints, to which the figures belong. Returns
    False if no hour is missing, or if the present lists cannot be read. Raises HistoryError.
    """
    recorded = await archive.read(lambda history: history.span())
    now = past.until.replace(minute=0, second=0, microsecond=0)
    since = now - SPAN
    if recorded is not None:
        since = max(since, recorded[1].replace(minute=0, second=0, microsecond=0) + _HOUR)
    if since > now:
        return False
    account = await _read_account(hub, past)
    if account is None:
        return False
    hours = [since + _HOUR * place for place in range((now - since) // _HOUR)]
    ends = [hour + _HOUR - _SECOND for hour in hours]
    readings = [now + _EVERY * place for place in range((past.until - now) // _EVERY + 1)]

    def work(db: sqlite3.Connection) -> None:
        account.prepare([*ends, *readings])
        for moment in ends:
            for observation in account.at(moment):
                observe_hour(db, observation)
        for moment in readings:
            for observation in account.at(moment):
                observe(db, observation)
        set_default_models(db, tuple(account.endpoints), past.until)
        tidy(db, past.until)

    await archive.write(work)
    return True


async def fill_open(
    hub: FeedHub, archive: Archive, ask: Callable[[], HistorySource | None]
) -> datetime | None:
    """Fill the missing hours of an open history, unless another process records. Never fails.

    ``ask`` returns the past of the gateway. Returns the last moment that was filled if nothing was
    recorded before, else None.
    """
    try:
        if await archive.claim() and (past := ask()) is not None:
            is_first = await archive.read(lambda history: history.span()) is None
            if await fill(hub, archive, past) and is_first:
                return past.until
    except Exception:  # live data is shown and recorded without the past
        _log.exception("history: the past cannot be filled in")
    return None


async def fill_past(hub: FeedHub, path: Path, past: HistorySource) -> None:
    """Fill the missing hours of the history at ``path``, before a command reads it.

    A history that cannot be opened is not filled.
    """
    with suppress(HistoryError):
        archive = await Archive.open(path, hub.clock)
        try:
            await fill_open(hub, archive, lambda: past)
        finally:
            await archive.close()


@dataclass
class _PastAccount:
    """The present account, and its state at the prepared moments of the past."""

    past: HistorySource
    credits: Credits
    keys: Sequence[KeyRow]
    workspaces: Mapping[str, WorkspaceFigures]
    guardrails: Sequence[GuardrailRow]
    endpoints: Mapping[str, Sequence[EndpointRow]]

    def prepare(self, moments: Sequence[datetime]) -> None:
        """Read everything that ``at`` needs for these moments, which must ascend."""
        starts = (
            window_start(interval, moment) for interval in BUDGET_INTERVALS for moment in moments
        )
        asked = sorted({*moments, *(start for start in starts if start is not None)})
        self._totals = dict(zip(moments, self.past.account(moments), strict=True))
        self._spent = {
            row.identity: dict(zip(asked, spent, strict=True))
            for row in self.keys
            if (spent := self.past.spent(row.identity, asked)) is not None
        }
        self._figures = {
            (model, row.identity): dict(zip(moments, map(_live, answers), strict=True))
            for model, rows in self.endpoints.items()
            for row in rows
            if (answers := self.past.figures(model, row.endpoint.tag or "", moments)) is not None
        }

    def at(self, moment: datetime) -> Iterator[Observation]:
        """The observations at one of the moments that were read."""
        purchased, used = self._totals[moment]
        totals = {"total_credits": purchased, "total_usage": used}
        credits = self.credits.model_copy(update=totals)
        yield observe_credits(credits, ObservedReading(moment, OFTEN))
        keys = [
            self._key(row, moment) for row in self.keys if _is_there(row.key.created_at, moment)
        ]
        yield observe_keys(keys, ObservedReading(moment, OFTEN))
        spaces = {
            identity: replace(contents, spent=self._spent_in(identity, contents, moment))
            for identity, contents in self.workspaces.items()
            if contents.workspace is None or _is_there(contents.workspace.created_at, moment)
        }
        yield observe_workspaces(spaces, ObservedReading(moment, RARELY))
        rails = [row for row in self.guardrails if _is_there(row.guardrail.created_at, moment)]
        yield observe_guardrails(rails, ObservedReading(moment, RARELY))
        for model, rows in self.endpoints.items():
            then = [
                replace(row, endpoint=Endpoint.model_validate({**row.endpoint.raw, **live[moment]}))
                for row in rows
                if (live := self._figures.get((model, row.identity))) is not None
            ]
            yield observe_endpoints(model, then, ObservedReading(moment, OFTEN))

    def _used(self, identity: str, interval: str, moment: datetime) -> KeyUsage:
        spent = self._spent.get(identity)
        if spent is None:
            return _NOTHING
        start = window_start(interval, moment)
        until, since = spent[moment], _NOTHING if start is None else spent[start]
        return KeyUsage(until.usd - since.usd, until.byok_usd - since.byok_usd)

    def _key(self, row: KeyRow, moment: datetime) -> KeyRow:
        key = row.key
        if row.identity not in self._spent:
            return row
        used, today = (self._used(row.identity, window, moment) for window in ("lifetime", "daily"))
        changes: dict[str, Any] = {
            "usage": used.usd,
            "usage_daily": today.usd,
            "byok_usage": used.byok_usd,
        }
        if key.limit is not None:
            window = self._used(row.identity, key.limit_reset or "lifetime", moment)
            counted = window.usd + (window.byok_usd if key.include_byok_in_limit else 0)
            changes["limit_remaining"] = key.limit - counted
        if (disabled_at := self.past.disabled_at(row.identity)) is not None:
            changes["disabled"] = disabled_at <= moment
        return replace(row, key=key.model_copy(update=changes))

    def _spent_in(
        self, workspace: str, contents: WorkspaceFigures, moment: datetime
    ) -> Mapping[str, Decimal | None]:
        byok = bool(contents.workspace and contents.workspace.include_byok_in_budgets)
        keys = [row.identity for row in self.keys if row.key.workspace_id == workspace]
        spent: dict[str, Decimal | None] = {}
        for interval in BUDGET_INTERVALS:
            used = [self._used(identity, interval, moment) for identity in keys]
            spent[interval] = sum((usage.usd + usage.byok_usd * byok for usage in used), Decimal(0))
        return spent


def _live(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _exact(answer[name]) for name in _LIVE}


def _exact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _exact(part) for name, part in value.items()}
    return None if value is None else Decimal(str(value))


def _is_there(created_at: datetime | None, moment: datetime) -> bool:
    return created_at is None or created_at <= moment


async def _read_account(hub: FeedHub, past: HistorySource) -> _PastAccount | None:
    scope = Scope()
    credits = (await credits_feed(hub, scope).refresh()).value
    keys = (await keys_feed(hub, scope).refresh()).value
    workspaces = (await figures_feed(hub, scope).refresh()).value
    guardrails = (await guardrails_feed(hub, scope).refresh()).value
    models = (await most_used_feed(hub).refresh()).value or ()
    if credits is None or keys is None or workspaces is None or guardrails is None:
        return None
    endpoints: dict[str, Sequence[EndpointRow]] = {}
    for model in models:
        rows = (await endpoints_feed(hub, Scope(parent=model)).refresh()).value
        if rows:
            endpoints[model] = rows
    return _PastAccount(past, credits, keys, workspaces, guardrails, endpoints)
