"""The seal on a new key's value: only who has the profile's token can open it. No I/O.

AES-256-GCM under a key that HKDF derives from the token and a random salt, so that no two seals
share one. The label stands in clear and is part of the seal: changing it breaks the seal.
"""

from __future__ import annotations

import base64
import hmac
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from gwtui.contract.scalars import timestamp_text
from gwtui.contract.unpicklable import Unpicklable
from gwtui.domain.known_secrets import Secret, remember

_VERSION = 1
_PURPOSE = b"gwtui: sealed value of a new API key, version 1"
_KEY_BYTES = 32
_MARK_BYTES = 16
_SALT_BYTES = 32
_NONCE_BYTES = 12


class SealError(Exception):
    """Something could not be sealed or opened; the message holds no secret."""


class ForeignSealError(SealError):
    """Sealed under another token."""


class DamagedSealError(SealError):
    """Not what was sealed: torn, changed, or no seal at all."""


@dataclass(frozen=True, slots=True)
class Label:
    """The outside of a seal, readable by anyone who has the file: nothing secret.

    ``plan`` is the id of the plan that made the key, ``key_hash`` the gateway's identifier of the
    key, empty when the gateway gave none. From ``until`` (UTC) on it is to be wiped.
    """

    gateway: str
    plan: str
    key_hash: str
    until: datetime


@dataclass(frozen=True, slots=True)
class SealedKey(Unpicklable):
    """A new key that nobody has acknowledged as stored yet: what it is, and its value."""

    label: Label
    name: str
    made_at: datetime
    value: SecretStr

    def __post_init__(self) -> None:
        remember(self.value)

    @property
    def id(self) -> str:
        """What it is called among the sealed: the id of the plan that made it."""
        return self.label.plan


def seal(key: SealedKey, token: Secret) -> bytes:
    """The sealed form, one line of ASCII. Raises SealError where there is no cryptography."""
    aesgcm, _ = _cryptography()
    salt, nonce = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES)
    outside = {
        "v": _VERSION,
        "gateway": key.label.gateway,
        "plan": key.label.plan,
        "hash": key.label.key_hash,
        "until": timestamp_text(key.label.until),
        "salt": salt.hex(),
        "nonce": nonce.hex(),
    }
    secret, mark = _derive(token, salt)
    inside = {
        "name": key.name,
        "hash": key.label.key_hash,
        "made_at": timestamp_text(key.made_at),
        "value": key.value.get_secret_value(),
    }
    sealed = aesgcm(secret).encrypt(nonce, json.dumps(inside).encode(), _bound(outside))
    closed = {**outside, "mark": mark.hex(), "sealed": base64.b64encode(sealed).decode()}
    return json.dumps(closed).encode() + b"\n"


def label_of(sealed: bytes) -> Label:
    """The label, unchecked: that takes the token. Raises DamagedSealError."""
    return _label(_outside(sealed))


def unseal(sealed: bytes, token: Secret) -> SealedKey:
    """What was sealed with this token. Raises SealError, of the kind that says why not."""
    outside = _outside(sealed)
    label = _label(outside)
    aesgcm, invalid_tag = _cryptography()
    try:
        salt, nonce = bytes.fromhex(outside["salt"]), bytes.fromhex(outside["nonce"])
        mark, body = bytes.fromhex(outside["mark"]), base64.b64decode(outside["sealed"])
        secret, expected = _derive(token, salt)
        if not hmac.compare_digest(mark, expected):
            raise ForeignSealError("sealed under another token")
        inside = json.loads(aesgcm(secret).decrypt(nonce, body, _bound(outside)))
        return SealedKey(
            label, inside["name"], _moment(inside["made_at"]), SecretStr(inside["value"])
        )
    except (ValueError, KeyError, TypeError, invalid_tag):
        # Without the cause: it may quote what was opened.
        raise DamagedSealError("the sealed value is damaged") from None


def _outside(sealed: bytes) -> dict[str, Any]:
    try:
        outside = json.loads(sealed)
        if outside["v"] == _VERSION:
            return dict(outside)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise DamagedSealError("this is no sealed value")


def _label(outside: Mapping[str, Any]) -> Label:
    try:
        gateway, plan, key_hash = (outside[name] for name in ("gateway", "plan", "hash"))
        if all(isinstance(text, str) for text in (gateway, plan, key_hash)):
            return Label(gateway, plan, key_hash, _moment(outside["until"]))
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedSealError("this is no sealed value")


def _moment(text: str) -> datetime:
    """Raises ValueError or TypeError for anything but a moment with its zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a moment without a zone")
    return moment


def _bound(outside: Mapping[str, Any]) -> bytes:
    """What is tied to the ciphertext without being hidden."""
    names = ("v", "gateway", "plan", "hash", "until")
    return json.dumps([outside[name] for name in names]).encode()


def _derive(token: Secret, salt: bytes) -> tuple[bytes, bytes]:
    """The key, and a mark that tells a foreign seal from a damaged one."""
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    size = _KEY_BYTES + _MARK_BYTES
    derived = HKDF(algorithm=SHA256(), length=size, salt=salt, info=_PURPOSE).derive(
        token.get_secret_value().encode()
    )
    return derived[:_KEY_BYTES], derived[_KEY_BYTES:]


def _cryptography() -> tuple[Any, type[Exception]]:
    """The cipher and its one error. Loaded here: slow, and only needed when a key is made."""
    try:
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415
    except ImportError:
        raise SealError("the library cryptography cannot be loaded") from None
    return AESGCM, InvalidTag
