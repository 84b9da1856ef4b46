"""Credits: contract "Credits", "GET /credits"."""

from __future__ import annotations

from decimal import Decimal

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number


class Credits(ResponseModel):
    """What was bought and what is used, in USD, for the whole account."""

    total_credits: Number | None = wire("total purchased", unit="USD")
    total_usage: Number | None = wire("total used", unit="USD")

    @property
    def balance(self) -> Decimal | None:
        """What is left in USD; negative when overdrawn, None when a figure is unknown."""
        if self.total_credits is None or self.total_usage is None:
            return None
        return self.total_credits - self.total_usage

    @property
    def used_share(self) -> Decimal | None:
        """Share of the purchased credits that is used, 0..1 and above when overdrawn."""
        if self.total_credits is None or self.total_usage is None or self.total_credits <= 0:
            return None
        return self.total_usage / self.total_credits
