"""Faults in words: ``KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%] [seed=N]``.

``reset-after:POST /keys x1``, ``latency=0.8:reads``, ``503=30:GET /keys x2``, ``429 25% seed=7``,
``clock-skew=-90``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import get_args

from starlette.types import Scope

from gwtui.embedded.app import PREFIX, literal_first
from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.faults.kinds import CLOCK_SKEW, KINDS, Fault, FaultKind, Where
from gwtui.embedded.operations import Method, Operation
from gwtui.embedded.routes import all_operations

_PARAMETER = re.compile(r"\{\w*\}")
_METHODS = frozenset(get_args(Method))
_EVERYTHING = frozenset({"", "*", "everything", "all"})


def operation_of(scope: Scope) -> str | None:
    """The identifier of the operation that a request is for; None when there is none."""
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    path = scope["path"]
    return next(
        (id_ for pattern, id_ in _routes().get(method, ()) if pattern.fullmatch(path)), None
    )


@cache
def _routes() -> Mapping[str, list[tuple[re.Pattern[str], str]]]:
    found: dict[str, list[tuple[re.Pattern[str], str]]] = {method: [] for method in _METHODS}
    for operation in sorted(all_operations(), key=lambda one: literal_first(one.path)):
        parts = [re.escape(part) for part in _PARAMETER.split(operation.path)]
        pattern = re.compile(re.escape(PREFIX) + "[^/]+".join(parts))
        found[operation.method].append((pattern, operation.operation_id))
    return found


def where(text: str) -> Where:
    """The requests that a person means.

    Nothing or "*" is all of them; "reads", "writes", a method, a path, both, or the identifier of
    an operation. Raises ValueError with a message for the person.
    """
    words = text.split()
    if text.strip().lower() in _EVERYTHING:
        return Where()
    meant = frozenset(one.operation_id for one in all_operations() if _is_meant(words, one))
    if not meant:
        raise ValueError(f"no operation is {text.strip()!r}{_likely(text.strip())}")
    return Where(" ".join(words), meant)


def _is_meant(words: list[str], operation: Operation) -> bool:
    match words:
        case [word] if word.lower() in {"reads", "writes"}:
            return operation.writes == (word.lower() == "writes")
        case [word] if word.startswith("/"):
            return _plain(word) == _plain(operation.path)
        case [word]:
            return word == operation.operation_id or word.upper() == operation.method
        case [method, path]:
            fits = method == "*" or method.upper() == operation.method
            return fits and _plain(path) == _plain(operation.path)
    return False


def _plain(path: str) -> str:
    """A path without the names of its parameters, which are nobody's business."""
    return _PARAMETER.sub("{}", path.removeprefix(PREFIX).rstrip("/"))


def _likely(text: str) -> str:
    close = get_close_matches(text, list(_names()), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _names() -> Iterator[str]:
    for operation in all_operations():
        yield f"{operation.method} {operation.path}"
        yield operation.operation_id
    yield from ("reads", "writes")


_TIMES = re.compile(r"x([1-9]\d{0,5})", re.ASCII)
_CHANCE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
_SEED = re.compile(r"seed=(\d{1,9})", re.ASCII)
_LONGEST = 86_400.0
"""Seconds of any wait."""
_FARTHEST = 10 * 366 * 86_400.0
"""Seconds of a clock's skew."""


_MOST_EVENTS = 100_000


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
    return Fault(kind, _aimed(kind, where(aim)), waits, times, chance, seed)


def _aimed(kind: FaultKind, meant: Where) -> Where:
    """What is meant of the operations that the kind can strike."""
    if not kind.streams:
        return meant
    streaming = frozenset(one.operation_id for one in all_operations() if one.streams is not None)
    if meant.operations is None:
        return Where(" ".join(sorted(streaming)), streaming)
    if not meant.operations & streaming:
        raise ValueError(f"{kind.name} is for streams, and nothing of {meant.text!r} streams")
    return Where(meant.text, meant.operations & streaming)


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


def _kind(name: str) -> FaultKind:
    kind = KINDS.get(name)
    if kind is None:
        close = get_close_matches(name, KINDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "'--fault list' lists them"
        raise ValueError(f"there is no kind {name!r} ({hint})")
    return kind


def _seconds(kind: FaultKind, text: str | None) -> float:
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
        what = "events" if kind.counts else "seconds"
        raise ValueError(f"{text!r} is no number of {what}") from None
    if kind.counts:
        if not (seconds.is_integer() and 0 <= seconds <= _MOST_EVENTS):
            raise ValueError(f"{kind.name} takes a whole number of events, up to {_MOST_EVENTS}")
        return seconds
    least, most = (-_FARTHEST, _FARTHEST) if kind is CLOCK_SKEW else (0.0, _LONGEST)
    if not (math.isfinite(seconds) and least <= seconds <= most):
        raise ValueError(f"{kind.name} takes seconds from {least:.0f} to {most:.0f}")
    return seconds


def catalogue() -> Iterator[str]:
    """What can be asked for, line by line: how it is written, every kind, every operation."""
    yield "KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%] [seed=N]"
    yield ""
    yield "KIND"
    for kind in KINDS.values():
        yield f"  {_written(kind):<24} {kind.about}"
    yield ""
    yield "WHERE: nothing for all of them, reads, writes, a method, a path or an operation"
    for operation in all_operations():
        yield f"  {operation.operation_id:<26} {operation.method} {operation.path}"
    yield ""
    yield "For example"
    for example in (
        "reset-after:POST /keys x1",
        "latency=0.8:reads",
        "503=30:GET /keys x2",
        "429 25% seed=7",
        "clock-skew=-90",
        "stream-cut=5 x1",
    ):
        yield f"  --fault '{example}'"


def _written(kind: FaultKind) -> str:
    if not kind.takes_seconds:
        return kind.name
    number = "EVENTS" if kind.counts else "SECONDS"
    return f"{kind.name}={number}" if kind.usual is None else f"{kind.name}[={number}]"
