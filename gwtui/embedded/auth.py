"""Who asks, and whether they may. Contract "Authentication", extended section 0."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.keys import is_expired
from gwtui.embedded.credentials import key_hash
from gwtui.embedded.operations import Access, Caller
from gwtui.embedded.refusals import management_key_needed, unauthenticated
from gwtui.embedded.store import keys

UNKNOWN_KEY = "Invalid API key"
DISABLED_KEY = "API key is disabled"
EXPIRED_KEY = "API key has expired"
MALFORMED = "Malformed Authentication header"


def admit(
    db: sqlite3.Connection, headers: Sequence[str], access: Access, now: datetime
) -> Caller | None:
    """The caller, None for an anonymous one where that is allowed.

    ``headers`` are the values of every Authorization header. Raises 401 for a missing or bad key
    and 403 for a good one that may not do this.
    """
    if not headers:
        if access is Access.PUBLIC:
            return None
        raise unauthenticated()
    caller = _caller(db, headers, now)
    if access is Access.MANAGEMENT and not caller.is_management:
        raise management_key_needed()
    return caller


def _caller(db: sqlite3.Connection, headers: Sequence[str], now: datetime) -> Caller:
    scheme, _, secret = headers[0].strip().partition(" ")
    secret = secret.strip()
    if len(headers) != 1 or scheme.lower() != "bearer" or not secret:
        raise unauthenticated(MALFORMED)
    key = keys.find_credential(db, key_hash(secret))
    if key is None:
        raise unauthenticated(UNKNOWN_KEY)
    if key.disabled:
        raise unauthenticated(DISABLED_KEY)
    if is_expired(key.expires_at, now):
        raise unauthenticated(EXPIRED_KEY)
    return Caller(key.hash, key.is_management, key.creator_user_id)
