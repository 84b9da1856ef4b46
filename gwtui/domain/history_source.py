"""Figures from before the first reading, to fill a history with: only the demo has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, Protocol


class KeyUsage(NamedTuple):
    """USD used in all up to a moment: credits, and what ran on own provider keys."""

    usd: Decimal
    byok_usd: Decimal


class AccountTotals(NamedTuple):
    """The account at a moment, in USD."""

    total_credits: Decimal
    total_usage: Decimal


class HistorySource(Protocol):
    """Figures as the gateway would have answered them. Moments are aware, UTC, and ascend.

    There are none after ``until``.
    """

    @property
    def until(self) -> datetime:
        """The last moment with figures."""

    def spent(self, key_hash: str, moments: Sequence[datetime]) -> Sequence[KeyUsage] | None:
        """The usage of a key at each moment; None if it is not simulated."""

    def account(self, moments: Sequence[datetime]) -> Sequence[AccountTotals]:
        """The credits at each moment."""

    def disabled_at(self, key_hash: str) -> datetime | None:
        """When a key was disabled that the gateway began with; None where nobody noted it."""

    def figures(
        self, model_id: str, tag: str, moments: Sequence[datetime]
    ) -> Sequence[Mapping[str, Any]] | None:
        """The live figures of an endpoint at each moment, named as on the wire.

        None for an endpoint that is not simulated.
        """
