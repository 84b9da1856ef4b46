"""The gateway's own API keys: how they are made, recognised and shown.

A key is 256 random bits, so a plain SHA-256 of it cannot be reversed; that hash is all that is
stored, and it is also the key's public identifier.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from gwtui.contract.dialects import Dialect

_RANDOM_BYTES = 32
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key. ``secret`` leaves the process once, in the answer to its creation."""

    secret: str
    hash: str
    label: str

    def __repr__(self) -> str:
        return f"MintedKey({self.label!r})"


def mint(dialect: Dialect, *, management: bool) -> MintedKey:
    """Make a new key in the dialect's form."""
    prefix = dialect.management_key_prefix if management else dialect.key_prefix
    body = secrets.token_hex(_RANDOM_BYTES)
    label = f"{prefix}{body[:_SHOWN]}...{body[-_SHOWN:]}"
    return MintedKey(secret=prefix + body, hash=key_hash(prefix + body), label=label)


def key_hash(secret: str) -> str:
    """The stored form and identifier of a key: 64 lower-case hex digits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


_ENDS_SHOWN_FROM = 20
_END_SHOWN_FROM = 12


def masked(secret: str) -> str:
    """How somebody else's key is shown: its ends, and less of it the shorter it is."""
    text = "".join(character if character.isprintable() else "?" for character in secret.strip())
    if len(text) >= _ENDS_SHOWN_FROM:
        return f"{text[:3]}...{text[-4:]}"
    return f"...{text[-2:]}" if len(text) >= _END_SHOWN_FROM else "..."
