"""Provider keys at rest: sealed with AES-256-GCM under keys in a file beside the database.

What is sealed is bound to its row, so that moving it to another one makes it useless. Its form is
one byte that numbers the key, the nonce, then the ciphertext with its tag.

The file has a line ``number hex`` for each key. The last one seals; a line added below rotates,
and what was sealed before stays readable.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.embedded.errors import DatabaseUnusableError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_PRIVATE = 0o600
_KEY_BYTES = 32
_NONCE_BYTES = 12
_MOST_BYTES = 32 * 1024
_LINE = re.compile(r"([1-9][0-9]{0,2}) ([0-9a-f]{64})\Z")
_LAST_NUMBER = 255


class VaultError(Exception):
    """What was sealed cannot be opened: another key, another row, or damaged."""


def key_file(database: Path) -> Path:
    """Where the vault's keys of a database are."""
    return database.with_name(database.name + ".key")


class Vault:
    """Seals and opens. Its first key is made when something is first sealed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._keys: dict[int, bytes] = {}

    def __repr__(self) -> str:
        return f"Vault({self._path})"

    @classmethod
    def of(cls, database: Path | None) -> Vault:
        """The vault of a database; for one in memory the keys are in memory too.

        Raises DatabaseUnusableError when there is a key file that cannot be used.
        """
        vault = cls(None if database is None else key_file(database))
        if vault._path is not None:
            vault._keys = _read(vault._path)
        return vault

    def seal(self, secret: str, row: str) -> bytes:
        """The sealed form of a secret for the row that is to keep it."""
        if not self._keys:
            self._keys = (
                {1: secrets.token_bytes(_KEY_BYTES)} if self._path is None else _make(self._path)
            )
        number, key = next(reversed(self._keys.items()))
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = _cipher(key).encrypt(nonce, secret.encode("utf-8"), row.encode("utf-8"))
        return bytes((number,)) + nonce + sealed

    def unseal(self, sealed: bytes, row: str) -> str:
        """The secret that was sealed for a row. Raises VaultError."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - as in _cipher

        key = self._keys.get(sealed[0]) if sealed else None
        if key is None:
            raise VaultError("sealed with a key that is not in the key file")
        nonce, rest = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return _cipher(key).decrypt(nonce, rest, row.encode("utf-8")).decode("utf-8")
        except (InvalidTag, ValueError):
            raise VaultError("not what was sealed for this row") from None


def _cipher(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - slow to load

    return AESGCM(key)


def _read(path: Path) -> dict[int, bytes]:
    """The keys of a file, none when there is no file or a crash left it empty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - opened without following links
            os.fchmod(descriptor, _PRIVATE)
            text = file.read(_MOST_BYTES + 1).decode("ascii", "replace")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DatabaseUnusableError(
            f"Cannot read the key file {path}: {error.strerror}."
        ) from error
    keys: dict[int, bytes] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        number = int(match[1]) if match else 0
        if match is None or number > _LAST_NUMBER or number in keys or len(text) > _MOST_BYTES:
            raise DatabaseUnusableError(
                f"The key file {path} is damaged. Restore it; or remove it and give the provider "
                "keys again, for those stored so far cannot be read without it."
            )
        keys[number] = bytes.fromhex(match[2])
    return keys


def _make(path: Path) -> dict[int, bytes]:
    """Write the first key, on the disk before anything is sealed with it."""
    keys = _read(path)
    if keys:
        return keys
    path.unlink(missing_ok=True)
    made = {1: secrets.token_bytes(_KEY_BYTES)}
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, _PRIVATE)
    try:
        os.fchmod(descriptor, _PRIVATE)
        os.write(descriptor, b"".join(b"%d %s\n" % (n, k.hex().encode()) for n, k in made.items()))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return made
