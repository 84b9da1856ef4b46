"""When ``gwtui check`` warns: the table ``check`` of a profile, and the options of the command."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gwtui.local.settings_file import Setting, one_of

Thresholds = Mapping[str, Any]
"""The given settings of a check, by name."""
WINDOW = "30m"
"""The default time window of the uptime."""
TIME_LIMIT = 10
"""The default time limit of a check, in seconds."""
_LONGEST = 3600
_FALLING = ("credits", "runway", "uptime", "expiry")
"""Figures that get worse as they fall."""
_RISING = ("keys",)


def _not_negative(_name: str, value: Decimal) -> str:
    return "" if value >= 0 else "must be at least 0"


def _positive(_name: str, value: Decimal) -> str:
    return "" if value > 0 else "must be greater than 0"


def _time_limit(_name: str, value: Decimal) -> str:
    return "" if 0 < value <= _LONGEST else f"must be from 0 to {_LONGEST}"


THRESHOLDS = (
    Setting("credits_warning", "amount", "warning if the balance in USD is below this"),
    Setting("credits_critical", "amount", "critical if the balance in USD is below this"),
    Setting(
        "runway_warning",
        "amount",
        "warning if the credits last fewer days than this",
        check=_positive,
    ),
    Setting(
        "runway_critical",
        "amount",
        "critical if the credits last fewer days than this",
        check=_positive,
    ),
    Setting("models", "names", "check the endpoints of this model"),
    Setting("watched", "flag", "check the models that the dashboard watches"),
    Setting(
        "uptime_warning",
        "amount",
        "warning if a lower percentage of requests succeeds",
        check=_not_negative,
    ),
    Setting(
        "uptime_critical",
        "amount",
        "critical if a lower percentage of requests succeeds",
        check=_not_negative,
    ),
    Setting(
        "uptime_window",
        "text",
        "time window of the uptime: 5m, 30m or 1d",
        WINDOW,
        one_of(("5m", "30m", "1d")),
    ),
    Setting(
        "uptime_of",
        "text",
        "which endpoint of a model counts: worst or best",
        "worst",
        one_of(("worst", "best")),
    ),
    Setting(
        "keys_warning",
        "amount",
        "warning if at least this percentage of a key's limit is used",
        check=_not_negative,
    ),
    Setting(
        "keys_critical",
        "amount",
        "critical if at least this percentage of a key's limit is used",
        check=_not_negative,
    ),
    Setting(
        "expiry_warning",
        "amount",
        "warning if a key expires within this many days",
        check=_positive,
    ),
    Setting(
        "expiry_critical",
        "amount",
        "critical if a key expires within this many days",
        check=_positive,
    ),
    Setting("rules", "flag", "also check runway and keys against the alert rules"),
    Setting("alerts", "flag", "also report the alerts of the dashboard on this machine"),
    Setting("timeout", "amount", "time limit in seconds", str(TIME_LIMIT), _time_limit),
)
"""What a check can be given; without a threshold a figure never counts."""


def disorder(given: Thresholds) -> str:
    """Why two thresholds of a figure contradict each other, "" if none do."""
    for name in (*_FALLING, *_RISING):
        warning, critical = given.get(f"{name}_warning"), given.get(f"{name}_critical")
        if warning is None or critical is None:
            continue
        if warning < critical if name in _FALLING else warning > critical:
            return f"{name}: the warning must come before what is critical"
    return ""
