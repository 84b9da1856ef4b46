"""How the program and its gateway get on: this machine, and what the gateway answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gwtui.client.certificate import CertificateError, TlsFacts, read_certificate
from gwtui.client.errors import GatewayError, UnauthorizedError
from gwtui.contract.current_key import CurrentKey
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
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


async def gateway_lines(client: GatewayClient, now: datetime) -> list[DoctorLine]:
    """What the gateway answers, how it is reached, and what its key may do. Never raises."""
    key: CurrentKey | None = None
    try:
        key = await client.keys.current()
    except GatewayError as error:
        answered = error.status is not None
        found = f"{client.connection.where}: {safe_line(error.message, _TEXT)}"
        advice = "Check its address, and the network on the way to it."
        if isinstance(error, UnauthorizedError):
            advice = "The token is not valid any more: gwtui login stores another."
        lines = [DoctorLine("gateway", "Gateway", "wrong", found, advice)]
    else:
        answered = True
        lines = [DoctorLine("gateway", "Gateway", "well", f"{client.connection.where} answers")]
    lines.append(await tls_line(client.connection, now))
    lines.append(_clock_line(client, answered=answered))
    lines.append(rights_line(client.connection, key, now))
    if client.connection.history is not None:
        lines.append(await history_line(client.connection))
    return lines


async def history_line(connection: Connection) -> DoctorLine:
    """Whether the Prometheus server of a team's history can be read, and has anything."""
    from gwtui.watch.history.prometheus import count_readings  # noqa: PLC0415 - few profiles

    title = "History"
    try:
        count = await count_readings(connection)
    except HistoryError as error:
        advice = "Check history_url, the token for it, and the network on the way to it."
        return DoctorLine("history", title, "wrong", safe_line(str(error), _TEXT), advice)
    if not count:
        advice = "Let it scrape gwtui export metrics; history_match may leave everything out."
        return DoctorLine("history", title, "advice", "Prometheus has no readings", advice)
    return DoctorLine("history", title, "well", f"Prometheus has {count} readings now")


async def tls_line(connection: Connection, now: datetime) -> DoctorLine:
    """Whether what is sent can be read on the way, and how long the certificate holds."""
    if connection.socket_path is not None or (connection.is_plain and connection.is_loopback):
        return DoctorLine("tls", "TLS", "well", "Not needed: the gateway is on this machine")
    if connection.is_plain:
        text = "Plain http: the token can be read on the way"
        return DoctorLine("tls", "TLS", "wrong", text, "Use https, and a gateway that has it.")
    if connection.use_proxy and any(os.environ.get(name) for name in _PROXIES):
        return DoctorLine("tls", "TLS", "unknown", "A proxy stands between: not looked at")
    try:
        return certificate_line(await read_certificate(connection), now)
    except CertificateError as error:
        text = safe_line(str(error), _TEXT)
        if not error.distrusted:
            return DoctorLine("tls", "TLS", "unknown", text)
        advice = "Ask who runs it; nothing is sent to a gateway that is not trusted."
        return DoctorLine("tls", "TLS", "wrong", text, advice)


def certificate_line(found: TlsFacts, now: datetime) -> DoctorLine:
    """How long a certificate that is trusted holds."""
    text = f"{found.protocol}, certificate trusted"
    if found.until is None:
        return DoctorLine("tls", "TLS", "well", text)
    text = f"{text} until {utc(found.until)}"
    if found.until - now > _SOON:
        return DoctorLine("tls", "TLS", "well", text)
    advice = f"It ends {relative(found.until, now)}: tell who runs the gateway."
    return DoctorLine("tls", "TLS", "advice", text, advice)


def _clock_line(client: GatewayClient, *, answered: bool) -> DoctorLine:
    skew = client.skew
    if not answered:
        return DoctorLine("clock", "Clock", "unknown", "The gateway did not answer")
    if skew.is_notable:
        where = "ahead of" if skew.seconds > 0 else "behind"
        found = f"The gateway's clock is {abs(skew.seconds):.0f} s {where} this machine's"
        advice = "Ages and expiries are off by that: keep time by NTP (timedatectl status)."
        return DoctorLine("clock", "Clock", "advice", found, advice)
    return DoctorLine("clock", "Clock", "well", "The same as the gateway's, to a few seconds")


def rights_line(connection: Connection, key: CurrentKey | None, now: datetime) -> DoctorLine:
    """What the token may do, as the gateway says."""
    title = "Rights"
    if key is None:
        return DoctorLine("rights", title, "unknown", "The gateway did not say")
    if key.expires_at is not None and key.expires_at - now <= _SOON:
        found = f"The key ends {relative(key.expires_at, now)}, {utc(key.expires_at)}"
        return DoctorLine("rights", title, "advice", found, "Make another, then gwtui login.")
    if key.is_management_key is None:
        found = "The gateway did not say whether it is a management key"
        return DoctorLine("rights", title, "unknown", found)
    if not key.is_management_key:
        found = "No management key: the catalog, generations and itself is all it may read"
        advice = "For everything else log in with a management key: gwtui login."
        return DoctorLine("rights", title, "advice", found, advice)
    if connection.read_only:
        found = "A management key; this connection is read-only"
        return DoctorLine("rights", title, "well", found)
    return DoctorLine("rights", title, "well", "A management key: it reads and changes")


async def _look(reader: FeedReader, _scope: Scope) -> Sequence[DoctorLine]:
    from gwtui.local.doctor import TerminalFacts, machine_lines  # noqa: PLC0415 - if asked for

    source = reader.client.connection.token_source
    needed = source == "keyring"
    machine = await machine_lines(Paths.of_user(), TerminalFacts.present(), needs_keyring=needed)
    token = DoctorLine("token", "Token", "well", f"From: {safe_line(source or 'nowhere', 60)}")
    return (*machine, token, *await gateway_lines(reader.client, reader.clock.now()))


doctor_feed = FeedSpec("doctor", _look, cadence.MODELS)
"""What is found on this machine and at the gateway, looked at now."""
