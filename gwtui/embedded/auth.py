"""API keys as credentials: create them, issue them outside the API, and check them on requests.

See "Authentication" in the contract and section 0 of the extended contract. The first management
key of an account is issued on the command line.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.contract.errors import MANAGEMENT_KEY_NEEDED
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import NoWorkspaceError
from gwtui.embedded.messages import Refusal, unauthenticated
from gwtui.embedded.operations import Access
from gwtui.embedded.store import account, keys
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.documents import KEYS, WORKSPACES, Document

ISSUED_KEY_NAME = "issued on the command line"
UNKNOWN_KEY = "Invalid API key"
DISABLED_KEY = "API key is disabled"
EXPIRED_KEY = "API key has expired"
NO_USER = "User not found."
"""The error message for keys that cannot use models: unknown, expired, or a management key."""
MALFORMED = "Malformed Authentication header"

_RANDOM_BYTES = 32
_SHOWN = 3
_ENDS_SHOWN_FROM = 20
_END_SHOWN_FROM = 12


@dataclass(frozen=True, slots=True)
class MintedKey:
    """A new key: its full text (``secret``), the hash to store, and the label to show."""

    secret: str
    hash: str
    label: str

    def __repr__(self) -> str:
        return f"MintedKey({self.label!r})"


def mint(dialect: Dialect, *, management: bool) -> MintedKey:
    """Generate a random key with the dialect's prefix; nothing is stored."""
    prefix = dialect.management_key_prefix if management else dialect.key_prefix
    body = secrets.token_hex(_RANDOM_BYTES)
    label = f"{prefix}{body[:_SHOWN]}...{body[-_SHOWN:]}"
    return MintedKey(secret=prefix + body, hash=key_hash(prefix + body), label=label)


def key_hash(secret: str) -> str:
    """Return the SHA-256 of a key as 64 hex digits: its identifier, stored instead of the key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def masked(secret: str) -> str:
    """Return a provider key with only its first 3 and last 4 characters visible.

    Below 20 characters only the last 2 are visible, below 12 none.
    """
    text = "".join(character if character.isprintable() else "?" for character in secret.strip())
    if len(text) >= _ENDS_SHOWN_FROM:
        return f"{text[:3]}...{text[-4:]}"
    return f"...{text[-2:]}" if len(text) >= _END_SHOWN_FROM else "..."


def admit(
    db: sqlite3.Connection, headers: Sequence[str], access: Access, now: datetime
) -> Document | None:
    """Authenticate a request; return the document of its key.

    ``headers`` are the values of all Authorization headers; without one, a public operation gets
    None. Raises a 401 for a missing or invalid key and a 403 for a valid key without permission.
    """
    if not headers:
        if access is Access.PUBLIC:
            return None
        raise unauthenticated()
    caller = _caller(db, headers, now, access)
    is_management = caller["workspace_id"] is None
    if access is Access.INFERENCE and is_management:
        raise unauthenticated(NO_USER)
    if access is Access.MANAGEMENT and not is_management:
        raise Refusal(403, MANAGEMENT_KEY_NEEDED)
    return caller


def _caller(
    db: sqlite3.Connection, headers: Sequence[str], now: datetime, access: Access
) -> Document:
    scheme, _, secret = headers[0].strip().partition(" ")
    secret = secret.strip()
    if len(headers) != 1 or scheme.lower() != "bearer" or not secret:
        raise unauthenticated(MALFORMED)
    key = KEYS.get(db, key_hash(secret))
    of_inference = access is Access.INFERENCE
    if key is None:
        raise unauthenticated(NO_USER if of_inference else UNKNOWN_KEY)
    if key["disabled"]:
        raise unauthenticated(DISABLED_KEY)
    if key["expires_at"] and datetime.fromisoformat(key["expires_at"]) <= now:
        raise unauthenticated(NO_USER if of_inference else EXPIRED_KEY)
    return key


def issue_key(
    database: Path,
    *,
    management: bool,
    name: str = ISSUED_KEY_NAME,
    dialect: Dialect | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> str:
    """Issue a key in an existing database, even while a gateway serves it; return its full text.

    A running gateway accepts the key from its next request on. ``dialect`` decides the key's
    format; None is the dialect that the database was last served in. Raises DatabaseMissingError,
    DatabaseUnusableError and NoWorkspaceError.
    """
    with Database.visit(database) as visited:
        with visited.read() as db:
            served_in = DIALECTS.get(account.setting(db, "dialect"), GENERIC)
        return issue(visited, dialect or served_in, clock.now(), management=management, name=name)


def issue(
    database: Database,
    dialect: Dialect,
    now: datetime,
    *,
    management: bool,
    name: str,
    workspace_id: str | None = None,
) -> str:
    """Issue a key in an open database and return its full text; only its hash is stored.

    Raises NoWorkspaceError if the workspace of an inference key does not exist.
    """
    minted = mint(dialect, management=management)
    with database.write() as db:
        home: str | None = None
        if not management:
            home = workspace_id or account.setting(db, "default_workspace_id")
            if WORKSPACES.get(db, home) is None:
                raise NoWorkspaceError(
                    f"There is no workspace {workspace_id}."
                    if workspace_id
                    else "The default workspace was deleted. Create inference keys through the "
                    "API, which can name another workspace."
                )
        document = keys.new_document(
            hash=minted.hash,
            label=minted.label,
            name=name or ISSUED_KEY_NAME,
            created_at=now,
            workspace_id=home,
        )
        owner = account.setting(db, "owner_user_id")
        KEYS.insert(db, {**document, "creator_user_id": owner})
    return minted.secret
