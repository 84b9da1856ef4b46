"""What a fault is: what goes wrong, where, how often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from gwtui.embedded.faults.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Kind:
    """One way for things to go wrong; ``about`` tells it in a line of the list."""

    name: str
    about: str
    act: Callable[[Exchange, float], Awaitable[None]] | None = None
    """Does it to one request, given the fault's seconds. None for what is wrong all the time."""
    takes_seconds: bool = False
    usual: float | None = None
    """Seconds when none are given, None when they must be."""
    delays: bool = False
    """Whether the request goes on afterwards, perhaps to another fault."""


@dataclass(frozen=True, slots=True)
class Where:
    """The requests that a fault may strike: those of these operations, None for all."""

    text: str = "everything"
    operations: frozenset[str] | None = None

    def holds(self, operation: str | None) -> bool:
        """Whether a request is meant; ``operation`` is None for a path that the API lacks."""
        return self.operations is None or operation in self.operations


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault with its aim: ``times`` None is without end, ``chance`` from 0 to 1."""

    kind: Kind
    where: Where = field(default_factory=Where)
    seconds: float = 0.0
    times: int | None = None
    chance: float = 1.0
    seed: int = 0

    def __str__(self) -> str:
        parts = [self.kind.name]
        if self.kind.takes_seconds:
            parts[0] += f"={self.seconds:g}"
        if self.where.operations is not None:
            parts[0] += f":{self.where.text}"
        if self.times is not None:
            parts.append(f"x{self.times}")
        if self.chance < 1:
            parts += [f"{100 * self.chance:g}%", f"seed={self.seed}"]
        return " ".join(parts)
