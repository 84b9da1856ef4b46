"""Fault injection: errors and delays, limited by operation, number of requests and probability.

``parse`` reads a fault as written on the command line: ``reset-after:POST /keys x1``,
``latency=0.8:reads``, ``429 25%``. ``FaultInjector`` wraps the gateway's ASGI application. Loaded
only if a fault is requested.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gwtui.contract import errors
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.messages import error_body
from gwtui.embedded.operations import PATH_PARAMETER, Operation
from gwtui.embedded.routes import all_operations, operations_at

TRANSPORT = "gwtui.transport"
"""Name of the ASGI extension with the transport of a request, which can be dropped."""
_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")
_AT_ONCE = struct.pack("ii", 1, 0)
"""A linger time of 0 seconds, so that the kernel resets the connection instead of closing it."""


class BreakableProtocol(H11Protocol):
    """Adds its transport to the scope of each request, so that a fault can drop the connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Add the transport of a new connection to the scope of its requests."""
        super().connection_made(transport)
        app = self.app

        async def within_reach(scope: Any, receive: Any, send: Any) -> None:
            extensions = {**scope.get("extensions", {}), TRANSPORT: transport}
            await app({**scope, "extensions": extensions}, receive, send)

        self.app = within_reach


@dataclass(frozen=True)
class Exchange:
    """One request to the gateway; the methods are what a fault can do with it."""

    app: ASGIApp
    scope: Scope
    receive: Receive
    send: Send
    clock: Clock

    async def forward(self) -> None:
        """Let the gateway handle the request as if there were no fault."""
        await self.app(self.scope, self.receive, self.send)

    async def carry_out(self) -> tuple[Message, bytes]:
        """Let the gateway execute the request; return its response without sending it."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(self.scope, self.receive, keep)
        start, *parts = messages
        return start, b"".join(part.get("body", b"") for part in parts)

    async def respond(self, response: Response) -> None:
        """Send a response instead of the gateway, which never gets the request."""
        response.headers["Date"] = format_datetime(self.clock.now(), usegmt=True)
        await response(self.scope, self.receive, self.send)

    async def alter_events(self, alter: Callable[[int, Message], Awaitable[None]]) -> None:
        """Let the gateway respond, but replace the events of a stream.

        ``alter`` is called with the number of each event, from 0, and its ASGI message, and sends
        whatever the client should get instead. Comments in a stream, and responses that are not a
        stream, pass unchanged.
        """
        streams, events = False, 0

        async def send(message: Message) -> None:
            nonlocal streams, events
            if message["type"] == "http.response.start":
                streams = _EVENTS in message["headers"]
            if streams and message.get("body", b"").startswith(b"data:"):
                events += 1
                await alter(events - 1, message)
            else:
                await self.send(message)

        await self.app(self.scope, self.receive, send)

    async def hang(self) -> None:
        """Send nothing until the client disconnects."""
        try:
            while (await self.receive())["type"] != "http.disconnect":
                pass
        except asyncio.CancelledError:
            # The server is stopping and would send a response that the gateway never gave.
            if TRANSPORT in self.scope.get("extensions", {}):
                self.break_off()
            raise

    def break_off(self) -> None:
        """Reset the connection.

        Raises ConnectionResetError if the client is in the same process, without a connection.
        """
        transport = self.transport()
        end = transport.get_extra_info("socket")
        if end is not None and end.family != socket.AF_UNIX:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        transport.abort()

    def transport(self) -> asyncio.Transport:
        """Return the connection of the request.

        Raises ConnectionResetError if the client is in the same process, without a connection.
        """
        transport: asyncio.Transport | None = self.scope.get("extensions", {}).get(TRANSPORT)
        if transport is None:
            # Within one process the exception reaches the client, as a reset would over a socket.
            raise ConnectionResetError("the gateway dropped the connection")
        return transport


Act = Callable[[Exchange, float], Awaitable[None]]
"""Handles a request as the fault demands, with its number, such as seconds."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault; ``about`` describes it in ``--fault list``."""

    about: str
    act: Act
    number: str = ""
    """The unit of the number; "" if the fault takes none."""
    default: float = 0
    """The default number."""
    streams: bool = False
    """Whether the fault only applies to operations that can stream."""


async def _delay(exchange: Exchange, seconds: float) -> None:
    await exchange.clock.sleep(seconds)


async def _hang(exchange: Exchange, _number: float) -> None:
    await exchange.hang()


async def _reset(exchange: Exchange, _number: float) -> None:
    exchange.break_off()
    await exchange.hang()  # until the server has noticed


async def _half_body(exchange: Exchange, _number: float) -> None:
    start, body = await exchange.carry_out()
    half = body[: len(body) // 2]
    transport = exchange.transport()
    await exchange.send(start)
    await exchange.send({"type": "http.response.body", "body": half, "more_body": True})
    transport.close()
    await exchange.hang()


def _after(act: Act) -> Act:
    # Return the fault that acts after the gateway has executed the request.
    async def after(exchange: Exchange, number: float) -> None:
        await exchange.carry_out()
        await act(exchange, number)

    return after


def _respond(
    status: int, body: str, media_type: str = "application/json", *, wait_as_date: bool = False
) -> Act:
    # The number is the Retry-After in seconds; 0 sends none.
    async def respond(exchange: Exchange, number: float) -> None:
        response = Response(body, status, media_type=media_type)
        until = exchange.clock.now() + timedelta(seconds=number)
        if number:
            wait = format_datetime(until, usegmt=True) if wait_as_date else f"{number:.0f}"
            response.headers["Retry-After"] = wait
        await exchange.respond(response)

    return respond


def _refuse(status: int, message: str, *, wait_as_date: bool = False) -> Act:
    body = json.dumps(error_body(status, message))
    return _respond(status, body, wait_as_date=wait_as_date)


def _proxy_page(status: int, phrase: str) -> Act:
    page = f"<html><head><title>{status} {phrase}</title></head><body>{phrase}</body></html>"
    return _respond(status, page, "text/html")


def _malformed(body: bytes | None, media_type: str = "application/json") -> Act:
    # Execute the request, then replace a successful response; ``body`` None keeps its body.
    async def garble(exchange: Exchange, _number: float) -> None:
        start, own = await exchange.carry_out()
        if start["status"] < 300:  # noqa: PLR2004 - the class of successes
            garbled = own if body is None else body
            await exchange.respond(Response(garbled, start["status"], media_type=media_type))
        else:
            await exchange.send(start)
            await exchange.send({"type": "http.response.body", "body": own})

    return garble


def _in_stream(alter: Callable[[Exchange, float, int, Message], Awaitable[None]]) -> Act:
    async def act(exchange: Exchange, number: float) -> None:
        await exchange.alter_events(partial(alter, exchange, number))

    return act


async def _cut(exchange: Exchange, number: float, event: int, message: Message) -> None:
    if event < number:
        await exchange.send(message)
    else:
        exchange.break_off()


async def _fall_silent(exchange: Exchange, number: float, event: int, message: Message) -> None:
    await (exchange.send(message) if event < number else exchange.hang())


async def _garble(exchange: Exchange, number: float, event: int, message: Message) -> None:
    if event == number:
        await exchange.send({**message, "body": b"data: {oops\n\n"})
    await exchange.send(message)


async def _delay_usage(exchange: Exchange, seconds: float, _event: int, message: Message) -> None:
    if b'"usage":{' in message["body"]:
        await exchange.clock.sleep(seconds)
    await exchange.send(message)


CLOCK_SKEW = "clock-skew"
LATENCY = "latency"
_FAILURES = {
    "500": FaultKind("internal error", _refuse(500, errors.SERVER_ERROR)),
    "502": FaultKind("bad gateway, as a proxy reports it", _proxy_page(502, "Bad Gateway")),
    "503": FaultKind(
        "service unavailable, with Retry-After",
        _proxy_page(503, "Service Unavailable"),
        "SECONDS",
        1,
    ),
    "504": FaultKind("gateway timeout, as a proxy reports it", _proxy_page(504, "Gateway Timeout")),
    "524": FaultKind(
        "timeout, as a content delivery network reports it",
        _proxy_page(524, "A Timeout Occurred"),
    ),
}
KINDS: Mapping[str, FaultKind] = {
    LATENCY: FaultKind("delay the response", _delay, "SECONDS", 1),
    "hang": FaultKind("never respond; the request is not carried out", _hang),
    "hang-after": FaultKind("never respond; the request is carried out", _after(_hang)),
    "reset-before": FaultKind("drop the connection; the request is not carried out", _reset),
    "reset-after": FaultKind("drop the connection; the request is carried out", _after(_reset)),
    "half-body": FaultKind("carried out; drop the connection mid-response", _half_body),
    "401": FaultKind("the key is invalid", _refuse(401, "Invalid API key")),
    "403": FaultKind("the key lacks permission", _refuse(403, errors.MANAGEMENT_KEY_NEEDED)),
    "409": FaultKind(
        "conflict: the resource has changed",
        _refuse(409, "The resource has changed since it was read"),
    ),
    "429": FaultKind(
        "too many requests, Retry-After in seconds",
        _refuse(429, errors.RATE_LIMITED),
        "SECONDS",
        1,
    ),
    "429-date": FaultKind(
        "too many requests, Retry-After as a date",
        _refuse(429, errors.RATE_LIMITED, wait_as_date=True),
        "SECONDS",
        1,
    ),
    **_FAILURES,
    **{
        f"{name}-after": replace(
            kind, about=f"{name}, but the request is carried out", act=_after(kind.act)
        )
        for name, kind in _FAILURES.items()
    },
    "malformed-not-json": FaultKind("carried out; the response is not JSON", _malformed(b"{oops")),
    "malformed-type": FaultKind("carried out; the response is a list", _malformed(b'["odd"]')),
    "malformed-data": FaultKind(
        "carried out; the response's data is a string", _malformed(b'{"data":"odd"}')
    ),
    "malformed-empty": FaultKind("carried out; the response is empty", _malformed(b"")),
    "malformed-content-type": FaultKind(
        "carried out; the response is labelled text/html", _malformed(None, "text/html")
    ),
    "stream-cut": FaultKind(
        "drop the connection after this many events", _in_stream(_cut), "EVENTS", 3, streams=True
    ),
    "stream-silence": FaultKind(
        "fall silent after this many events", _in_stream(_fall_silent), "EVENTS", 3, streams=True
    ),
    "stream-garbage": FaultKind(
        "insert an event that is not JSON after this many",
        _in_stream(_garble),
        "EVENTS",
        3,
        streams=True,
    ),
    "stream-late": FaultKind(
        "delay the event that carries the usage",
        _in_stream(_delay_usage),
        "SECONDS",
        2,
        streams=True,
    ),
    CLOCK_SKEW: FaultKind(
        "run the gateway's clock ahead; negative is behind", _delay, "SECONDS", 60
    ),
}


_FAULT = re.compile(
    r"(?P<kind>[\w-]+)(?:=(?P<number>-?\d{1,9}(?:\.\d{1,9})?))?(?::(?P<where>.*?))?"
    r"(?: x(?P<times>[1-9]\d{0,5}))?(?: (?P<chance>\d{1,9}(?:\.\d{1,9})?)%)?",
    re.ASCII,
)
_CERTAIN = 100
"""The chance of a fault that always applies, in percent."""
_EXAMPLES = (
    "reset-after:POST /keys x1",
    "latency=0.8:reads",
    "503=30:GET /keys x2",
    "429 25%",
    "clock-skew=-90",
    "stream-cut=5 x1",
)


@dataclass(kw_only=True)
class Fault:
    """A fault and the requests that it applies to.

    ``times`` is the maximum number of affected requests, None without a limit; ``struck`` is their
    number so far; ``chance`` is the probability, 0 to 1.
    """

    text: str
    name: str
    number: float
    operations: frozenset[str] | None
    """Operation identifiers; None matches every request, including unknown paths."""
    times: int | None
    chance: float
    luck: random.Random
    struck: int = 0

    @property
    def kind(self) -> FaultKind:
        """The kind of the fault."""
        return KINDS[self.name]

    def strikes(self, operation: str | None) -> bool:
        """Decide whether the fault applies to a request; if so, count the request.

        ``operation`` is its identifier, None for an unknown path. Call once per request.
        """
        if self.name == CLOCK_SKEW or self.struck == self.times:
            return False
        if self.operations is not None and operation not in self.operations:
            return False
        if self.luck.random() >= self.chance:
            return False
        self.struck += 1
        return True


class FaultInjector:
    """The faults of one gateway: ``arm`` adds one, ``clear`` removes all.

    All matching latencies are added; of the other matching faults, only the first one acts.
    """

    protocol = BreakableProtocol
    """The HTTP protocol class for a server whose connections can be dropped."""

    def __init__(self, faults: Iterable[str] = ()) -> None:
        self.armed = [parse(fault) for fault in faults]
        """All faults in the order they were armed, including exhausted ones."""

    def arm(self, fault: str) -> Fault:
        """Add a fault. Raises FaultSyntaxError."""
        self.armed.append(parse(fault))
        return self.armed[-1]

    def clear(self) -> None:
        """Remove all faults."""
        self.armed.clear()

    def skewed(self, clock: Clock = SYSTEM_CLOCK) -> Clock:
        """Return the clock, shifted by all clock skews, including those that are armed later."""

        def now() -> datetime:
            ahead = sum(fault.number for fault in self.armed if fault.name == CLOCK_SKEW)
            return clock.now() + timedelta(seconds=ahead)

        return replace(clock, now=now)

    def wrap(self, app: ASGIApp, clock: Clock) -> ASGIApp:
        """Wrap an application so that the armed faults apply to its requests."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            exchange = Exchange(app, scope, receive, send, clock)
            methods, _ = operations_at(scope["path"])
            operation = methods.get(scope["method"])
            name = None if operation is None else operation.operation_id
            for fault in self.armed:
                if fault.strikes(name):
                    await fault.kind.act(exchange, fault.number)
                    if fault.name != LATENCY:
                        return
            await exchange.forward()

        return guarded


def parse(text: str) -> Fault:
    """Parse a fault such as ``503=30:GET /keys x2``. Raises FaultSyntaxError."""
    try:
        return _parse(text.strip())
    except ValueError as error:
        raise FaultSyntaxError(
            f"Cannot understand the fault {text!r}: {error} ('--fault list' lists all)."
        ) from None


def _parse(text: str) -> Fault:
    match = _FAULT.fullmatch(text)
    if match is None or match["kind"] not in KINDS:
        raise ValueError("unknown kind or syntax")
    name, number, where, times, chance = match.groups()
    kind = KINDS[name]
    if number and not kind.number:
        raise ValueError(f"{name} takes no number")
    if name == CLOCK_SKEW and (where or times or chance):
        raise ValueError("clock-skew applies to every request and takes nothing but seconds")
    percent = float(chance or _CERTAIN)
    if not 0 < percent <= _CERTAIN:
        raise ValueError(f"the chance {chance}% must be more than 0% and at most 100%")
    return Fault(
        text=text,
        name=name,
        number=float(number or kind.default),
        operations=_operations(kind, where or "*"),
        times=int(times) if times else None,
        chance=percent / _CERTAIN,
        luck=random.Random(text),  # noqa: S311 - repeatable
    )


def _operations(kind: FaultKind, where: str) -> frozenset[str] | None:
    # None for all.
    if where == "*" and not kind.streams:
        return None
    where = PATH_PARAMETER.sub("{}", where)
    struck = frozenset(
        operation.operation_id
        for operation in all_operations()
        if where in _names(operation) and (operation.streams or not kind.streams)
    )
    if not struck:
        what = "streaming operation" if kind.streams else "operation"
        raise ValueError(f"no {what} is {where!r}")
    return struck


def _names(operation: Operation) -> set[str]:
    # Everything that WHERE may be to mean this operation.
    path = PATH_PARAMETER.sub("{}", operation.path)
    group = "writes" if operation.writes else "reads"
    method = operation.method
    return {"*", group, operation.operation_id, method, path, f"{method} {path}"}


def catalogue() -> list[str]:
    """Return the lines of ``--fault list``: the syntax, all kinds and all operations."""
    return [
        "KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%]",
        "Each fault draws its own chance. Only the first one that strikes acts.",
        "",
        "KIND",
        *(
            f"  {name + (f'[={kind.number}]' if kind.number else ''):<24} {kind.about}"
            for name, kind in KINDS.items()
        ),
        "",
        "WHERE: empty for all requests, or reads, writes, a method, a path, an operation",
        *(f"  {each.operation_id:<26} {each.method} {each.path}" for each in all_operations()),
        "",
        "For example",
        *(f"  --fault '{example}'" for example in _EXAMPLES),
    ]
