"""The fields of a profile as a person writes them, validated by hand: no library is loaded for it.

A profile is read with every start, before anything is shown. Only the thresholds of
``gwtui check`` are validated by pydantic, in ``profile_tables``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gwtui.client.connection import InvalidConnectionError, normalise_base_url
from gwtui.contract.dialects import DIALECTS

if TYPE_CHECKING:
    from gwtui.local.profile_tables import CheckThresholds

CHECK = "check"
FINDINGS = "findings"
TABLES = (CHECK, FINDINGS)
"""Fields that are tables themselves."""
_UNUSED_DAYS = "unused_days"
_MOST_DAYS = 3650


HISTORIES = ("file", "prometheus")


class InvalidFieldError(ValueError):
    """A field has no fit value: ``path`` leads to it, the message never repeats the value."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


def validated_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of these fields that a profile has, as it has them. Raises InvalidFieldError."""
    if "base_url" not in given:
        raise InvalidFieldError(("base_url",), "is required")
    found = {name: read(name, given[name]) for name, read in _READERS.items() if name in given}
    if FINDINGS in found:
        found[_UNUSED_DAYS] = found.pop(FINDINGS)
    if found.get("history") == "prometheus" and not found.get("history_url"):
        raise InvalidFieldError(("history_url",), 'is required with history = "prometheus"')
    if found.get("token_command") is not None and found.get("token_file") is not None:
        raise InvalidFieldError((), "token_command and token_file exclude each other")
    return found


def keys_of(table: str) -> frozenset[str]:
    """The names of the fields that a table inside of a profile may have."""
    if table == FINDINGS:
        return frozenset({_UNUSED_DAYS})
    from gwtui.local.profile_tables import CheckThresholds  # noqa: PLC0415 - loads pydantic

    return frozenset(CheckThresholds.model_fields)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidFieldError((name,), "must be text")
    return value


def _address(name: str, value: object) -> str:
    try:
        return normalise_base_url(_text(name, value))
    except InvalidConnectionError as error:
        raise InvalidFieldError((name,), str(error)) from None


def _dialect(name: str, value: object) -> str:
    if not isinstance(value, str) or value not in DIALECTS:
        raise InvalidFieldError((name,), f"must be one of {' or '.join(DIALECTS)}")
    return value


def _history(name: str, value: object) -> str:
    if value not in HISTORIES:
        raise InvalidFieldError((name,), f"must be {' or '.join(HISTORIES)}")
    return _text(name, value)


def _server(name: str, value: object) -> str:
    parts = urlsplit(_text(name, value))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise InvalidFieldError((name,), "must be an address such as https://prometheus.example")
    return parts.geturl()


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidFieldError((name,), "must be true or false")
    return value


def _program(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InvalidFieldError((name,), "must be a list")
    for place, word in enumerate(value):
        if not isinstance(word, str):
            raise InvalidFieldError((name, str(place)), "must be text")
    if not value:
        raise InvalidFieldError((name,), "must have at least 1 entry")
    return tuple(value)


def _file(name: str, value: object) -> Path | None:
    if value is None or isinstance(value, Path):
        return value
    return Path(_text(name, value))


def _check(name: str, value: object) -> CheckThresholds | None:
    if value is None:
        return None
    from gwtui.local.profile_tables import (  # noqa: PLC0415 - loads pydantic
        InvalidTableError,
        validated_thresholds,
    )

    try:
        return validated_thresholds(value)
    except InvalidTableError as error:
        raise InvalidFieldError((name, *error.path), str(error)) from None


def _unused_days(name: str, value: object) -> int | None:
    if not isinstance(value, dict):
        raise InvalidFieldError((name,), "must be a table")
    days = value.get(_UNUSED_DAYS)
    if days is not None and (type(days) is not int or not 1 <= days <= _MOST_DAYS):
        why = f"must be a whole number from 1 to {_MOST_DAYS}"
        raise InvalidFieldError((name, _UNUSED_DAYS), why)
    return days


_READERS: Mapping[str, Callable[[str, Any], object]] = {
    "name": _text,
    "base_url": _address,
    "dialect": _dialect,
    "read_only": _flag,
    "critical": _flag,
    "allow_plain_http": _flag,
    "use_proxy": _flag,
    "token_command": _program,
    "token_file": _file,
    "history": _history,
    "history_url": _server,
    "history_match": _text,
    "history_token_command": _program,
    "history_token_file": _file,
    CHECK: _check,
    FINDINGS: _unused_days,
}
"""Field -> what reads its value."""

FIELDS = frozenset(_READERS) - {"name"}
"""Keys that a profile's table may have."""

RETIRED = {
    ("probe",): "gwtui no longer sends probes; run gwtui try chat from cron instead",
    (
        FINDINGS,
        "used_percent",
    ): "the rules key-near-limit and key-limit-used-up of alerts.toml say it",
    (
        FINDINGS,
        "expiring_days",
    ): "the rules key-expires and key-expires-today of alerts.toml say it",
}
"""Keys of an earlier version: they are passed over with a warning."""
