"""What happens in the simulated week, and which rules watch it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 18, tzinfo=UTC)
"""A Wednesday: limits that start over each week do so on the sixth day."""
END = START + timedelta(days=7)
REAL = 60
"""Seconds between two readings up to which nothing is slowed down."""
UPTIMES = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")
MODEL = "osprey-labs/ponder-32b"
DOWN = f"{MODEL}|quasar/bf16"
"""The endpoint that goes down, and becomes dearer."""
LIMITED, RENAMED = "editor-completions", "slack-bot"
KEPT = frozenset({LIMITED, RENAMED, "ci-review-bot"})

RULES = """
[rules.credits-low]
fires_at = "30 USD"
clears_at = "35 USD"

[rules.endpoint-failing]
window = "5m"
fires_at = "35 %"
clears_at = "80 %"
fire_after = "15 min"
clear_after = "15 min"

# What they tell follows from figures that nothing here is said about.
[rules.guardrail-leaves-none]
enabled = false

[rules.credits-soon-gone]
enabled = false
"""


def at(day: int, hour: int = 0, minute: int = 0) -> datetime:
    """A moment of the week; its first day is 1."""
    return START + timedelta(days=day - 1, hours=hour, minutes=minute)


FIRST = (at(2, 9, 53), at(2, 10, 33))
FLAP = (at(3, 14, 53), at(3, 15, 5))
SECOND = (at(5, 20, 53), at(5, 21, 33))
SECOND_AGAIN = (at(5, 21, 45), at(5, 22, 25))
OUTAGES = (FIRST, FLAP, SECOND, SECOND_AGAIN)
"""40 minutes; too short to be told; 40 minutes twice with a rest too short for an end between."""
DEARER_AT = at(4, 11, 7)
EDITED_AT = at(4, 15, 3)
"""Somebody renames a key, sets a budget and edits a guardrail."""
TOO_LITTLE_AT = at(5, 3, 7)
"""Somebody buys 4 USD: the balance rises above the bound that fires, not to the one that clears."""
TOPPED_UP_AT = at(7, 14, 7)
"""Somebody buys 500 USD."""
UNREADABLE = (at(7, 10, 3), at(7, 12, 3))
"""Every request is refused with 503, and the wish to wait for five minutes."""
