"""Repeatable random values: each is a hash of the seed and its purpose.

Unlike a random generator there is no state, so the order of calls does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from math import floor
from typing import TypeVar
from uuid import UUID

T = TypeVar("T")

_SPAN = float(1 << 64)


def number(seed: int, *parts: object) -> int:
    """Return a random integer of 64 bits."""
    text = "\x1f".join((str(seed), *map(str, parts)))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


def fraction(seed: int, *parts: object) -> float:
    """Return a value uniform in [0, 1)."""
    return number(seed, *parts) / _SPAN


def between(low: float, high: float, seed: int, *parts: object) -> float:
    """Return a value uniform in [low, high)."""
    return low + (high - low) * fraction(seed, *parts)


def pick(choices: Sequence[T], seed: int, *parts: object) -> T:
    """Return one of the choices, always the same for the same seed and parts."""
    return choices[number(seed, *parts) % len(choices)]


def hex_text(digits: int, seed: int, *parts: object) -> str:
    """Return lower-case hex digits, at most 128."""
    text = "\x1f".join((str(seed), *map(str, parts)))
    return blake2b(text.encode(), digest_size=64).hexdigest()[:digits]


def uuid_text(seed: int, *parts: object) -> str:
    """Return a version 4 UUID."""
    return str(UUID(hex=hex_text(32, seed, *parts), version=4))


@lru_cache(maxsize=1024)
def _corner(seed: int, name: str, position: int) -> float:
    # Cached because neighbouring moments interpolate between the same values.
    return fraction(seed, name, position)


def smooth(seed: int, name: str, position: float) -> float:
    """Return smooth noise in [0, 1]: hashed at integer positions, interpolated in between."""
    left = floor(position)
    part = position - left
    ease = part * part * (3.0 - 2.0 * part)
    here, there = _corner(seed, name, left), _corner(seed, name, left + 1)
    return here + (there - here) * ease
