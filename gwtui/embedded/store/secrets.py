"""Provider keys at rest: encrypted with a key in a private file beside the database."""

from __future__ import annotations

import base64
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.embedded.errors import DatabaseUnusableError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_PRIVATE = 0o600
_KEY_BYTES = 32
_KEY_LENGTH = 44


class UnreadableSecretError(Exception):
    """A stored secret cannot be decrypted: encrypted with another key, or damaged."""


def key_file(database: Path) -> Path:
    """The path of the key that the secrets of a database are encrypted with."""
    return database.with_name(database.name + ".key")


class SecretBox:
    """Encrypts and decrypts. Its key is made when something is first encrypted.

    ``database`` is None for a gateway in memory, whose key is in memory, too. Raises
    DatabaseUnusableError for a key file that cannot be used.
    """

    def __init__(self, database: Path | None) -> None:
        self._path = None if database is None else key_file(database)
        self._key = None if self._path is None else _read(self._path)

    def encrypt(self, secret: str) -> bytes:
        """The encrypted form of a secret."""
        return self._fernet.encrypt(secret.encode("utf-8"))

    def decrypt(self, encrypted: bytes) -> str:
        """The secret. Raises UnreadableSecretError."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415 - slow to load

        try:
            return self._fernet.decrypt(encrypted).decode("utf-8")
        except InvalidToken:
            raise UnreadableSecretError("encrypted with another key, or damaged") from None

    @cached_property
    def _fernet(self) -> Fernet:
        from cryptography.fernet import Fernet  # noqa: PLC0415 - slow to load

        if self._key is None:
            self._key = Fernet.generate_key()
            if self._path is not None:
                _write(self._path, self._key)
        return Fernet(self._key)


def _read(path: Path) -> bytes | None:
    """The key in a file, None when there is no file or a crash left it empty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - opened without following links
            os.fchmod(descriptor, _PRIVATE)
            text = file.read(_KEY_LENGTH + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DatabaseUnusableError(
            f"Cannot read the key file {path}: {error.strerror}."
        ) from error
    try:
        intact = not text or len(base64.b64decode(text, b"-_", validate=True)) == _KEY_BYTES
    except ValueError:
        intact = False
    if not intact:
        raise DatabaseUnusableError(
            f"The key file {path} is damaged. Restore it; or remove it and give the provider "
            "keys again, for those stored so far cannot be read without it."
        )
    return text or None


def _write(path: Path, key: bytes) -> None:
    """Put the key on the disk before anything is encrypted with it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    for target, content in ((path, key), (path.parent, None)):
        descriptor = os.open(target, flags if content else os.O_RDONLY | os.O_DIRECTORY, _PRIVATE)
        try:
            if content:
                os.write(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
