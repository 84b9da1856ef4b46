"""Faults on demand: errors and delays of the gateway, limited to operations, a number and a chance.

``FaultInjector`` holds the faults and stands before the gateway's application; ``parse`` reads one
as it is written on the command line, such as ``reset-after:POST /keys x1``. A gateway without
faults loads none of this.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from starlette.types import ASGIApp, Receive, Scope, Send

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.faults.exchange import Exchange
from gwtui.embedded.faults.grammar import catalogue, operation_of, parse
from gwtui.embedded.faults.kinds import CLOCK_SKEW, Fault

__all__ = ["Fault", "FaultInjector", "catalogue", "parse"]


class ArmedFault:
    """A fault that was armed; ``struck`` counts the requests that it hit."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.struck = 0
        self._luck = random.Random(fault.seed)  # noqa: S311 - must be repeatable

    def strikes(self, operation: str | None) -> bool:
        """Whether it hits this request; if so, that counts."""
        fault = self.fault
        if self._is_used_up or not fault.where.holds(operation):
            return False
        if self._luck.random() >= fault.chance:
            return False
        self.struck += 1
        return True

    @property
    def _is_used_up(self) -> bool:
        return self.fault.times is not None and self.struck >= self.fault.times


class FaultInjector:
    """The faults of one gateway: ``arm`` adds one, ``clear`` removes all.

    Every delay that hits a request is waited for; of the others the one that was armed first acts.
    """

    def __init__(self, faults: Iterable[Fault | str] = ()) -> None:
        self._armed: list[ArmedFault] = []
        for fault in faults:
            self.arm(fault)

    def arm(self, fault: Fault | str) -> ArmedFault:
        """Add a fault, in words or made; raises FaultSyntaxError for words that mean none."""
        armed = ArmedFault(parse(fault) if isinstance(fault, str) else fault)
        self._armed.append(armed)
        return armed

    def clear(self) -> None:
        """Remove every fault."""
        self._armed.clear()

    @property
    def armed(self) -> tuple[ArmedFault, ...]:
        """What was armed, in order, used up or not."""
        return tuple(self._armed)

    @property
    def skew(self) -> timedelta:
        """How far the gateway's clock is ahead."""
        ahead = sum(a.fault.seconds for a in self._armed if a.fault.kind is CLOCK_SKEW)
        return timedelta(seconds=ahead)

    def skewed(self, clock: Clock = SYSTEM_CLOCK) -> Clock:
        """A clock that is wrong by ``skew``, now and later."""

        def now() -> datetime:
            return clock.now() + self.skew

        return replace(clock, now=now)

    def before(self, app: ASGIApp, clock: Clock) -> ASGIApp:
        """The application with the faults before it; ``clock`` is what it goes by."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or not self._armed:
                await app(scope, receive, send)
            else:
                await self._apply(Exchange(app, scope, receive, send, clock), operation_of(scope))

        return guarded

    async def _apply(self, exchange: Exchange, operation: str | None) -> None:
        for armed in self._armed:
            kind = armed.fault.kind
            if kind.act is None or not armed.strikes(operation):
                continue
            await kind.act(exchange, armed.fault.seconds)
            if not kind.delays:
                return
        await exchange.forward()
