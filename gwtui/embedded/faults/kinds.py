"""Every kind of fault, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from datetime import timedelta
from email.utils import format_datetime
from http import HTTPStatus

from starlette.types import Message

from gwtui.contract import errors
from gwtui.embedded.faults.exchange import Exchange, HeldAnswer
from gwtui.embedded.responses import error_body
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FaultKind:
    """One way for things to go wrong; ``about`` tells it in a line of the list."""

    name: str
    about: str
    act: Callable[[Exchange, float], Awaitable[None]] | None = None
    """Does it to one request, given the fault's seconds. None for what is wrong all the time."""
    takes_seconds: bool = False
    usual: float | None = None
    """Seconds when none are given, None when they must be."""
    delays: bool = False
    """Whether the request goes on afterwards, perhaps to another fault."""
    streams: bool = False
    """Whether it strikes operations that stream, and nothing else."""
    counts: bool = False
    """Whether its number is not of seconds but of events of the stream, whole."""


@dataclass(frozen=True, slots=True)
class Where:
    """The requests that a fault may strike: those of these operations, None for all."""

    text: str = "everything"
    operations: frozenset[str] | None = None

    def holds(self, operation: str | None) -> bool:
        """Whether a request is meant; ``operation`` is None for a path that the API lacks."""
        return self.operations is None or operation in self.operations


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of fault with its aim: ``times`` None is without end, ``chance`` from 0 to 1."""

    kind: FaultKind
    where: Where = field(default_factory=Where)
    seconds: float = 0.0
    times: int | None = None
    chance: float = 1.0
    seed: int = 0

    def __str__(self) -> str:
        parts = [self.kind.name]
        if self.kind.takes_seconds:
            parts[0] += f"={self.seconds:g}"
        if self.where.operations is not None:
            parts[0] += f":{self.where.text}"
        if self.times is not None:
            parts.append(f"x{self.times}")
        if self.chance < 1:
            parts += [f"{100 * self.chance:g}%", f"seed={self.seed}"]
        return " ".join(parts)


Act = Callable[[Exchange, float], Awaitable[None]]

_CLOUDFLARE_TIMEOUT = 524
"""The one status here that Python does not know."""
_PHRASES = {_CLOUDFLARE_TIMEOUT: "A Timeout Occurred"}


async def _slow(exchange: Exchange, seconds: float) -> None:
    await exchange.clock.sleep(seconds)


async def _hang(exchange: Exchange, _seconds: float) -> None:
    await exchange.hang()


async def _hang_after(exchange: Exchange, _seconds: float) -> None:
    await exchange.hold()
    await exchange.hang()


async def _reset(exchange: Exchange, _seconds: float) -> None:
    await exchange.reset()


async def _reset_after(exchange: Exchange, _seconds: float) -> None:
    await exchange.hold()
    await exchange.reset()


async def _half_body(exchange: Exchange, _seconds: float) -> None:
    await exchange.halve(await exchange.hold())


def _malformed(body: Callable[[bytes], bytes], content_type: str = "application/json") -> Act:
    """The gateway does it and garbles its answer; a refusal passes as it is."""

    async def act(exchange: Exchange, _seconds: float) -> None:
        held: HeldAnswer = await exchange.hold()
        if held.is_success:
            headers = {"Content-Type": content_type}
            await exchange.answer(held.start["status"], headers, body(held.body))
        else:
            await exchange.release(held)

    return act


def _refusal(status: int, message: str) -> Act:
    async def act(exchange: Exchange, _seconds: float) -> None:
        await exchange.refuse(status, {}, error_body(status, message))

    return act


async def _too_many(exchange: Exchange, seconds: float) -> None:
    headers = {"Retry-After": f"{seconds:.0f}"}
    await exchange.refuse(429, headers, error_body(429, errors.RATE_LIMITED))


async def _too_many_until(exchange: Exchange, seconds: float) -> None:
    moment = exchange.clock.now() + timedelta(seconds=seconds)
    headers = {"Retry-After": format_datetime(moment, usegmt=True)}
    await exchange.refuse(429, headers, error_body(429, errors.RATE_LIMITED))


async def _internal(exchange: Exchange, _seconds: float) -> None:
    await exchange.refuse(500, {}, error_body(500, errors.SERVER_ERROR))


def _in_between(status: int) -> Act:
    """What a proxy before the gateway answers: a page for browsers."""
    phrase = _PHRASES.get(status) or HTTPStatus(status).phrase

    async def act(exchange: Exchange, seconds: float) -> None:
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if seconds:
            headers["Retry-After"] = f"{seconds:.0f}"
        page = f"<html><head><title>{status} {phrase}</title></head><body>{phrase}</body></html>"
        await exchange.answer(status, headers, page.encode())

    return act


def _afterwards(act: Act) -> Act:
    """The same, but the gateway has carried the request out before."""

    async def after(exchange: Exchange, seconds: float) -> None:
        await exchange.hold()
        await act(exchange, seconds)

    return after


def _server_errors() -> list[FaultKind]:
    found: list[FaultKind] = []
    for status, who, act in (
        (500, "the gateway fails", _internal),
        (502, "a proxy got no answer from the gateway", _in_between(502)),
        (503, "not available, with Retry-After", _in_between(503)),
        (504, "a proxy waited too long for the gateway", _in_between(504)),
        (524, "a content delivery network waited too long", _in_between(524)),
    ):
        waits = status == HTTPStatus.SERVICE_UNAVAILABLE
        usual = 1.0 if waits else None
        found.append(FaultKind(f"{status}", who, act, waits, usual))
        done = f"{status}, but the request was carried out"
        found.append(FaultKind(f"{status}-after", done, _afterwards(act), waits, usual))
    return found


async def _cut(exchange: Exchange, number: float) -> None:
    async def alter(event: int, message: Message) -> None:
        if event < number:
            await exchange.pass_on(message)
        elif event == number:
            exchange.break_off()

    await exchange.alter_stream(alter)


async def _fall_silent(exchange: Exchange, number: float) -> None:
    async def alter(event: int, message: Message) -> None:
        if event < number:
            await exchange.pass_on(message)
        else:
            await exchange.hang()

    await exchange.alter_stream(alter)


async def _talk_garbage(exchange: Exchange, number: float) -> None:
    async def alter(event: int, message: Message) -> None:
        if event == number:
            await exchange.pass_on({**message, "body": b"data: {oops\n\n"})
        await exchange.pass_on(message)

    await exchange.alter_stream(alter)


async def _keep_usage_back(exchange: Exchange, seconds: float) -> None:
    async def alter(_event: int, message: Message) -> None:
        if b'"usage":{' in message["body"]:
            await exchange.clock.sleep(seconds)
        await exchange.pass_on(message)

    await exchange.alter_stream(alter)


def _stream_faults() -> list[FaultKind]:
    found: list[FaultKind] = []
    for name, about, act in (
        ("stream-cut", "the connection drops after so many events", _cut),
        ("stream-silence", "nothing comes after so many events", _fall_silent),
        ("stream-garbage", "an event that is not JSON comes after so many", _talk_garbage),
    ):
        found.append(FaultKind(name, about, act, True, 3.0, streams=True, counts=True))
    late = "the stream's usage comes so much later"
    found.append(FaultKind("stream-late", late, _keep_usage_back, True, 2.0, streams=True))
    return found


CLOCK_SKEW = FaultKind("clock-skew", "the gateway's clock is ahead by so much", takes_seconds=True)

_ALL = (
    FaultKind("latency", "the answer comes later", _slow, takes_seconds=True, delays=True),
    FaultKind("hang", "no answer, and nothing done", _hang),
    FaultKind("hang-after", "carried out, but no answer", _hang_after),
    FaultKind("reset-before", "the connection drops, and nothing is done", _reset),
    FaultKind("reset-after", "carried out, then the connection drops", _reset_after),
    FaultKind("half-body", "carried out; the connection drops amid the answer", _half_body),
    FaultKind("401", "the key is not accepted", _refusal(401, "Invalid API key")),
    FaultKind("403", "the key may not", _refusal(403, errors.MANAGEMENT_KEY_NEEDED)),
    FaultKind(
        "409", "somebody else changed it", _refusal(409, "The resource has changed meanwhile")
    ),
    FaultKind("429", "too many requests, Retry-After in seconds", _too_many, True, 1.0),
    FaultKind("429-date", "too many requests, Retry-After as a date", _too_many_until, True, 1.0),
    *_server_errors(),
    FaultKind(
        "malformed-not-json", "carried out; the answer is not JSON", _malformed(lambda _: b"{oops")
    ),
    FaultKind(
        "malformed-type", "carried out; the answer is a list", _malformed(lambda _: b'["odd"]')
    ),
    FaultKind(
        "malformed-data",
        "carried out; the answer's data is a text",
        _malformed(lambda _: b'{"data":"odd"}'),
    ),
    FaultKind("malformed-empty", "carried out; the answer is empty", _malformed(lambda _: b"")),
    FaultKind(
        "malformed-content-type",
        "carried out; the answer says that it is a web page",
        _malformed(lambda body: body, "text/html"),
    ),
    *_stream_faults(),
    CLOCK_SKEW,
)

KINDS: Mapping[str, FaultKind] = {kind.name: kind for kind in _ALL}
