"""Fault injection: errors and delays, limited by operation, number of requests and probability.

``parse`` reads a fault as written on the command line, ``KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%]
[seed=N]``: ``reset-after:POST /keys x1``, ``latency=0.8:reads``, ``429 25% seed=7``.
``FaultInjector`` wraps the gateway's ASGI application. Loaded only if a fault is requested.
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
from typing import Any, Literal

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gwtui.contract import errors
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import FaultSyntaxError
from gwtui.embedded.messages import error_body
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import PREFIX, all_operations, operations_at

TRANSPORT = "gwtui.transport"
"""Name of the ASGI extension that holds the connection of a request."""
_EVENTS = (b"content-type", b"text/event-stream; charset=utf-8")
_AT_ONCE = struct.pack("ii", 1, 0)
"""A linger time of 0 seconds, so that the kernel resets the connection instead of closing it."""


class BreakableProtocol(H11Protocol):
    """Passes its transport to each request, so that a fault can drop the connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Pass the transport of an accepted connection to its requests."""
        super().connection_made(transport)
        app = self.app

        async def within_reach(scope: Any, receive: Any, send: Any) -> None:
            extensions = {**scope.get("extensions", {}), TRANSPORT: transport}
            await app({**scope, "extensions": extensions}, receive, send)

        self.app = within_reach


@dataclass(frozen=True)
class Exchange:
    """One request, and the ways in which a fault can handle it."""

    app: ASGIApp
    scope: Scope
    receive: Receive
    send: Send
    clock: Clock

    async def forward(self) -> None:
        """Pass the request on to the gateway."""
        await self.app(self.scope, self.receive, self.send)

    async def carry_out(self) -> tuple[Message, bytes]:
        """Let the gateway execute the request; return its response without sending it."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self.app(self.scope, self.receive, keep)
        start, *parts = messages
        return start, b"".join(part.get("body", b"") for part in parts)

    async def answer(self, status: int, body: bytes | dict[str, Any], **headers: str) -> None:
        """Send a response from the fault; a dict becomes JSON. Header names have _ for -."""
        content_type = "application/json"
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        date = format_datetime(self.clock.now(), usegmt=True)
        given = {"date": date, "content_type": content_type, **headers}
        raw = [(name.replace("_", "-").encode(), text.encode()) for name, text in given.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        await self.send({"type": "http.response.start", "status": status, "headers": raw})
        await self.send({"type": "http.response.body", "body": body})

    async def alter_events(self, alter: Callable[[int, Message], Awaitable[None]]) -> None:
        """Let the gateway respond; ``alter`` sends the events of a stream.

        ``alter`` gets the event's number, from 0. Comments and other responses are unchanged.
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
        """Drop the connection. Raises ConnectionResetError if there is no server."""
        transport = self.transport()
        end = transport.get_extra_info("socket")
        if end is not None and end.family != socket.AF_UNIX:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        transport.abort()

    def transport(self) -> asyncio.Transport:
        """Return the connection. Raises ConnectionResetError if there is no server."""
        transport: asyncio.Transport | None = self.scope.get("extensions", {}).get(TRANSPORT)
        if transport is None:
            # Within one process the exception reaches the client, as a reset would over a socket.
            raise ConnectionResetError("the gateway dropped the connection")
        return transport


Act = Callable[[Exchange, float], Awaitable[None]]
"""Applies a fault, given its number, to one request."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault; ``about`` is its line in ``--fault list``."""

    name: str
    about: str
    act: Act
    number: Literal["", "SECONDS", "EVENTS"] = ""
    """The unit of the number; "" if the fault takes none."""
    usual: float | None = None
    """The default number; None if one is required."""
    streams: bool = False
    """Whether it only applies to streaming operations."""

    def read_number(self, text: str | None) -> float:
        """Parse the numeric parameter of a fault; None is the default. Raises ValueError."""
        if text is None and (self.usual is not None or not self.number):
            return self.usual or 0.0
        if not self.number:
            raise ValueError(f"{self.name} takes no number")
        pattern = r"-?\d{1,9}(\.\d{1,9})?" if self.number == "SECONDS" else r"\d{1,9}"
        if text is None or not re.fullmatch(pattern, text):
            raise ValueError(f"{self.name} needs a number of {self.number.lower()}")
        return float(text)


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


async def _no_fault(exchange: Exchange, _number: float) -> None:
    await exchange.forward()


def _after(act: Act) -> Act:
    # Return the fault that acts after the gateway has executed the request.
    async def after(exchange: Exchange, number: float) -> None:
        await exchange.carry_out()
        await act(exchange, number)

    return after


def _refuse(status: int, message: str, *, retry_after: str = "") -> Act:
    # ``retry_after`` is "", "seconds" or "date".
    async def refuse(exchange: Exchange, number: float) -> None:
        until = exchange.clock.now() + timedelta(seconds=number)
        waits = {"seconds": f"{number:.0f}", "date": format_datetime(until, usegmt=True)}
        headers = {"retry_after": waits[retry_after]} if retry_after else {}
        await exchange.answer(status, error_body(status, message), **headers)

    return refuse


def _proxy_page(status: int, phrase: str) -> Act:
    async def answer(exchange: Exchange, seconds: float) -> None:
        page = f"<html><head><title>{status} {phrase}</title></head><body>{phrase}</body></html>"
        headers = {"retry_after": f"{seconds:.0f}"} if seconds else {}
        html = "text/html; charset=utf-8"
        await exchange.answer(status, page.encode(), content_type=html, **headers)

    return answer


def _malformed(body: bytes | None, content_type: str = "application/json") -> Act:
    # Execute the request, then replace a successful response; ``body`` None keeps its body.
    async def garble(exchange: Exchange, _number: float) -> None:
        start, answered = await exchange.carry_out()
        if start["status"] < 300:  # noqa: PLR2004 - the class of successes
            garbled = answered if body is None else body
            await exchange.answer(start["status"], garbled, content_type=content_type)
        else:
            await exchange.send(start)
            await exchange.send({"type": "http.response.body", "body": answered})

    return garble


def _in_stream(alter: Callable[[Exchange, float, int, Message], Awaitable[None]]) -> Act:
    async def act(exchange: Exchange, number: float) -> None:
        await exchange.alter_events(partial(alter, exchange, number))

    return act


async def _cut(exchange: Exchange, number: float, event: int, message: Message) -> None:
    if event < number:
        await exchange.send(message)
    elif event == number:
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


def _with_after(kind: FaultKind) -> tuple[FaultKind, FaultKind]:
    about = f"{kind.name}, but the request is carried out"
    return kind, replace(kind, name=f"{kind.name}-after", about=about, act=_after(kind.act))


LATENCY = FaultKind("latency", "delay the response", _delay, "SECONDS")
CLOCK_SKEW = FaultKind(
    "clock-skew", "run the gateway's clock ahead; negative is behind", _no_fault, "SECONDS"
)
_KINDS = (
    LATENCY,
    FaultKind("hang", "never respond; the request is not carried out", _hang),
    FaultKind("hang-after", "never respond; the request is carried out", _after(_hang)),
    FaultKind("reset-before", "drop the connection; the request is not carried out", _reset),
    FaultKind("reset-after", "drop the connection; the request is carried out", _after(_reset)),
    FaultKind("half-body", "carried out; drop the connection mid-response", _half_body),
    FaultKind("401", "the key is invalid", _refuse(401, "Invalid API key")),
    FaultKind("403", "the key lacks permission", _refuse(403, errors.MANAGEMENT_KEY_NEEDED)),
    FaultKind(
        "409",
        "conflict: the resource has changed",
        _refuse(409, "The resource has changed since it was read"),
    ),
    FaultKind(
        "429",
        "too many requests, Retry-After in seconds",
        _refuse(429, errors.RATE_LIMITED, retry_after="seconds"),
        "SECONDS",
        1,
    ),
    FaultKind(
        "429-date",
        "too many requests, Retry-After as a date",
        _refuse(429, errors.RATE_LIMITED, retry_after="date"),
        "SECONDS",
        1,
    ),
    *_with_after(FaultKind("500", "internal error", _refuse(500, errors.SERVER_ERROR))),
    *_with_after(
        FaultKind("502", "bad gateway, as a proxy reports it", _proxy_page(502, "Bad Gateway"))
    ),
    *_with_after(
        FaultKind(
            "503",
            "service unavailable, with Retry-After",
            _proxy_page(503, "Service Unavailable"),
            "SECONDS",
            1,
        )
    ),
    *_with_after(
        FaultKind(
            "504", "gateway timeout, as a proxy reports it", _proxy_page(504, "Gateway Timeout")
        )
    ),
    *_with_after(
        FaultKind(
            "524",
            "timeout, as a content delivery network reports it",
            _proxy_page(524, "A Timeout Occurred"),
        )
    ),
    FaultKind("malformed-not-json", "carried out; the response is not JSON", _malformed(b"{oops")),
    FaultKind("malformed-type", "carried out; the response is a list", _malformed(b'["odd"]')),
    FaultKind(
        "malformed-data",
        "carried out; the response's data is a string",
        _malformed(b'{"data":"odd"}'),
    ),
    FaultKind("malformed-empty", "carried out; the response is empty", _malformed(b"")),
    FaultKind(
        "malformed-content-type",
        "carried out; the response is labelled text/html",
        _malformed(None, "text/html"),
    ),
    FaultKind(
        "stream-cut",
        "drop the connection after this many events",
        _in_stream(_cut),
        "EVENTS",
        3,
        streams=True,
    ),
    FaultKind(
        "stream-silence",
        "fall silent after this many events",
        _in_stream(_fall_silent),
        "EVENTS",
        3,
        streams=True,
    ),
    FaultKind(
        "stream-garbage",
        "insert an event that is not JSON after this many",
        _in_stream(_garble),
        "EVENTS",
        3,
        streams=True,
    ),
    FaultKind(
        "stream-late",
        "delay the event that carries the usage",
        _in_stream(_delay_usage),
        "SECONDS",
        2,
        streams=True,
    ),
    CLOCK_SKEW,
)
KINDS: Mapping[str, FaultKind] = {kind.name: kind for kind in _KINDS}


_FAULT = re.compile(
    r"(?P<kind>[\w-]+) ?(?:= ?(?P<number>[^: ]+))? ?(?:: ?(?P<where>.*?))?"
    r"(?: x(?P<times>[1-9]\d{0,5}))?(?: (?P<chance>[\d.]{1,9})%)?(?: seed=(?P<seed>\d{1,9}))?",
    re.ASCII,
)
_PARAMETER = re.compile(r"\{\w*\}")
_EXAMPLES = (
    "reset-after:POST /keys x1",
    "latency=0.8:reads",
    "503=30:GET /keys x2",
    "429 25% seed=7",
    "clock-skew=-90",
    "stream-cut=5 x1",
)


@dataclass(kw_only=True)
class Fault:
    """A fault and the requests that it applies to; ``struck`` counts the affected requests."""

    text: str
    kind: FaultKind
    number: float
    operations: frozenset[str] | None
    """Operation identifiers; None matches every request, including unknown paths."""
    times: int | None
    chance: float
    luck: random.Random
    struck: int = 0

    def strikes(self, operation: str | None) -> bool:
        """Return whether the fault applies to this request; if so, count the request."""
        if self.kind is CLOCK_SKEW or self.struck == self.times:
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
        """Return the clock, shifted by all armed clock skews, including later ones."""

        def now() -> datetime:
            ahead = sum(fault.number for fault in self.armed if fault.kind is CLOCK_SKEW)
            return clock.now() + timedelta(seconds=ahead)

        return replace(clock, now=now)

    def before(self, app: ASGIApp, clock: Clock) -> ASGIApp:
        """Return the application behind these faults; ``clock`` times latencies and Retry-After."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            exchange = Exchange(app, scope, receive, send, clock)
            operation = _operation_of(scope) if self.armed else None
            for fault in self.armed:
                if fault.strikes(operation):
                    await fault.kind.act(exchange, fault.number)
                    if fault.kind is not LATENCY:
                        return
            await exchange.forward()

        return guarded


def _operation_of(scope: Scope) -> str | None:
    methods, _ = operations_at(scope["path"])
    operation = methods.get(scope["method"])
    return None if operation is None else operation.operation_id


def parse(text: str) -> Fault:
    """Parse a fault. Raises FaultSyntaxError."""
    try:
        return _parse(" ".join(text.split()))
    except ValueError as error:
        raise FaultSyntaxError(f"Cannot understand the fault {text!r}: {error}.") from None


def _parse(text: str) -> Fault:
    match = _FAULT.fullmatch(text)
    name = match["kind"] if match else text
    kind = KINDS.get(name)
    if match is None or kind is None:
        raise ValueError(f"unknown kind {name!r} ('--fault list' lists them)")
    where, times, chance, seed = match.group("where", "times", "chance", "seed")
    if kind is CLOCK_SKEW and (where is not None or times or chance or seed):
        raise ValueError("clock-skew applies to every request and takes nothing but seconds")
    fault = Fault(
        text=text,
        kind=kind,
        number=kind.read_number(match["number"]),
        operations=_operations(kind, where or ""),
        times=int(times) if times else None,
        chance=float(chance or 100) / 100,
        luck=random.Random(int(seed or 0)),  # noqa: S311 - repeatable
    )
    if not 0 < fault.chance <= 1:
        raise ValueError("the chance must be above 0% and at most 100%")
    return fault


def _operations(kind: FaultKind, where: str) -> frozenset[str] | None:
    # None for all.
    everything = where in {"", "*"}
    if everything and not kind.streams:
        return None
    meant = [
        operation for operation in all_operations() if everything or _is_meant(where, operation)
    ]
    struck = [operation for operation in meant if operation.streams is not None or not kind.streams]
    if not struck:
        what = "streaming operation" if kind.streams else "operation"
        raise ValueError(f"no {what} is {where!r} ('--fault list' lists them)")
    return frozenset(operation.operation_id for operation in struck)


def _is_meant(where: str, operation: Operation) -> bool:
    if where in {"reads", "writes"}:
        return operation.writes == (where == "writes")
    method, _, path = where.rpartition(" ")
    if not path.startswith("/"):
        return not method and (where == operation.operation_id or where.upper() == operation.method)
    return method.upper() in {"", "*", operation.method} and _plain(path) == _plain(operation.path)


def _plain(path: str) -> str:
    return _PARAMETER.sub("{}", path.removeprefix(PREFIX).rstrip("/"))


def catalogue() -> list[str]:
    """Return the lines of ``--fault list``: the syntax, all kinds and all operations."""
    return [
        "KIND[=NUMBER][:WHERE] [xTIMES] [CHANCE%] [seed=N]",
        "",
        "KIND",
        *(f"  {_written(kind):<24} {kind.about}" for kind in KINDS.values()),
        "",
        "WHERE: empty for all requests, or reads, writes, a method, a path, an operation",
        *(
            f"  {operation.operation_id:<26} {operation.method} {operation.path}"
            for operation in all_operations()
        ),
        "",
        "For example",
        *(f"  --fault '{example}'" for example in _EXAMPLES),
    ]


def _written(kind: FaultKind) -> str:
    number = f"={kind.number}" if kind.number else ""
    return kind.name + (number if kind.usual is None else f"[{number}]")
