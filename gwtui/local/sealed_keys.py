"""New keys that nobody has acknowledged as stored yet, each sealed in a private file.

A gateway gives the value of a key once. Until the person acknowledges that it is stored, it is kept
here, so that neither a kill nor a lost terminal loses it. Files of other tokens and gateways are
left alone until their time is over. One process at a time shows a key: it holds a lock on the file,
which ends with the process. Every method may block; none shows a secret.

``seal`` and ``unseal`` do no I/O: AES-256-GCM under a key that HKDF derives from the token of the
profile and a random salt, so that no two seals share one. The label stands in clear and is
authenticated: changing it breaks the seal.
"""

from __future__ import annotations

import base64
import contextlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.unpicklable import Unpicklable
from gwtui.domain.known_secrets import Secret, remember
from gwtui.local import private_file
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.private_file import sync_directory
from gwtui.local.rotations import FILE_NAME as ROTATIONS
from gwtui.local.rotations import RotationLog

if TYPE_CHECKING:
    from gwtui.local.seal_cipher import SealCipher

DIRECTORY = "sealed-keys"
"""Its name below the state directory."""
LIFETIME = timedelta(hours=24)
"""How long a value waits for its acknowledgement."""
_WHOLE, _PART = ".sealed", ".part"
_TRIAL, _GONE = ".trial", ".gone"
"""Of files that may be removed: a test that sealing works, a key that is acknowledged."""
_NAME = re.compile(r"(?P<id>[0-9A-Za-z_-]{1,64})(\.[0-9a-f]{8})?\.(sealed|part|trial|gone)")
_LONGEST_NAME = 200
_TRIAL_VALUE = SecretStr("x" * 4096)
_VERSION = 1
_SALT_BYTES = 32
_NONCE_BYTES = 12


class SealError(Exception):
    """Something could not be sealed or opened; the message holds no secret."""


class ForeignSealError(SealError):
    """Sealed under another token."""


class DamagedSealError(SealError):
    """Not what was sealed: torn, changed, or no seal at all."""


@dataclass(frozen=True, slots=True)
class SealLabel:
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

    label: SealLabel
    name: str
    made_at: datetime
    value: SecretStr

    def __post_init__(self) -> None:
        remember(self.value)

    @property
    def id(self) -> str:
        """Its identity among the sealed keys: the id of the plan that made it."""
        return self.label.plan


def seal(key: SealedKey, token: Secret) -> bytes:
    """The sealed form, one line of ASCII. Raises SealError where there is no cryptography."""
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
    cipher = _cipher(token, salt)
    inside = {
        "name": key.name,
        "hash": key.label.key_hash,
        "made_at": timestamp_text(key.made_at),
        "value": key.value.get_secret_value(),
    }
    sealed = cipher.encrypt(nonce, json.dumps(inside).encode(), _bound(outside))
    closed = {**outside, "mark": cipher.mark.hex(), "sealed": base64.b64encode(sealed).decode()}
    return json.dumps(closed).encode() + b"\n"


def label_of(sealed: bytes) -> SealLabel:
    """The label, unchecked: that takes the token. Raises DamagedSealError."""
    return _label(_outside(sealed))


def unseal(sealed: bytes, token: Secret) -> SealedKey:
    """What was sealed with this token. Raises SealError, of the kind that says why not."""
    outside = _outside(sealed)
    label = _label(outside)
    try:
        salt, nonce = bytes.fromhex(outside["salt"]), bytes.fromhex(outside["nonce"])
        mark, body = bytes.fromhex(outside["mark"]), base64.b64decode(outside["sealed"])
        cipher = _cipher(token, salt)
        if not hmac.compare_digest(mark, cipher.mark):
            raise ForeignSealError("sealed under another token")
        inside = json.loads(cipher.decrypt(nonce, body, _bound(outside)))
        return SealedKey(
            label, inside["name"], _moment(inside["made_at"]), SecretStr(inside["value"])
        )
    except (ValueError, KeyError, TypeError):
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


def _label(outside: Mapping[str, Any]) -> SealLabel:
    try:
        gateway, plan, key_hash = (outside[name] for name in ("gateway", "plan", "hash"))
        if all(isinstance(text, str) for text in (gateway, plan, key_hash)):
            return SealLabel(gateway, plan, key_hash, _moment(outside["until"]))
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


def _cipher(token: Secret, salt: bytes) -> SealCipher:
    """Raises SealError where the cipher cannot be loaded."""
    try:
        from gwtui.local.seal_cipher import SealCipher  # noqa: PLC0415 - loads cryptography
    except ImportError:
        raise SealError("the library cryptography cannot be loaded") from None
    return SealCipher(token, salt)


@dataclass(frozen=True, slots=True)
class SealedKeysFound:
    """The keys of one gateway that wait to be acknowledged."""

    keys: tuple[SealedKey, ...] = ()
    """Those that this token opens, oldest first."""
    elsewhere: int = 0
    """Open ones that another process shows at this moment."""
    foreign: int = 0
    """Sealed under another token."""
    damaged: int = 0
    other_gateways: tuple[str, ...] = ()
    """The gateway of each file that belongs to another one."""


@dataclass(frozen=True, slots=True)
class _ShownKey:
    """A key that this process shows; others see so by the lock on the descriptor."""

    descriptor: int
    until: datetime


class SealedKeys:
    """What is sealed in one directory, seen with one gateway and one token.

    ``now`` gives aware UTC. Safe to share between threads and processes.
    """

    def __init__(
        self,
        directory: Path,
        gateway: str,
        token: Secret | None,
        now: Callable[[], datetime],
        lifetime: timedelta = LIFETIME,
    ) -> None:
        self.directory = directory
        self._gateway = gateway
        self._token = token
        self._now = now
        self._lifetime = lifetime
        self._held: dict[str, _ShownKey] = {}

    def trouble(self) -> str | None:
        """Why nothing can be sealed now, to end a sentence with; None when a trial succeeded."""
        if self._token is None:
            return "there is no token to seal it with"
        label = SealLabel(self._gateway, f"trial-{secrets.token_hex(8)}", "", self._until())
        trial = SealedKey(label, "", self._now(), _TRIAL_VALUE)
        try:
            path = self._path(trial.id, _TRIAL)
            try:
                os.close(self._write(path, seal(trial, self._token)))
                unseal(private_file.read(path), self._token)
            finally:
                # What cannot be destroyed now is swept later; why it could not be made says more.
                with contextlib.suppress(OSError):
                    private_file.destroy(path)
        except (SealError, OSError, PrivateDirectoryError) as error:
            return _why(error)
        return None

    def seal(
        self, plan: str, value: SecretStr, *, name: str, key_hash: str, made_at: datetime | None
    ) -> SealedKey:
        """Seal a value; it is on the disk, and held by this process, when this returns.

        Sealing the same plan's key again replaces the file. Raises SealError.
        """
        if self._token is None:
            raise SealError("there is no token to seal it with")
        label = SealLabel(self._gateway, plan, key_hash, self._until())
        key = SealedKey(label, name[:_LONGEST_NAME], made_at or self._now(), value)
        try:
            part = self._path(f"{plan}.{secrets.token_hex(4)}", _PART)
            self._hold(key.label, self._write(part, seal(key, self._token)))
            part.rename(self._path(plan, _WHOLE))
            sync_directory(self.directory)
        except (OSError, PrivateDirectoryError) as error:
            raise SealError(_why(error)) from None
        return key

    def until(self, identifier: str) -> datetime | None:
        """When a key that this process holds will be wiped; None when it holds no such key."""
        held = self._held.get(identifier)
        return None if held is None else held.until

    def find(self, *, shown_elsewhere: bool = False) -> SealedKeysFound:
        """The keys that wait to be acknowledged, on request with those that another process shows.

        Never raises: what cannot be read counts as damaged.
        """
        keys: dict[str, SealedKey] = {}
        counts = dict.fromkeys(("elsewhere", "foreign", "damaged"), 0)
        others: list[str] = []
        for path, identifier in self._files():
            if path.suffix in {_TRIAL, _GONE}:
                continue
            try:
                sealed = private_file.read(path)
                gateway = label_of(sealed).gateway
                if gateway != self._gateway:
                    others.append(gateway)
                elif shown_elsewhere or identifier in self._held or private_file.is_free(path):
                    keys.setdefault(identifier, self._open(sealed, identifier))
                else:
                    counts["elsewhere"] += 1
            except ForeignSealError:
                counts["foreign"] += 1
            except (SealError, OSError):
                # Another process may have wiped it while it was read.
                counts["damaged"] += path.suffix == _WHOLE and private_file.is_regular(path)
        return SealedKeysFound(
            tuple(sorted(keys.values(), key=lambda key: key.made_at)),
            other_gateways=tuple(others),
            **counts,
        )

    def claim(self, key: SealedKey) -> bool:
        """Hold a key for this process; False when another one does, or when it is gone."""
        if key.id in self._held:
            return True
        for path, found in self._files():
            if found == key.id:
                try:
                    descriptor = private_file.locked(path)
                except OSError:
                    return False
                if descriptor is not None:
                    self._hold(key.label, descriptor)
                return descriptor is not None
        return False

    def release(self, identifier: str) -> None:
        """Let other processes offer the key."""
        held = self._held.pop(identifier, None)
        if held is not None:
            os.close(held.descriptor)

    def wipe(self, identifier: str) -> None:
        """Destroy a sealed value: it was acknowledged. Raises OSError when it is still there.

        Where it is a successor's, its rotation knows from then on that it was delivered.
        """
        for path, found in self._files():
            if found == identifier:
                _destroy(path)
        self.release(identifier)
        log = RotationLog(self.directory.with_name(ROTATIONS))
        with contextlib.suppress(OSError):
            log.delivered(identifier, self._now())

    def sweep(self) -> tuple[str, ...]:
        """Destroy everything that is overdue; the names of the keys of this gateway among it.

        The hash is given where this token does not open the seal. What cannot
        be destroyed stays, and is tried again at the next time.
        """
        swept = []
        for path, identifier in self._files():
            try:
                called = self._overdue(path, identifier)
                if called is None:
                    continue
                _destroy(path)
            except OSError:
                continue
            self.release(identifier)
            if called:
                swept.append(called)
        return tuple(swept)

    def close(self) -> None:
        """Let go of every key that is held."""
        for identifier in tuple(self._held):
            self.release(identifier)

    # One file -----------------------------------------------------------------------------------

    def _until(self) -> datetime:
        return (self._now() + self._lifetime).replace(microsecond=0)

    def _path(self, name: str, kind: str) -> Path:
        if _NAME.fullmatch(f"{name}{kind}") is None:
            raise SealError("the plan's id is no name for a file")
        return self.directory / f"{name}{kind}"

    def _write(self, path: Path, sealed: bytes) -> int:
        """A new private file, synced and locked; its descriptor."""
        if len(sealed) > private_file.MOST_BYTES:
            raise SealError("the value is far too long")
        ensure_private(self.directory)
        return private_file.create(path, sealed)

    def _open(self, sealed: bytes, identifier: str) -> SealedKey:
        if self._token is None:
            raise ForeignSealError("there is no token to open it with")
        key = unseal(sealed, self._token)
        if key.id != identifier:
            raise DamagedSealError("the file was given another name")
        return key

    def _overdue(self, path: Path, identifier: str) -> str | None:
        """None while the file may stay, else what its key was called, empty when not ours."""
        if path.suffix in {_TRIAL, _GONE}:
            return "" if private_file.is_free(path) else None
        try:
            sealed = private_file.read(path)
            label = label_of(sealed)
        except (SealError, OSError):
            changed = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
            return "" if changed + self._lifetime <= self._now() else None
        if label.until > self._now():
            return None
        if label.gateway != self._gateway:
            return ""
        try:
            return self._open(sealed, identifier).name or label.key_hash
        except SealError:
            return label.key_hash

    def _hold(self, label: SealLabel, descriptor: int) -> None:
        self.release(label.plan)
        self._held[label.plan] = _ShownKey(descriptor, label.until)

    def _files(self) -> Iterator[tuple[Path, str]]:
        """Our files with their ids, whole ones before torn ones; nothing else is ever touched."""
        try:
            paths = sorted(self.directory.iterdir(), key=lambda path: (path.suffix != _WHOLE, path))
        except OSError:
            return
        for path in paths:
            match = _NAME.fullmatch(path.name)
            if match is not None and private_file.is_regular(path):
                yield path, match["id"]


def sealed_keys(state: Path, connection: Connection, now: Callable[[], datetime]) -> SealedKeys:
    """What is sealed for a connection, below the state directory ``state``."""
    token = connection.lasting_secret or connection.token
    return SealedKeys(state / DIRECTORY, connection.base_url, token, now)


def _destroy(path: Path) -> None:
    """Raises OSError when the file is still there."""
    # Under another name first: nobody takes a file that is half overwritten for a damaged one.
    with contextlib.suppress(OSError):
        path = path.rename(path.with_name(f"{secrets.token_hex(4)}{_GONE}"))
    private_file.destroy(path)


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or "the disk cannot be written"
    return str(error)
