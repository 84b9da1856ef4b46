"""Prices, usage and moments, for tests of quotes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.models import Pricing
from gwtui.domain.pricing import Quote, Usage, quote

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pricing(**changes: Any) -> Pricing:
    body: dict[str, Any] = {"prompt": "0.000003", "completion": "0.000015", "discount": 0}
    return Pricing.model_validate({**body, **changes})


def usage(prompt: int = 1_000_000, completion: int = 0, **changes: Any) -> Usage:
    return Usage(
        **{
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "moment": SATURDAY,
            **changes,
        }
    )


def at(hour: int, minute: int = 0, *, day: int = 21) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def amounts(found: Quote) -> dict[str, Decimal | None]:
    return {line.key: line.amount for line in found.lines}


def rules(found: Quote) -> dict[str, str]:
    return {line.key: line.rule for line in found.lines}


def prompt_price(prices: Pricing, **request: Any) -> Decimal | None:
    return quote(prices, usage(1, **request)).lines[0].unit_price
