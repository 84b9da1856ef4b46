"""The state of an API key in a word: the most telling thing about it right now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.keys import ApiKey, is_expired, limit_used_share
from gwtui.domain.cells import Tone
from gwtui.domain.money import percent, usd
from gwtui.domain.times import relative, utc

NEAR_LIMIT = Decimal("0.8")
"""Used share of a limit from which a person should look: a fifth is left."""
EXPIRING_SOON = timedelta(days=7)
"""A week is enough to issue a new key and to roll it out."""


@dataclass(frozen=True, slots=True)
class KeyState:
    """``word`` is shown, ``tone`` colours it, ``why`` explains it in a sentence."""

    word: str
    tone: Tone
    why: str


def key_state(key: ApiKey, now: datetime) -> KeyState:
    """The state of a key. What stops requests comes first, then what will, then use."""
    return _stopped(key, now) or _threatened(key, now) or _in_use(key, now)


def _stopped(key: ApiKey, now: datetime) -> KeyState | None:
    if key.disabled:
        return KeyState("disabled", "muted", "requests with this key are refused")
    if is_expired(key.expires_at, now):
        return KeyState("expired", "muted", f"stopped working at {utc(key.expires_at)}")
    if _used_up(key):
        return KeyState("over limit", "bad", f"the limit of {usd(key.limit)} is used up")
    return None


def _threatened(key: ApiKey, now: datetime) -> KeyState | None:
    if key.expires_at is not None and key.expires_at - now <= EXPIRING_SOON:
        return KeyState("expiring soon", "warn", f"stops working {relative(key.expires_at, now)}")
    share = limit_used_share(key.limit, key.limit_remaining)
    if share is not None and share >= NEAR_LIMIT:
        why = f"{percent(share)} of {usd(key.limit)} is used"
        return KeyState("near limit", "warn", why)
    return None


def _in_use(key: ApiKey, now: datetime) -> KeyState:
    if key.disabled is None:
        return KeyState("unknown", "muted", "the answer does not say whether it is disabled")
    if _never_used(key):
        return KeyState("never used", "muted", "no request has been made with it")
    if key.last_used_at is not None:
        return KeyState("active", "good", f"last used {relative(key.last_used_at, now)}")
    return KeyState("active", "good", "works and has been used")


def _used_up(key: ApiKey) -> bool:
    """Whether nothing is left of the limit. Without a limit there is nothing to use up."""
    if key.limit == 0:
        return True
    limited = key.limit is not None or "limit" in key.gaps
    return limited and key.limit_remaining is not None and key.limit_remaining <= 0


def _never_used(key: ApiKey) -> bool:
    if key.last_used_at is not None or key.usage is None:
        return False
    return key.usage == 0 and not key.byok_usage
