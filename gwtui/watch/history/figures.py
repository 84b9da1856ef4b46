"""The figures that are recorded: their names, which are the contract's, and their units."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.pricing import PER_TOKEN_KEYS, PRICE_KEYS

USD = "USD"
PERCENT = "%"
MILLISECONDS = "ms"
TOKENS_PER_SECOND = "tokens/s"

TOTAL_CREDITS = "total_credits"
TOTAL_USAGE = "total_usage"
BALANCE = "balance"

UPTIMES = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")
PERCENTILES = ("p50", "p90", "p99")
STATUS = "status"

USAGE = "usage"
USAGE_DAILY = "usage_daily"
LIMIT = "limit"
LIMIT_REMAINING = "limit_remaining"


def price_figure(key: str) -> str:
    """The figure of a price key: what is charged per unit, discount taken off."""
    return f"price_{key}"


def usage_figure(interval: str) -> str:
    """What a workspace used in the present window of a budget."""
    return "usage" if interval == "lifetime" else f"usage_{interval}"


def budget_figure(interval: str) -> str:
    """The cap of a workspace's budget."""
    return f"budget_{interval}"


def remaining_figure(interval: str) -> str:
    """What is left of a workspace's budget; negative when overdrawn."""
    return f"budget_{interval}_remaining"


UNITS: Mapping[str, Mapping[str, str]] = {
    "credits": {TOTAL_CREDITS: USD, TOTAL_USAGE: USD, BALANCE: USD},
    "endpoint": {
        **dict.fromkeys(UPTIMES, PERCENT),
        **{f"latency_{which}": MILLISECONDS for which in PERCENTILES},
        **{f"throughput_{which}": TOKENS_PER_SECOND for which in PERCENTILES},
        STATUS: "",
        **{
            price_figure(key): "USD/token" if key in PER_TOKEN_KEYS else "USD" for key in PRICE_KEYS
        },
    },
    "key": {USAGE: USD, USAGE_DAILY: USD, LIMIT: USD, LIMIT_REMAINING: USD},
    "workspace": {
        figure(interval): USD
        for interval in BUDGET_INTERVALS
        for figure in (usage_figure, budget_figure, remaining_figure)
    },
}
"""Resource -> figure -> unit: everything that can be a series."""
