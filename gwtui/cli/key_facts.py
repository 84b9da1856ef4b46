"""What a gateway says about the key that asks (GET /key), for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from gwtui.cli.output import narrate
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.current_key import CurrentKey
from gwtui.contract.scalars import timestamp_text
from gwtui.crud.cells import is_null
from gwtui.domain import money, times
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.resets import describe_reset

_SAID = (
    "label",
    "is_management_key",
    "limit",
    "limit_remaining",
    "limit_reset",
    "expires_at",
    "usage",
    "usage_monthly",
    "creator_user_id",
    "organization_id",
    "workspace_id",
)


async def ask_gateway(connection: Connection) -> CurrentKey:
    """What the key of a connection may do. Raises GatewayError."""
    async with GatewayClient(
        connection, on_retry=lambda notice: narrate(f"{notice.reason}; trying again")
    ) as gateway:
        return await gateway.keys.current()


def key_rows(key: CurrentKey, now: datetime) -> Sequence[tuple[str, str]]:
    """The facts in words; an em dash where the gateway did not say."""
    return (
        ("key", key.label or UNKNOWN),
        ("management key", _yes_no(key.is_management_key)),
        ("limit", _limit(key)),
        ("limit resets", _schedule(key, now)),
        ("expires", _moment(key, now)),
        ("used", f"{money.usd(key.usage)}, {money.usd(key.usage_monthly)} of it this month (UTC)"),
    )


def key_json(key: CurrentKey) -> dict[str, JsonValue]:
    """The same facts by their names on the wire. What the gateway did not say is not there."""
    return {name: _json(getattr(key, name)) for name in _SAID if name in key.raw}


def in_short(key: CurrentKey) -> str:
    """One line: which key this is and how far it goes."""
    manages = key.is_management_key
    kind = "key" if manages is None else "management key" if manages else "ordinary key"
    return f"{kind} {key.label or UNKNOWN}, {_limit(key)}"


def _limit(key: CurrentKey) -> str:
    if key.limit is None:
        return "no limit" if is_null(key, "limit") else f"limit {UNKNOWN}"
    left = money.usd(key.limit_remaining)
    return f"limit {money.usd(key.limit)}, {left} left"


def _schedule(key: CurrentKey, now: datetime) -> str:
    if key.limit_reset is None and not is_null(key, "limit_reset"):
        return UNKNOWN
    return describe_reset(key.limit_reset, now)


def _moment(key: CurrentKey, now: datetime) -> str:
    if key.expires_at is None:
        return "never" if is_null(key, "expires_at") else UNKNOWN
    return f"{times.utc(key.expires_at)}, {times.relative(key.expires_at, now)}"


def _yes_no(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def _json(value: object) -> JsonValue:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return timestamp_text(value)
    return value if isinstance(value, bool | str) else None
