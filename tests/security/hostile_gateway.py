"""Hostile gateways: truncated and altered responses, and a dashboard with hostile rows."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_to_bytes

import httpx
from hostile_strings import SMALL
from pydantic import SecretStr

from gateway_facts import made_request
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.response import ResponseModel
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.routes import all_operations
from harness import Harness

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
JSON = {"content-type": "application/json"}
BASE = "http://localhost/api/v1"
ROWS = 2
"""Maximum number of rows kept of a list."""
PARTS = 3
"""Maximum number of entries kept of a list inside a row."""

Path = tuple[str | int, ...]
"""A place in a response."""

Change = Callable[[str, Any], Any]
"""Returns the altered response for an operation's path and JSON: JSON, or a whole response."""


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


CLOCK = Clock(now=lambda: NOW, monotonic=lambda: 0.0, sleep=_at_once, chance=lambda: 0.5)


class Recording:
    """The responses of a simulated gateway, each read once and cut to a few rows."""

    def __init__(self) -> None:
        self.gateway = EmbeddedGateway(None, clock=Clock(now=lambda: NOW))
        token = self.gateway.issue_key(management=True, name="operator")
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(self.gateway.asgi),
            base_url=BASE,
            headers={"authorization": f"Bearer {token}"},
        )
        self._responses: dict[str, tuple[int, bytes]] = {}
        self.generation = made_request(self.gateway, NOW)

    async def parents(self) -> Mapping[str, str]:
        """One resource of each kind that opens a list of its own, by kind."""
        _, models = await self.answer("/models?output_modalities=all&offset=0&limit=500")
        _, spaces = await self.answer("/workspaces?offset=0&limit=100")
        return {
            "models": models["data"][0]["id"],
            "workspaces": spaces["data"][0]["id"],
            "generation": self.generation,
        }

    async def answer(self, target: str) -> tuple[int, Any]:
        """Status and fresh JSON of a path with its query."""
        if target not in self._responses:
            answer = await self._http.get(BASE + target)
            shortened = _shortened(answer.json())
            self._responses[target] = answer.status_code, json.dumps(shortened).encode()
        status, body = self._responses[target]
        return status, json.loads(body)

    def close(self) -> None:
        self.gateway.close()


def _shortened(answer: Any) -> Any:
    if not isinstance(answer, dict) or not isinstance(answer.get("data"), dict | list):
        return answer
    cut = dict(answer)
    if isinstance(answer["data"], list):
        rows = _fullest(answer["data"], ROWS)
        cut["data"] = [_parts_cut(row) for row in rows]
        if "total_count" in cut:
            cut["total_count"] = len(rows)
    else:
        cut["data"] = _parts_cut(answer["data"])
    return cut


def _fullest(rows: list[Any], limit: int) -> list[Any]:
    """The rows with the most fields."""

    def fullness(row: Any) -> int:
        values = row.values() if isinstance(row, dict) else ()
        return sum(value not in (None, [], {}, "") for value in values)

    return sorted(rows, key=fullness, reverse=True)[:limit]


def _parts_cut(value: Any) -> Any:
    if isinstance(value, list):
        return [_parts_cut(part) for part in _fullest(value, PARTS)]
    if isinstance(value, dict):
        return {name: _parts_cut(part) for name, part in value.items()}
    return value


@dataclass
class Spoilt:
    """A client of a recording; ``change`` alters each response."""

    recording: Recording
    change: Change = lambda _path, answer: answer
    real: Callable[[str], str] = lambda text: text
    """Returns the gateway's own identifier for one that the client got."""
    served: set[str] = field(default_factory=set)
    """The requested operations."""
    count: int = 0
    """Number of responses."""
    max_answer: int = 512 * 1024 * 1024

    def client(self) -> GatewayClient:
        connection = Connection(BASE, token=SecretStr("gw-v1-test"), label="test")
        transport = Transport(
            connection,
            clock=CLOCK,
            http=httpx.MockTransport(self._answer),
            max_answer=self.max_answer,
        )
        return GatewayClient(connection, clock=CLOCK, transport=transport)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        target = _target(request, self.real)
        path = operation_of(target)
        self.served.add(path)
        self.count += 1
        status, answer = await self.recording.answer(target)
        if status == httpx.codes.OK:
            answer = self.change(path, answer)
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(status, content=json.dumps(answer).encode(), headers=JSON)


def _target(request: httpx.Request, real: Callable[[str], str]) -> str:
    """The path below the base with its query, using the gateway's own identifiers."""
    raw, _, query = request.url.raw_path.decode().partition("?")
    path = raw.removeprefix("/api/v1")
    segments = [_quoted(real(_plain(segment))) for segment in path.split("/")]
    pairs = [
        f"{name}={_quoted(real(value))}"
        for name, value in parse_qsl(query, keep_blank_values=True, errors="surrogatepass")
    ]
    return "/".join(segments) + (f"?{'&'.join(pairs)}" if pairs else "")


def _plain(segment: str) -> str:
    return unquote_to_bytes(segment).decode("utf-8", "surrogatepass")


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe=":")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # A fixed path takes precedence over one with a parameter at the same place.
    paths = sorted(
        {operation.path for operation in all_operations() if operation.method == "GET"},
        key=lambda p: "{" in p,
    )
    return tuple((path, re.compile(re.sub(r"\{\w+\}", "[^/]+", path))) for path in paths)


def operation_of(target: str) -> str:
    """The path of the operation that a request belongs to, such as /keys/{hash}."""
    path = target.partition("?")[0]
    return next((template for template, pattern in _patterns() if pattern.fullmatch(path)), path)


# Walking ------------------------------------------------------------------------------------


def places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place below the root of a response and its value; containers before their parts."""
    parts: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, Mapping):
        parts = iter(value.items())
    elif isinstance(value, list):
        parts = iter(enumerate(value))
    for name, part in parts:
        yield (*path, name), part
        yield from places(part, (*path, name))


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy with another value at one place; ``DROPPED`` removes the place."""
    name, *rest = path
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    if rest:
        copy[name] = replaced(value[name], tuple(rest), new)
    elif new is DROPPED:
        del copy[name]
    else:
        copy[name] = new
    return copy


DROPPED = object()

# Poison -------------------------------------------------------------------------------------

_ADDRESSES = frozenset(
    {"id", "hash", "slug", "tag", "permaslug", "model", "date", "key_hash", "provider", "interval"}
)
_FREE_MAPS = frozenset({"native_tools", "perf_last_30m_by_workload"})
"""Objects with field names outside the contract."""
_NUMBER_OR_TIME = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?|\d{4}-\d\d-\d\d([T ].*)?", re.IGNORECASE)


def is_address(name: str) -> bool:
    """Whether a field leads to another resource."""
    return name in _ADDRESSES or name.endswith(("_id", "_ids", "_slug", "_permaslug", "_by"))


@dataclass(frozen=True)
class Poison:
    """Puts one text into every text field; into addresses, times and numbers only if ``deep``.

    An address keeps its own text at its end, so that it stays unique and can be followed.
    """

    text: Callable[[str, str], str]
    """Returns the replacement for a field, given its name and its own text."""
    prefix: str = ""
    """Text in front of an address."""
    deep: bool = False
    strange: str | None = None
    """The value of an additional, unknown field in every object of the contract; None for none."""

    def __call__(self, _path: str, answer: Any) -> Any:
        return {
            name: self._value(name, value) if name == "data" else value
            for name, value in answer.items()
        }

    def real(self, identifier: str) -> str:
        """The gateway's own identifier."""
        return identifier.removeprefix(self.prefix)

    def address(self, identifier: str) -> str:
        """The identifier as the client sees it."""
        return self.prefix + identifier if self.deep else identifier

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(name, value)
        if isinstance(value, list):
            return [self._value(name, part) for part in value]
        if not isinstance(value, dict):
            return value
        free = name in _FREE_MAPS
        results = {
            self.text(name, key) if free else key: self._value(key, part)
            for key, part in value.items()
        }
        if self.strange is not None and not free:
            results[self.strange] = {self.strange: [self.strange]}
        return results

    def _text(self, name: str, value: str) -> str:
        if is_address(name):
            return self.address(value)
        if not self.deep and _NUMBER_OR_TIME.fullmatch(value):
            return value
        return self.text(name, value)


def hostile_answer(model: type[ResponseModel], text: str) -> ResponseModel:
    """Every field becomes the text, a list of it, or null, as its type permits."""
    fields: dict[str, Any] = {}
    for name in model.model_fields:
        for value in (text, [text], None):
            fields[name] = value
            if getattr(model.model_validate({name: value}), name) is not None:
                break
    return model.model_validate(fields)


NAMES = tuple(SMALL)
REFUSAL = "\x1b[31mno\x07[/b] [@click=app.quit]\u202etixe\ud800"


def text_of(name: str, value: str) -> str:
    """A different text for each field of each row."""
    return SMALL[NAMES[zlib.crc32(f"{name}={value}".encode()) % len(NAMES)]]


@dataclass
class HostileApp:
    """An ASGI app that poisons the responses of a gateway, and refuses every change."""

    app: Any
    refusing: bool = False
    """Whether reads are refused as well."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif self.refusing or scope["method"] != "GET":
            error = {"code": 400, "message": REFUSAL, "metadata": {REFUSAL: REFUSAL}}
            status = 418 if scope["method"] == "GET" else 400
            await _answer_with(send, status, json.dumps({"error": error}).encode())
        else:
            await self._poisoned(scope, receive, send)

    async def _poisoned(self, scope: Any, receive: Any, send: Any) -> None:
        body = bytearray()
        status = 200

        async def keep(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            body.extend(message.get("body", b""))

        await self.app(scope, receive, keep)
        poison = Poison(text_of, strange=SMALL["mixed"])
        await _answer_with(send, status, json.dumps(poison("", json.loads(body))).encode())


@dataclass
class Hostile(Harness):
    """A dashboard on a hostile gateway."""

    refusing: bool = False
    """Whether reads are refused as well."""

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        await HostileApp(super().answer, self.refusing)(scope, receive, send)


async def _answer_with(send: Any, status: int, body: bytes) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", b"req[/b]\xc2\x9b31m"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
