"""New keys that nobody has acknowledged as stored yet, each sealed in a private file.

A gateway gives the value of a key once. Between its answer and the person's word that the value is
stored, it lies here, so that neither a kill nor a lost terminal can take it. Files of other tokens
and gateways are left alone until their time is over. One process at a time shows a key: it holds a
lock on the file, which ends with the process. Every method may block; none shows a secret.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.domain.known_secrets import Secret
from gwtui.local import private_file
from gwtui.local.jsonl import sync_directory
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.seal import (
    DamagedSealError,
    ForeignSealError,
    Label,
    SealedKey,
    SealError,
    label_of,
    seal,
    unseal,
)

DIRECTORY = "sealed-keys"
"""Below the state directory."""
LIFETIME = timedelta(hours=24)
"""How long a value waits for its acknowledgement."""

_WHOLE, _PART = ".sealed", ".part"
_TRIAL, _GONE = ".trial", ".gone"
"""Holds nothing that anybody waits for."""
_NAME = re.compile(r"(?P<id>[0-9A-Za-z_-]{1,64})(\.[0-9a-f]{8})?\.(sealed|part|trial|gone)")
_LONGEST_NAME = 200
_TRIAL_VALUE = SecretStr("x" * 4096)


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
        label = Label(self._gateway, f"trial-{secrets.token_hex(8)}", "", self._until())
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
        label = Label(self._gateway, plan, key_hash, self._until())
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
        """What waits, with those keys that another process shows when they are asked for.

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
        from gwtui.local.rotations import FILE_NAME, RotationLog  # noqa: PLC0415 - seldom needed

        log = RotationLog(self.directory.with_name(FILE_NAME))
        with contextlib.suppress(OSError):
            log.delivered(identifier, self._now())

    def sweep(self) -> tuple[str, ...]:
        """Destroy everything whose time is over; what the keys of this gateway were called.

        A key is called by its name, or by its hash where this token does not open it. What cannot
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

    def _hold(self, label: Label, descriptor: int) -> None:
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
