"""State of API keys, and their number and spending per workspace.

Amounts are USD. The contract does not report the spending of budgets. The usage of the present keys
is a lower bound: deleted keys are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.keys import ApiKey, is_expired, limit_used_share
from gwtui.domain.cell_values import Tone
from gwtui.domain.money import percent
from gwtui.domain.times import relative

NEAR_LIMIT = Decimal("0.8")
"""The used share from which a key is near its limit, in its state and in the alert rules."""
EXPIRING_SOON = timedelta(days=7)
"""The time before its expiry from which a key expires soon, in its state and in the rules."""
_USAGE = {
    "daily": ("usage_daily", "byok_usage_daily"),
    "weekly": ("usage_weekly", "byok_usage_weekly"),
    "monthly": ("usage_monthly", "byok_usage_monthly"),
    "lifetime": ("usage", "byok_usage"),
}


@dataclass(frozen=True, slots=True)
class KeyState:
    """The state as a ``word`` with a ``tone``, and a short reason."""

    word: str
    tone: Tone
    why: str


def key_state(key: ApiKey, now: datetime) -> KeyState:
    """The state of a key: blocked first, then soon blocked, then by usage."""
    return _stopped(key, now) or _threatened(key, now) or _in_use(key, now)


def _stopped(key: ApiKey, now: datetime) -> KeyState | None:
    if key.disabled:
        return KeyState("disabled", "muted", "requests are refused")
    if is_expired(key.expires_at, now):
        return KeyState("expired", "muted", f"stopped {relative(key.expires_at, now)}")
    if is_used_up(key):
        return KeyState("over limit", "bad", "the limit is used up")
    return None


def _threatened(key: ApiKey, now: datetime) -> KeyState | None:
    if key.expires_at is not None and key.expires_at - now <= EXPIRING_SOON:
        return KeyState("expiring soon", "warn", f"stops working {relative(key.expires_at, now)}")
    share = limit_used_share(key.limit, key.limit_remaining)
    if share is not None and share >= NEAR_LIMIT:
        return KeyState("near limit", "warn", f"{percent(share)} of the limit used")
    return None


def _in_use(key: ApiKey, now: datetime) -> KeyState:
    if key.disabled is None:
        return KeyState("unknown", "muted", "the response does not say")
    if is_never_used(key):
        return KeyState("never used", "muted", "no request so far")
    if key.last_used_at is not None:
        return KeyState("active", "good", f"last used {relative(key.last_used_at, now)}")
    return KeyState("active", "good", "works and has been used")


def is_used_up(key: ApiKey) -> bool:
    """Whether the limit is used up; False without a limit."""
    if key.limit == 0:
        return True
    limited = key.limit is not None or "limit" in key.gaps
    return limited and key.limit_remaining is not None and key.limit_remaining <= 0


def is_never_used(key: ApiKey) -> bool:
    """Whether the figures of the key show no usage at all."""
    if key.last_used_at is not None or key.usage is None:
        return False
    return key.usage == 0 and not key.byok_usage


def spent_by_keys(keys: Iterable[ApiKey], interval: str, *, byok: bool) -> Decimal | None:
    """The usage of these keys in a budget's current window; None if one is unknown.

    ``byok`` counts BYOK usage as well. Raises KeyError for an interval the contract does not know.
    """
    own, borrowed = _USAGE[interval]
    total = Decimal(0)
    for key in keys:
        for name in (own, borrowed) if byok else (own,):
            amount = getattr(key, name)
            if amount is None:
                return None
            total += amount
    return total


def spent_by_interval(keys: Iterable[ApiKey], *, byok: bool) -> Mapping[str, Decimal | None]:
    """The usage of these keys for every budget interval."""
    listed = tuple(keys)
    return {interval: spent_by_keys(listed, interval, byok=byok) for interval in BUDGET_INTERVALS}


@dataclass(frozen=True, slots=True)
class KeyCount:
    """The number of keys, in all and active at a moment."""

    total: int
    lasting: int
    """Enabled and without an expiry."""
    expiries: tuple[datetime, ...]
    """Expiries of the other enabled keys."""

    @classmethod
    def of(cls, keys: Iterable[ApiKey]) -> KeyCount:
        """Count these keys."""
        listed = tuple(keys)
        enabled = [key for key in listed if key.disabled is False]
        expiries = tuple(key.expires_at for key in enabled if key.expires_at is not None)
        return cls(len(listed), len(enabled) - len(expiries), expiries)

    def active(self, now: datetime) -> int:
        """The number of keys whose requests are accepted at ``now``."""
        return self.lasting + sum(not is_expired(moment, now) for moment in self.expiries)
