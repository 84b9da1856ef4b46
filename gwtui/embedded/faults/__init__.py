"""Fault injection: errors and delays, limited by operation, number of requests and probability.

``parse`` reads a fault as written on the command line, ``KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%]
[seed=N]``: ``reset-after:POST /keys x1``, ``latency=0.8:reads``, ``429 25% seed=7``.
``FaultInjector`` wraps the gateway's ASGI application. Loaded only if a fault is requested.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches

from starlette.types import ASGIApp, Receive, Scope, Send

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.faults.kinds import (
    CLOCK_SKEW,
    KINDS,
    LATENCY,
    BreakableProtocol,
    Exchange,
    FaultKind,
)
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import PREFIX, all_operations, operations_at

__all__ = ["Fault", "FaultInjector", "catalogue", "parse"]

_FAULT = re.compile(
    r"(?P<kind>[\w-]+) ?(?:= ?(?P<number>[^: ]+))? ?(?:: ?(?P<where>.*?))?"
    r"(?: x(?P<times>[1-9]\d{0,5}))?(?: (?P<chance>[\d.]{1,9})%)?(?: seed=(?P<seed>\d{1,9}))?",
    re.ASCII,
)
_PARAMETER = re.compile(r"\{\w*\}")
_BOUNDS = {"SECONDS": (0, 86_400), "EVENTS": (0, 100_000)}
_SKEW_BOUNDS = (-10 * 366 * 86_400, 10 * 366 * 86_400)
_EXAMPLES = (
    "reset-after:POST /keys x1",
    "latency=0.8:reads",
    "503=30:GET /keys x2",
    "429 25% seed=7",
    "clock-skew=-90",
    "stream-cut=5 x1",
)


@dataclass(kw_only=True)
class Fault:
    """A fault and the requests that it applies to; ``struck`` counts the affected requests."""

    text: str
    kind: FaultKind
    number: float
    operations: frozenset[str] | None
    """Operation identifiers; None matches every request, including unknown paths."""
    times: int | None
    chance: float
    luck: random.Random
    struck: int = 0

    def strikes(self, operation: str | None) -> bool:
        """Return whether the fault applies to this request; if so, count the request."""
        if self.kind is CLOCK_SKEW or self.struck == self.times:
            return False
        if self.operations is not None and operation not in self.operations:
            return False
        if self.luck.random() >= self.chance:
            return False
        self.struck += 1
        return True


class FaultInjector:
    """The faults of one gateway: ``arm`` adds one, ``clear`` removes all.

    All matching latencies are added; of the other matching faults, only the first one acts.
    """

    protocol = BreakableProtocol
    """The HTTP protocol class for a server whose connections can be dropped."""

    def __init__(self, faults: Iterable[str] = ()) -> None:
        self.armed = [parse(fault) for fault in faults]
        """All faults in the order they were armed, including exhausted ones."""

    def arm(self, fault: str) -> Fault:
        """Add a fault. Raises FaultSyntaxError."""
        self.armed.append(parse(fault))
        return self.armed[-1]

    def clear(self) -> None:
        """Remove all faults."""
        self.armed.clear()

    def skewed(self, clock: Clock = SYSTEM_CLOCK) -> Clock:
        """Return the clock, shifted by all armed clock skews, including later ones."""

        def now() -> datetime:
            ahead = sum(fault.number for fault in self.armed if fault.kind is CLOCK_SKEW)
            return clock.now() + timedelta(seconds=ahead)

        return replace(clock, now=now)

    def before(self, app: ASGIApp, clock: Clock) -> ASGIApp:
        """Return the application behind these faults; ``clock`` times latencies and Retry-After."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            exchange = Exchange(app, scope, receive, send, clock)
            operation = _operation_of(scope) if self.armed else None
            for fault in self.armed:
                if fault.strikes(operation):
                    await fault.kind.act(exchange, fault.number)
                    if fault.kind is not LATENCY:
                        return
            await exchange.forward()

        return guarded


def _operation_of(scope: Scope) -> str | None:
    methods, _ = operations_at(scope["path"])
    operation = methods.get(scope["method"])
    return None if operation is None else operation.operation_id


def parse(text: str) -> Fault:
    """Parse a fault. Raises FaultSyntaxError."""
    try:
        return _parse(" ".join(text.split()))
    except ValueError as error:
        raise FaultSyntaxError(f"Cannot understand the fault {text!r}: {error}.") from None


def _parse(text: str) -> Fault:
    match = _FAULT.fullmatch(text)
    name = match["kind"] if match else text
    kind = KINDS.get(name)
    if match is None or kind is None:
        hint = _did_you_mean(name, KINDS, 0.6) or "'--fault list' lists them"
        raise ValueError(f"unknown kind {name!r} ({hint})")
    where, times, chance, seed = match.group("where", "times", "chance", "seed")
    if kind is CLOCK_SKEW and (where is not None or times or chance or seed):
        raise ValueError("clock-skew applies to every request and takes nothing but seconds")
    fault = Fault(
        text=text,
        kind=kind,
        number=_number(kind, match["number"]),
        operations=_operations(kind, where or ""),
        times=int(times) if times else None,
        chance=float(chance or 100) / 100,
        luck=random.Random(int(seed or 0)),  # noqa: S311 - repeatable
    )
    if not 0 < fault.chance <= 1:
        raise ValueError("the chance must be above 0% and at most 100%")
    return fault


def _did_you_mean(text: str, names: Iterable[str], cutoff: float) -> str:
    close = get_close_matches(text, list(names), n=1, cutoff=cutoff)
    return f"did you mean {close[0]!r}?" if close else ""


def _number(kind: FaultKind, text: str | None) -> float:
    if not kind.number:
        if text is not None:
            raise ValueError(f"{kind.name} takes no seconds")
        return 0.0
    if text is None and kind.usual is None:
        raise ValueError(f"{kind.name} needs a number of seconds, such as {kind.name}=2")
    try:
        number = float(text if text is not None else kind.usual or 0)
    except ValueError:
        raise ValueError(f"{text!r} is not a number of {kind.number.lower()}") from None
    least, most = _SKEW_BOUNDS if kind is CLOCK_SKEW else _BOUNDS[kind.number]
    if not least <= number <= most or (kind.number == "EVENTS" and not number.is_integer()):
        what = "seconds" if kind.number == "SECONDS" else "a whole number of events"
        raise ValueError(f"{kind.name} takes {what} from {least} to {most}")
    return number


def _operations(kind: FaultKind, where: str) -> frozenset[str] | None:
    # Return the operation identifiers that ``where`` selects; None for all.
    #
    # ``where`` is empty or "*" for all, "reads", "writes", a method, a path, both, or an operation
    # identifier. Raises ValueError with a message for the user.
    everything = where in {"", "*", "all", "everything"}
    if everything and not kind.streams:
        return None
    meant = [each for each in all_operations() if everything or _is_meant(where, each)]
    if not meant:
        names = [f"{each.method} {each.path}" for each in all_operations()]
        names += [each.operation_id for each in all_operations()]
        hint = _did_you_mean(where, [*names, "reads", "writes"], 0.5)
        raise ValueError(f"unknown operation {where!r}{hint and f' ({hint})'}")
    struck = [each for each in meant if each.streams is not None or not kind.streams]
    if not struck:
        raise ValueError(f"{kind.name} applies to streams only, and {where!r} does not stream")
    return frozenset(each.operation_id for each in struck)


def _is_meant(where: str, operation: Operation) -> bool:
    if where in {"reads", "writes"}:
        return operation.writes == (where == "writes")
    method, _, path = where.rpartition(" ")
    if not path.startswith("/"):
        return not method and (where == operation.operation_id or where.upper() == operation.method)
    return method.upper() in {"", "*", operation.method} and _plain(path) == _plain(operation.path)


def _plain(path: str) -> str:
    return _PARAMETER.sub("{}", path.removeprefix(PREFIX).rstrip("/"))


def catalogue() -> list[str]:
    """Return the lines of ``--fault list``: the syntax, all kinds and all operations."""
    return [
        "KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%] [seed=N]",
        "",
        "KIND",
        *(f"  {_written(kind):<24} {kind.about}" for kind in KINDS.values()),
        "",
        "WHERE: empty for all requests, or reads, writes, a method, a path, an operation",
        *(f"  {each.operation_id:<26} {each.method} {each.path}" for each in all_operations()),
        "",
        "For example",
        *(f"  --fault '{example}'" for example in _EXAMPLES),
    ]


def _written(kind: FaultKind) -> str:
    number = f"={kind.number}" if kind.number else ""
    return kind.name + (number if kind.usual is None else f"[{number}]")
