"""Prices, usage and moments, for tests of costs."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.models import Pricing
from gwtui.domain.pricing import RequestCost, Usage

SATURDAY = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pricing(**changes: Any) -> Pricing:
    body: dict[str, Any] = {"prompt": "0.000003", "completion": "0.000015", "discount": 0}
    return Pricing.model_validate({**body, **changes})


def usage(
    prompt: int = 1_000_000, completion: int = 0, moment: datetime = SATURDAY, **parts: int
) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=completion, moment=moment, parts=parts)


def amounts(cost: RequestCost) -> dict[str, Decimal | None]:
    return {line.key: line.amount for line in cost.lines}
