"""The thresholds of ``gwtui check``: settings of a profile, and options of the command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from gwtui.local.settings_file import Check, Setting, one_of

Thresholds = Mapping[str, Any]
"""Thresholds by name, without those that are not set."""
WINDOW = "30m"
"""The default time window of the uptime."""
TIME_LIMIT = 10
"""The default time limit of a check, in seconds."""
_LONGEST = 3600
_FALLING = ("credits", "runway", "uptime", "expiry")
"""Metrics that get worse as they fall."""
_RISING = ("keys",)


def _any_amount(_name: str, _value: Decimal) -> str:
    return ""


def _not_negative(_name: str, value: Decimal) -> str:
    return "" if value >= 0 else "must be at least 0"


def _positive(_name: str, value: Decimal) -> str:
    return "" if value > 0 else "must be greater than 0"


def _time_limit(_name: str, value: Decimal) -> str:
    return "" if 0 < value <= _LONGEST else f"must be from 0 to {_LONGEST}"


def _pair(name: str, condition: str, check: Check = _any_amount) -> Iterator[Setting]:
    for severity in ("warning", "critical"):
        yield Setting(f"{name}_{severity}", "amount", f"{severity} if {condition}", check=check)


THRESHOLDS = (
    *_pair("credits", "the balance in USD is below this"),
    *_pair("runway", "the credits last fewer days than this", _positive),
    Setting("models", "names", "check the endpoints of this model"),
    Setting("watched", "flag", "check the models that the dashboard watches"),
    *_pair("uptime", "a smaller percentage of requests than this succeeds", _not_negative),
    Setting(
        "uptime_window",
        "text",
        "period of the uptime: 5m, 30m or 1d",
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
    *_pair("keys", "at least this percentage of a key's limit is used", _not_negative),
    *_pair("expiry", "a key expires within this many days", _positive),
    Setting("rules", "flag", "also check runway and keys against the alert rules"),
    Setting("alerts", "flag", "also report the alerts of the dashboard on this machine"),
    Setting("timeout", "amount", "time limit in seconds", str(TIME_LIMIT), _time_limit),
)
"""The settings of a check. A figure without a threshold never warns."""


def threshold_conflict(given: Thresholds) -> str:
    """Why a warning and a critical threshold contradict each other; "" if none do."""
    for name in (*_FALLING, *_RISING):
        warning, critical = given.get(f"{name}_warning"), given.get(f"{name}_critical")
        if warning is None or critical is None:
            continue
        if warning < critical if name in _FALLING else warning > critical:
            return f"{name}: the warning threshold must be reached before the critical one"
    return ""
