"""Faults in words: ``KIND[=SECONDS][:WHERE] [xTIMES] [CHANCE%] [seed=N]``.

``reset-after:POST /keys x1``, ``latency=0.8:reads``, ``503=30:GET /keys x2``, ``429 25% seed=7``,
``clock-skew=-90``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from difflib import get_close_matches

from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.faults.aim import where
from gwtui.embedded.faults.fault import Fault, Kind
from gwtui.embedded.faults.kinds import CLOCK_SKEW, KINDS
from gwtui.embedded.routes import OPERATIONS

_TIMES = re.compile(r"x([1-9]\d{0,5})", re.ASCII)
_CHANCE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
_SEED = re.compile(r"seed=(\d{1,9})", re.ASCII)
_LONGEST = 86_400.0
"""Seconds of any wait."""
_FARTHEST = 10 * 366 * 86_400.0
"""Seconds of a clock's skew."""


def parse(text: str) -> Fault:
    """The fault that is described. Raises FaultSyntaxError."""
    try:
        return _parse(text)
    except ValueError as error:
        raise FaultSyntaxError(f"Cannot understand the fault {text!r}: {error}.") from None


def _parse(text: str) -> Fault:
    words = text.split()
    times, chance, seed = _modifiers(words)
    name, colon, aim = " ".join(words).partition(":")
    name, equals, seconds = name.partition("=")
    kind = _kind(name.strip())
    waits = _seconds(kind, seconds if equals else None)
    if kind is CLOCK_SKEW:
        if colon or times is not None or chance < 1:
            raise ValueError("a clock is wrong for every request, all the time")
        return Fault(kind, seconds=waits)
    return Fault(kind, where(aim), waits, times, chance, seed)


def _modifiers(words: list[str]) -> tuple[int | None, float, int]:
    """Take what stands at the end off ``words``: times, chance and seed."""
    times: int | None = None
    chance, seed = 1.0, 0
    while len(words) > 1:
        last = words[-1]
        if match := _TIMES.fullmatch(last):
            times = int(match[1])
        elif match := _CHANCE.fullmatch(last):
            chance = float(match[1]) / 100
            if not 0 < chance <= 1:
                raise ValueError("a chance is above 0% and at most 100%")
        elif match := _SEED.fullmatch(last):
            seed = int(match[1])
        else:
            break
        words.pop()
    return times, chance, seed


def _kind(name: str) -> Kind:
    kind = KINDS.get(name)
    if kind is None:
        close = get_close_matches(name, KINDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "'--fault list' lists them"
        raise ValueError(f"there is no kind {name!r} ({hint})")
    return kind


def _seconds(kind: Kind, text: str | None) -> float:
    if not kind.takes_seconds:
        if text is not None:
            raise ValueError(f"{kind.name} takes no seconds")
        return 0.0
    if text is None:
        if kind.usual is None:
            raise ValueError(f"{kind.name} needs its seconds, such as {kind.name}=2")
        return kind.usual
    try:
        seconds = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number of seconds") from None
    least, most = (-_FARTHEST, _FARTHEST) if kind is CLOCK_SKEW else (0.0, _LONGEST)
    if not (math.isfinite(seconds) and least <= seconds <= most):
        raise ValueError(f"{kind.name} takes seconds from {least:.0f} to {most:.0f}")
    return seconds


def catalogue() -> Iterator[str]:
    """What can be asked for, line by line: how it is written, every kind, every operation."""
    yield "KIND[=SECONDS][:WHERE] [xTIMES] [CHANCE%] [seed=N]"
    yield ""
    yield "KIND"
    for kind in KINDS.values():
        yield f"  {_written(kind):<24} {kind.about}"
    yield ""
    yield "WHERE: nothing for all of them, reads, writes, a method, a path or an operation"
    for operation in OPERATIONS:
        yield f"  {operation.operation_id:<26} {operation.method} {operation.path}"
    yield ""
    yield "For example"
    for example in (
        "reset-after:POST /keys x1",
        "latency=0.8:reads",
        "503=30:GET /keys x2",
        "429 25% seed=7",
        "clock-skew=-90",
    ):
        yield f"  --fault '{example}'"


def _written(kind: Kind) -> str:
    if not kind.takes_seconds:
        return kind.name
    return f"{kind.name}=SECONDS" if kind.usual is None else f"{kind.name}[=SECONDS]"
