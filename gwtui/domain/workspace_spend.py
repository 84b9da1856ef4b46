"""What a workspace spent, as far as its keys tell. Amounts are USD.

The contract gives budgets no spending of their own. What the present keys report for the UTC day,
week, month and for all time is the least that was spent: keys that were deleted are not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.keys import ApiKey, is_expired

_USAGE = {
    "daily": ("usage_daily", "byok_usage_daily"),
    "weekly": ("usage_weekly", "byok_usage_weekly"),
    "monthly": ("usage_monthly", "byok_usage_monthly"),
    "lifetime": ("usage", "byok_usage"),
}


def spent(keys: Iterable[ApiKey], interval: str, *, byok: bool) -> Decimal | None:
    """What these keys used in the present window of a budget; None when one does not say.

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
    """The same for every interval that budgets know."""
    listed = tuple(keys)
    return {interval: spent(listed, interval, byok=byok) for interval in BUDGET_INTERVALS}


@dataclass(frozen=True, slots=True)
class KeyCount:
    """How many keys there are; how many of them are active depends on the moment."""

    total: int
    lasting: int
    """Enabled and without an expiry."""
    expiries: tuple[datetime, ...]
    """Of the other enabled ones."""

    @classmethod
    def of(cls, keys: Iterable[ApiKey]) -> KeyCount:
        """Count these keys."""
        listed = tuple(keys)
        enabled = [key for key in listed if key.disabled is False]
        expiries = tuple(key.expires_at for key in enabled if key.expires_at is not None)
        return cls(len(listed), len(enabled) - len(expiries), expiries)

    def active(self, now: datetime) -> int:
        """Keys whose requests are accepted at ``now``."""
        return self.lasting + sum(not is_expired(moment, now) for moment in self.expiries)
