"""The keys that a request can be tried with: from this run, from the environment, sealed here.

None of them is stored anywhere by trying it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gwtui.domain.known_secrets import Secret
from gwtui.domain.safe_text import safe_line
from gwtui.local.sealed_keys import SealedKey
from gwtui.local.tokens import TRY_KEY_VARIABLE
from gwtui.resources.session import TryMemory
from gwtui.resources.tries.facts import key_hash

TYPED = "typed"
"""The source that is no key yet: one is typed."""
_SEALED = "sealed:"
_NAME = 40


@dataclass(frozen=True, slots=True)
class KeySource:
    """A key that is at hand; ``label`` is fit to be shown, ``value`` None for one to be typed."""

    id: str
    label: str
    value: Secret | None = None

    @property
    def hash(self) -> str | None:
        """By which the gateway knows the key."""
        return None if self.value is None else key_hash(self.value)


_TO_BE_TYPED = KeySource(TYPED, "type it here")


def key_sources(memory: TryMemory, sealed: Iterable[SealedKey]) -> tuple[KeySource, ...]:
    """Every key at hand, the newest first, then the one to be typed."""
    return (*_at_hand(memory, sealed), _TO_BE_TYPED)


def made_sources(name: str, value: Secret) -> tuple[KeySource, ...]:
    """A key that was made just now, before it is stored anywhere, and one to be typed."""
    return (KeySource("made", f"new key {safe_line(name, _NAME)}", value), _TO_BE_TYPED)


def _at_hand(memory: TryMemory, sealed: Iterable[SealedKey]) -> Iterator[KeySource]:
    if memory.typed is not None:
        yield KeySource("before", "the one typed before", memory.typed)
    for key in sorted(sealed, key=lambda each: each.made_at, reverse=True):
        name = safe_line(key.name or key.label.key_hash, _NAME)
        yield KeySource(f"{_SEALED}{key.id}", f"new key {name}, sealed here", key.value)
    if memory.given is not None:
        yield KeySource("environment", f"that of {TRY_KEY_VARIABLE}", memory.given)


def begin_with(sources: Sequence[KeySource], wanted: str | None) -> KeySource:
    """The source that a form begins with: the key of the hash ``wanted``, else the first."""
    if wanted is None:
        return sources[0]
    return next((each for each in sources if each.hash == wanted), sources[-1])
