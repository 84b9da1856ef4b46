"""BYOK provider credentials, and their encrypted keys. See section 6 of the extended contract.

Provider keys are encrypted with a key of the gateway, in a private file beside the database.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui.embedded.errors import DatabaseUnusableError
from gwtui.embedded.store.documents import CREDENTIALS, Document

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_PRIVATE = 0o600
_KEY = re.compile(rb"[\w-]{43}=", re.ASCII)
_KEY_LENGTH = 44


class UnreadableSecretError(Exception):
    """A stored secret cannot be decrypted: encrypted with another key, or damaged."""


def key_file(database: Path) -> Path:
    """Return the path of the file with a database's encryption key."""
    return database.with_name(database.name + ".key")


class SecretBox:
    """Encrypts and decrypts secrets. The key for that is created by the first ``encrypt``.

    Without ``database``, the encryption key exists in memory only. Raises
    DatabaseUnusableError for a key file that cannot be used.
    """

    def __init__(self, database: Path | None) -> None:
        self._path = None if database is None else key_file(database)
        self._key = None if self._path is None else _read(self._path)

    def encrypt(self, secret: str) -> bytes:
        """Return the encrypted form of a secret."""
        return self._fernet.encrypt(secret.encode("utf-8"))

    def decrypt(self, encrypted: bytes) -> str:
        """Return the secret. Raises UnreadableSecretError."""
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
    # A crash can leave an empty file, which counts as missing.
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
    if text and not _KEY.fullmatch(text):
        raise DatabaseUnusableError(
            f"The key file {path} is damaged. Restore it; or remove it and store the provider "
            "keys again, which cannot be read without it."
        )
    return text or None


def _write(path: Path, key: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, _PRIVATE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - opened without following links
        file.write(key)
        file.flush()
        os.fsync(descriptor)


NEW_CREDENTIAL: Document = {
    "name": None,
    "disabled": False,
    "is_fallback": False,
    "is_byok_only": False,
    "is_required": False,
    "declared_region": None,
    "declared_zdr": None,
    "allowed_models": None,
    "allowed_user_ids": None,
    "allowed_api_key_hashes": None,
}
"""The optional fields of a new credential."""


def in_order(
    db: sqlite3.Connection, workspace_id: str | None, provider: str | None = None
) -> list[Document]:
    """Return the credentials of a workspace, by provider, then in the order they are tried.

    Within a provider, the oldest comes first, and fallbacks come after all others.
    """
    rows = db.execute(
        "SELECT document, row_number() OVER (PARTITION BY provider ORDER BY is_fallback, number) "
        "FROM byok WHERE workspace_id = ?1 AND (?2 IS NULL OR provider = ?2) "
        "ORDER BY provider, is_fallback, number",
        (workspace_id, provider),
    )
    return [{**json.loads(document), "sort_order": place - 1} for document, place in rows]


def encrypted_keys(db: sqlite3.Connection, workspace_id: str | None) -> dict[str, bytes]:
    """Return encrypted keys by credential id, without those of simulated credentials."""
    where = "workspace_id = ? AND secret IS NOT NULL"
    return dict(
        db.execute(f"SELECT id, secret FROM byok WHERE {where}", (workspace_id,)).fetchall()
    )


def rotate(db: sqlite3.Connection, credential_id: str, encrypted: bytes) -> None:
    """Replace the provider key of a credential."""
    db.execute("UPDATE byok SET secret = ? WHERE id = ?", (encrypted, credential_id))
    _rewrite(db)


def remove(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> None:
    """Delete the credentials that match a condition, with their provider keys."""
    CREDENTIALS.delete(db, where, values)
    _rewrite(db)


def _rewrite(db: sqlite3.Connection) -> None:
    # ``secure_delete`` clears a deleted row, but not the copies of it that remain between the rows
    # of a page when others move to another page. Emptying the table clears all of its pages.
    rows = db.execute("SELECT number, id, document, secret FROM byok").fetchall()
    db.execute("DELETE FROM byok")
    db.executemany("INSERT INTO byok (number, id, document, secret) VALUES (?, ?, ?, ?)", rows)
