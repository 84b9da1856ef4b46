"""The evaluation that goes on beside a recorder, for as long as this instance holds the lease."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence

from gwtui.contract.dialects import Dialect
from gwtui.domain.alert_rules import GuardrailRule
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.local.alerts import AlertEffects, RuleFile
from gwtui.watch.alerts.derived_figures import EVERY, guarded, readability
from gwtui.watch.alerts.model import AlertEvent
from gwtui.watch.alerts.persistent_evaluator import PersistentEvaluator
from gwtui.watch.feeds.models import routing_feed
from gwtui.watch.history.model import HistoryError, Observation
from gwtui.watch.history.recorder import Recorded, Recorder
from gwtui.watch.history.writer import HistoryWriter
from gwtui.watch.hub import FeedHub

MOST_WAITING = 1000
"""Readings that wait to be evaluated; what comes then pushes the oldest one out."""

_log = logging.getLogger(__name__)

Happened = Callable[[Sequence[AlertEvent]], None]


class AlertEngine:
    """Runs the rules over what the recorder writes; ``happened`` is told of each event once.

    Needs a running event loop. ``start`` it and ``stop`` it at the end.
    """

    def __init__(
        self,
        *,
        hub: FeedHub,
        recorder: Recorder,
        rule_file: RuleFile,
        dialect: Dialect,
        happened: Happened,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._hub = hub
        self._recorder = recorder
        self._rule_file = rule_file
        self._dialect = dialect
        self._happened = happened
        self._clock = clock
        self._evaluator = PersistentEvaluator()
        self._seen: deque[Observation] = deque(maxlen=MOST_WAITING)
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._leave: Callable[[], None] = lambda: None
        self._leave_routing: Callable[[], None] | None = None
        self.problem = ""
        """Why nothing is evaluated, for a person; empty while all is well."""

    @property
    def effects(self) -> AlertEffects:
        """What an alert does, as the file says."""
        return self._rule_file.book.effects

    @property
    def rules_problem(self) -> str:
        """What is wrong with the file of rules; empty while nothing is."""
        return self._rule_file.problem

    def start(self) -> None:
        """Begin."""
        if not self._tasks:
            self._rule_file.refresh()
            loop = asyncio.get_running_loop()
            self._leave = self._recorder.listen(self._recorded)
            self._tasks = [
                loop.create_task(self._evaluate_on(), name="alerts"),
                loop.create_task(self._look_on(), name="alerts looking"),
            ]

    async def stop(self) -> None:
        """Evaluate no more."""
        self._leave()
        self._follow_routing(wanted=False)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    def nudge(self) -> None:
        """Something was acknowledged, or the rules are others: look at once."""
        self._rule_file.refresh()
        self._wake.set()

    # What comes in ----------------------------------------------------------------------------

    def _recorded(self, recorded: Recorded) -> None:
        self._seen.append(recorded.observation)
        self._wake.set()

    async def _look_on(self) -> None:
        """At a pace of its own: what no reading tells, and what ends by time alone."""
        while True:
            await self._clock.sleep(EVERY)
            self._rule_file.refresh()
            if not self._recorder.status.recording:
                continue
            self._follow_routing(wanted=self._wants_routing())
            for derived in self._derived():
                if await self._record(derived):
                    self._seen.append(derived)
            self._wake.set()

    def _derived(self) -> Sequence[Observation]:
        now, models = self._clock.now(), self._recorder.status.models
        found = [readability(self._hub, models, now)]
        if self._leave_routing is not None:
            routing = routing_feed(self._hub).state.value
            left = guarded(self._hub, models, routing, self._dialect, now)
            found += [] if left is None else [left]
        return found

    async def _record(self, derived: Observation) -> bool:
        try:
            await self._recorder.archive.write(lambda writer: writer.observe(derived))
        except HistoryError as error:
            self.problem = str(error)
            return False
        return True

    def _wants_routing(self) -> bool:
        return any(
            isinstance(rule, GuardrailRule) and rule.enabled
            for rule in self._rule_file.refresh().values()
        )

    def _follow_routing(self, *, wanted: bool) -> None:
        """What decides where requests go is read only while a rule asks for it."""
        if wanted and self._leave_routing is None:
            self._leave_routing = routing_feed(self._hub).watch(lambda _: None, background=True)
        elif not wanted and self._leave_routing is not None:
            self._leave_routing()
            self._leave_routing = None

    # Evaluating -------------------------------------------------------------------------------

    async def _evaluate_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._recorder.status.recording:
                await self._evaluate()
            else:
                self._seen.clear()
                self._evaluator.forget()

    async def _evaluate(self) -> None:
        """No failure may end it; what was read meanwhile is lost, the next reading comes."""
        seen = tuple(self._seen)
        self._seen.clear()
        try:
            events = await self._recorder.archive.write(lambda writer: self._run(writer, seen))
        except HistoryError as error:
            self.problem = str(error)
            return
        except Exception as error:
            _log.exception("alerts: unexpected failure")
            self.problem = f"unexpected {type(error).__name__}"
            return
        self.problem = ""
        if events:
            self._happened(events)

    def _run(self, writer: HistoryWriter, seen: Sequence[Observation]) -> tuple[AlertEvent, ...]:
        """In the writing thread."""
        return self._evaluator.run(writer, self._rule_file.refresh(), seen, self._clock.now())
