"""From when on something in an account is a finding: what a profile may set."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MOST = 3650


@dataclass(frozen=True, slots=True)
class FindingThresholds:
    """From when on something is a finding. Raises ValueError for a bound that makes no sense."""

    unused_days: int = 30
    """Days without a request after which a key counts as unused."""
    expiring_days: int = 7
    """Days before a key's expiry from which it counts as expiring."""
    used_percent: int = 80
    """Percent of a key's limit from which it counts as nearly used up."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
                raise ValueError(f"{one.name} must be a whole number from 1 to {_MOST}")


DEFAULT_THRESHOLDS = FindingThresholds()
THRESHOLD_NAMES = frozenset(field.name for field in fields(FindingThresholds))
