"""The simulated past of the demo, which fills the history before its first reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, Protocol


class KeyUsage(NamedTuple):
    """The cumulative usage of a key up to a moment, in USD.

    ``usd`` was paid from credits; ``byok_usd`` was spent with BYOK credentials.
    """

    usd: Decimal
    byok_usd: Decimal


class AccountTotals(NamedTuple):
    """The account at a moment, in USD."""

    total_credits: Decimal
    total_usage: Decimal


class HistorySource(Protocol):
    """Simulated figures of the past, none of them after ``until``.

    All moments are timezone-aware and in UTC; sequences of them are ascending.
    """

    @property
    def until(self) -> datetime:
        """The last moment with figures."""

    def spent(self, key_hash: str, moments: Sequence[datetime]) -> Sequence[KeyUsage] | None:
        """The usage of a key at each moment; None for a key that is not simulated."""

    def account(self, moments: Sequence[datetime]) -> Sequence[AccountTotals]:
        """The credits at each moment."""

    def disabled_at(self, key_hash: str) -> datetime | None:
        """When a key that existed from the start was disabled; None if never, or if unknown."""

    def figures(
        self, model_id: str, tag: str, moments: Sequence[datetime]
    ) -> Sequence[Mapping[str, Any]] | None:
        """The figures of an endpoint at each moment, with the names of the API.

        None for an endpoint that is not simulated.
        """
