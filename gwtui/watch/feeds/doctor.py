"""The checks of ``gwtui doctor`` that need the gateway, and a feed of all checks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, UnauthorizedError
from gwtui.contract.keys import CurrentKey
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc
from gwtui.local.doctor import DoctorLine
from gwtui.local.paths import Paths
from gwtui.watch import cadence
from gwtui.watch.history.model import HistoryError
from gwtui.watch.hub import FeedReader, FeedSpec, Scope

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.client.gateway import GatewayClient

_SOON = timedelta(days=14)
_TEXT = 160


async def gateway_lines(client: GatewayClient, now: datetime) -> list[DoctorLine]:
    """Check the gateway, the connection to it, and the rights of the key. Never raises."""
    key: CurrentKey | None = None
    try:
        key = await client.keys.current()
    except GatewayError as error:
        answered = error.status is not None
        result = f"{client.connection.host_and_port}: {safe_line(error.message, _TEXT)}"
        advice = "Check its address and the network."
        if isinstance(error, UnauthorizedError):
            advice = "The management key is no longer valid: store another one with gwtui login."
        lines = [DoctorLine("gateway", "Gateway", "error", result, advice)]
    else:
        answered = True
        lines = [
            DoctorLine("gateway", "Gateway", "ok", f"{client.connection.host_and_port} answers")
        ]
    lines.append(tls_line(client.connection))
    lines.append(_clock_line(client, answered=answered))
    lines.append(rights_line(client.connection, key, now))
    if client.connection.history is not None:
        lines.append(await history_line(client.connection))
    return lines


async def history_line(connection: Connection) -> DoctorLine:
    """Check that the Prometheus server of the profile can be read and has readings."""
    from gwtui.watch.history.prometheus import count_readings  # noqa: PLC0415 - few profiles

    title = "History"
    try:
        count = await count_readings(connection)
    except HistoryError as error:
        advice = "Check history_url, its token and the network."
        return DoctorLine("history", title, "error", safe_line(str(error), _TEXT), advice)
    if not count:
        advice = "Let Prometheus scrape gwtui export metrics, and check history_match."
        return DoctorLine("history", title, "advice", "Prometheus has no readings", advice)
    return DoctorLine("history", title, "ok", f"Prometheus has {count} current readings")


def tls_line(connection: Connection) -> DoctorLine:
    """Check that requests are encrypted unless the gateway runs on this machine."""
    if connection.socket_path is not None or (connection.is_plain and connection.is_loopback):
        return DoctorLine("tls", "TLS", "ok", "Not needed: the gateway runs on this machine")
    if connection.is_plain:
        text = "Plain http: the management key can be read on the network"
        return DoctorLine("tls", "TLS", "error", text, "Use an https address.")
    return DoctorLine("tls", "TLS", "ok", "Requests are encrypted (https)")


def _clock_line(client: GatewayClient, *, answered: bool) -> DoctorLine:
    skew = client.skew
    if not answered:
        return DoctorLine("clock", "Clock", "unknown", "The gateway did not respond")
    if skew.is_notable:
        where = "ahead of" if skew.seconds > 0 else "behind"
        result = f"The gateway's clock is {abs(skew.seconds):.0f} s {where} this machine's"
        advice = "Ages and expiries are off by that much: use NTP (timedatectl status)."
        return DoctorLine("clock", "Clock", "advice", result, advice)
    return DoctorLine("clock", "Clock", "ok", "Within a few seconds of the gateway's")


def rights_line(connection: Connection, key: CurrentKey | None, now: datetime) -> DoctorLine:
    """Return the line about the rights of the key; about its expiry instead if that is near."""
    title = "Rights"
    if key is None:
        return DoctorLine("rights", title, "unknown", "The gateway did not report them")
    if key.expires_at is not None and key.expires_at - now <= _SOON:
        result = f"The key expires {relative(key.expires_at, now)}, {utc(key.expires_at)}"
        return DoctorLine(
            "rights", title, "advice", result, "Create another key, then run gwtui login."
        )
    if key.is_management_key is None:
        result = "The gateway did not report whether this is a management key"
        return DoctorLine("rights", title, "unknown", result)
    if not key.is_management_key:
        result = "Not a management key: it can only read the catalog, generations and itself"
        advice = "Log in with a management key: gwtui login."
        return DoctorLine("rights", title, "advice", result, advice)
    if connection.read_only:
        result = "A management key; this connection is read-only"
        return DoctorLine("rights", title, "ok", result)
    return DoctorLine("rights", title, "ok", "A management key: it can read and write")


async def _all_lines(reader: FeedReader, _scope: Scope) -> Sequence[DoctorLine]:
    from gwtui.local.doctor import TerminalInfo, machine_lines  # noqa: PLC0415 - if asked for

    source = reader.client.connection.token_source
    needed = source == "keyring"
    machine = await machine_lines(Paths.of_user(), TerminalInfo.present(), needs_keyring=needed)
    found = f"From: {safe_line(source or 'nowhere', 60)}"
    key = DoctorLine("key", "Management key", "ok", found)
    return (*machine, key, *await gateway_lines(reader.client, reader.clock.now()))


doctor_feed = FeedSpec("doctor", _all_lines, cadence.MODELS)
"""All checks of this machine and the gateway."""
