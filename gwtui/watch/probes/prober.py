"""Sends probes to the endpoints of the watched models, for as long as this instance records.

An endpoint is probed when a request can be pinned to it and its price is known; never twice for one
turn, never two at the same time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from gwtui.client.connection import Connection, InvalidConnectionError
from gwtui.client.inference import Inference
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.probes import ProbeTarget, delay_after, max_daily_cost
from gwtui.domain.route_order import pinned_to
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.local.probe_key import ProbeAccess
from gwtui.local.tokens import TokenError
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.history.model import (
    PROBE_OK,
    HistoryError,
    LeaseLostError,
    Observation,
    SeriesKey,
    endpoint_identity,
)
from gwtui.watch.history.observers import LONGEST_IDENTITY
from gwtui.watch.history.recorder import Recorder
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.probes import spending
from gwtui.watch.probes.outcome import ProbeOutcome, observed, probe
from gwtui.watch.probes.status import ProbeStatus

LOOK = 5.0
"""Seconds between two looks at what is due; also how long the announcement stands before it."""
AT_A_TIME = 4
"""Probes under way at the most."""
SPREAD = 60.0
"""Seconds over which the first probes of all endpoints are spread, at the most."""
KEY_WAIT = 300.0
"""Seconds without probes after the state of their key refused one."""

MUTE_WAIT = 6 * 3600.0
"""Seconds after which an endpoint is probed again that a probe said nothing of: one of a model that
does not answer in text, or that a guardrail keeps back, will say nothing tomorrow either."""

ELSEWHERE = "another gwtui records, and probes if it is told to"

NO_TAG = "nothing in a request means this endpoint alone"
NO_PRICE = "its price is not known"
_NAME = 80

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProbeTargets:
    """What is probed, and why the other endpoints are not, by their name."""

    probed: tuple[ProbeTarget, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    def mosts(self, moment: datetime) -> Iterable[Decimal]:
        """The most that one probe of each endpoint costs, USD."""
        found = (target.most(moment) for target in self.probed)
        return [most for most in found if most is not None]


def targets_of(
    models: Iterable[str], rows: Iterable[Sequence[EndpointRow]], moment: datetime
) -> ProbeTargets:
    """The endpoints of models, each with its ``rows`` as they were read last."""
    probed: list[ProbeTarget] = []
    left_out: list[tuple[str, str]] = []
    for model, of_model in zip(models, rows, strict=True):
        endpoints = [row.endpoint for row in of_model]
        for row in of_model:
            name = safe_line(f"{model} at {row.title or row.identity}", _NAME)
            pinned = pinned_to(row.endpoint, endpoints)
            if pinned is None:
                left_out.append((name, NO_TAG))
                continue
            identity = safe_text(endpoint_identity(model, row.identity), LONGEST_IDENTITY)
            target = ProbeTarget(identity, name, model, row.endpoint, pinned)
            if target.most(moment) is None:
                left_out.append((name, NO_PRICE))
            else:
                probed.append(target)
    return ProbeTargets(tuple(probed), tuple(left_out))


def read_rows(hub: FeedHub, models: Iterable[str]) -> list[Sequence[EndpointRow]] | None:
    """The endpoints of models as their feeds have them; None until each was read or failed."""
    found: list[Sequence[EndpointRow]] = []
    for model in models:
        state = endpoints_feed(hub, Scope(parent=model)).state
        if state.value is None and state.error is None:
            return None
        found.append(state.value or ())
    return found


class ProbeListener(Protocol):
    """Gets what a prober has to say, and its readings."""

    def report(self, text: str) -> object:
        """A sentence for a person: what it costs before the first probe, why probes stop."""

    def on_reading(self, target: ProbeTarget, observation: Observation) -> object:
        """A probe gave a reading of its target."""


class Prober:
    """Probes the endpoints of the watched models; ``run`` it until it is cancelled."""

    def __init__(
        self,
        hub: FeedHub,
        recorder: Recorder,
        connection: Connection,
        probing: ProbeAccess,
        listener: ProbeListener,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hub = hub
        self._recorder = recorder
        self._connection = connection
        self._probing = probing
        self._listener = listener
        self._clock = clock
        self._every = timedelta(minutes=probing.settings.every_minutes)
        self._cap = probing.settings.max_usd_per_day
        self._status = ProbeStatus(self._every, self._cap)
        self._read: tuple[Sequence[str], Sequence[Sequence[EndpointRow]]] | None = None
        self._targets = ProbeTargets()
        self._announced: frozenset[str] = frozenset()
        self._said = ""
        self._due: dict[str, float] = {}
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._mute: dict[str, str] = {}
        """Endpoints of which the last probe said nothing, and why."""
        self._new_mutes: dict[str, str] = {}
        self._gate = asyncio.Semaphore(AT_A_TIME)
        self._models: Inference | None = None
        self._left: list[Inference] = []
        """Through keys that were refused: closed once no probe is under way."""
        self._finding = asyncio.Lock()
        self._quiet_until = 0.0
        self._full_on: date | None = None

    @property
    def status(self) -> ProbeStatus:
        """How it stands."""
        return self._status

    async def run(self) -> None:
        """Until it is cancelled; probes under way are hung up on then, and count in full."""
        try:
            while True:
                try:
                    await self._look()
                except HistoryError as error:
                    self._trouble(str(error))
                except Exception as error:
                    _log.exception("probes: unexpected failure")
                    self._trouble(f"unexpected {type(error).__name__}")
                await self._clock.sleep(LOOK)
        finally:
            for task in self._under_way.values():
                task.cancel()
            if self._under_way:
                await asyncio.wait(self._under_way.values())
            self._under_way.clear()
            self._leave_key()
            await self._close_left()

    # What is due ------------------------------------------------------------------------------

    async def _look(self) -> None:
        if self._connection.read_only and not self._probing.allowed:
            self._trouble(
                "they cost money, and are not sent while read-only; while_read_only = true in the "
                "profile's probe table sends them"
            )
            return
        if not self._recorder.status.recording:
            self._set(problem=ELSEWHERE)
            return
        if self._status.problem == ELSEWHERE:
            self._set(problem="")
        if not await self._follow():
            return
        now = self._clock.now()
        spent = await self._recorder.archive.read(
            lambda history: spending.spending_of(history.connection, now.date())
        )
        self._set(spent=spent, full=self._full_on == now.date(), mute=len(self._mute))
        self._tell_mutes()
        await self._close_left()
        identities = frozenset(target.identity for target in self._targets.probed)
        if not identities <= self._announced:
            # None of them is probed before the next look: it can still be stopped.
            self._announced |= identities
            self._listener.report(self._status.announcement)
            return
        if self._clock.monotonic() < self._quiet_until:
            return
        for target in self._targets.probed:
            self._begin(target)

    async def _follow(self) -> bool:
        """Bring the endpoints up to date; False until they were read."""
        models = self._recorder.status.models
        rows = read_rows(self._hub, models)
        if rows is None:
            return False
        if self._read is None or not _same(self._read, (models, rows)):
            now = self._clock.now()
            self._read, self._targets = (models, rows), targets_of(models, rows, now)
            mosts = self._targets.mosts(now)
            self._set(
                endpoints=len(self._targets.probed),
                left_out=self._targets.left_out,
                most=max_daily_cost(mosts, self._every),
            )
            for target in self._targets.probed:
                if target.identity not in self._due:
                    self._due[target.identity] = await self._first_due(target)
        return True

    async def _first_due(self, target: ProbeTarget) -> float:
        """A restart makes no probe come earlier."""
        key = SeriesKey("endpoint", target.identity, PROBE_OK)
        last = (await self._recorder.archive.read(lambda history: history.latest(key))).measured_at
        spread = min(SPREAD, self._every.total_seconds()) * self._clock.chance()
        left = 0.0
        if last is not None:
            passed = (self._clock.now() - last).total_seconds()
            left = self._every.total_seconds() - passed if passed >= 0 else 0.0
        return self._clock.monotonic() + max(left, 0.0) + spread

    def _begin(self, target: ProbeTarget) -> None:
        """Send it if it is due, unless one is under way."""
        now = self._clock.monotonic()
        if target.identity in self._under_way or now < self._due[target.identity]:
            return
        self._due[target.identity] = now + delay_after(self._every, self._clock.chance())
        task = asyncio.get_running_loop().create_task(self._probe(target), name="probe")
        self._under_way[target.identity] = task
        task.add_done_callback(lambda _: self._under_way.pop(target.identity, None))

    # One probe --------------------------------------------------------------------------------

    async def _probe(self, target: ProbeTarget) -> None:
        try:
            async with self._gate:
                await self._send(target)
        except LeaseLostError:
            pass  # another instance probes by now
        except HistoryError as error:
            self._trouble(str(error))
        except Exception as error:
            _log.exception("probes: unexpected failure")
            self._trouble(f"unexpected {type(error).__name__}")

    async def _send(self, target: ProbeTarget) -> None:
        now = self._clock.now()
        most = target.most(now)
        if self._clock.monotonic() < self._quiet_until or most is None:
            return
        models = await self._through_key()
        if models is None or not await self._counted(now, most):
            return
        outcome = await probe(models, target)
        if outcome.cost is not None:
            await self._settle(now.date(), most, outcome.cost)
        await self._learn(target, outcome)

    async def _counted(self, now: datetime, most: Decimal) -> bool:
        """Count the bound of a probe before it is sent; False when the day has no room for it."""
        archive, day, cap = self._recorder.archive, now.date(), self._cap
        if await archive.write(lambda writer: spending.begin(writer, day, most, cap)):
            return True
        if self._full_on != day:
            self._full_on = day
            self._set(full=True)
            self._listener.report(f"Probes stop for today: {self._status.line}")
        return False

    async def _settle(self, day: date, most: Decimal, cost: Decimal) -> None:
        archive = self._recorder.archive
        spent = await archive.change(lambda connection: spending.end(connection, day, most, cost))
        self._set(spent=spent)

    async def _learn(self, target: ProbeTarget, outcome: ProbeOutcome) -> None:
        every = int(self._every.total_seconds())
        observation = observed(target, outcome, self._clock.now(), every)
        if observation is not None:
            self._recorder.record(observation)
            self._listener.on_reading(target, observation)
        match outcome.verdict:
            case "answered" | "failed":
                self._mute.pop(target.identity, None)
                self._set(problem="")
                self._said = ""
            case "key":
                wait = max(outcome.wait or 0.0, KEY_WAIT)
                self._quiet_until = self._clock.monotonic() + wait
                self._trouble(f"their key was refused: {outcome.said}", "key")
                self._leave_key()
            case "unreached":
                self._trouble(outcome.said, "unreached")
            case "nothing":
                self._due[target.identity] = self._clock.monotonic() + max(MUTE_WAIT, every)
                if self._mute.get(target.identity) != outcome.said:
                    self._new_mutes[target.name] = outcome.said
                self._mute[target.identity] = outcome.said

    # The key ----------------------------------------------------------------------------------

    async def _through_key(self) -> Inference | None:
        async with self._finding:
            if self._models is None and self._clock.monotonic() >= self._quiet_until:
                try:
                    key = await self._probing.key()
                    self._models = Inference(
                        self._connection, key, allow_tries=self._probing.allowed, clock=self._clock
                    )
                except (TokenError, InvalidConnectionError) as error:
                    self._quiet_until = self._clock.monotonic() + KEY_WAIT
                    self._trouble(str(error))
            return self._models

    def _leave_key(self) -> None:
        """It is looked for again: somebody may have put another one in its place."""
        models, self._models = self._models, None
        if models is not None:
            self._left.append(models)

    async def _close_left(self) -> None:
        while self._left and not self._under_way:
            await self._left.pop().close()

    # What is said -----------------------------------------------------------------------------

    def _tell_mutes(self) -> None:
        """Endpoints of which probes say nothing, those of one look together."""
        found, self._new_mutes = self._new_mutes, {}
        if found:
            name, why = next(iter(found.items()))
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            self._listener.report(f"Probes say nothing of {name}{more}: {why}")

    def _trouble(self, problem: str, topic: str = "") -> None:
        """Told once until something else is wrong, or all is well in between.

        Problems of one ``topic`` are the same one, whatever their words.
        """
        self._set(problem=problem)
        if (topic or problem) != self._said:
            self._said = topic or problem
            self._listener.report(f"Probes: {problem}")

    def _set(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def _same(
    before: tuple[Sequence[str], Sequence[Sequence[EndpointRow]]],
    now: tuple[Sequence[str], Sequence[Sequence[EndpointRow]]],
) -> bool:
    """Whether nothing was read again."""
    return before[0] == now[0] and all(
        old is new for old, new in zip(before[1], now[1], strict=True)
    )
