"""A real gateway behind a real dashboard, with texts of the corpus in every row."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

from hostile_gateway import Poison
from hostile_strings import SMALL

from harness import Harness

NAMES = tuple(SMALL)
REFUSAL = "\x1b[31mno\x07[/b] [@click=app.quit]\u202etixe\ud800"


def text_of(name: str, value: str) -> str:
    """A text of its own for each field of each row."""
    return SMALL[NAMES[zlib.crc32(f"{name}={value}".encode()) % len(NAMES)]]


@dataclass
class Hostile(Harness):
    """A gateway whose answers are poisoned, and which refuses every change in hostile words."""

    refusing: bool = False
    """Whether it refuses reads as well."""

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().answer(scope, receive, send)
        elif self.refusing or scope["method"] != "GET":
            error = {"code": 400, "message": REFUSAL, "metadata": {REFUSAL: REFUSAL}}
            status = 418 if scope["method"] == "GET" else 400
            await _say(send, status, json.dumps({"error": error}).encode())
        else:
            await self._poisoned(scope, receive, send)

    async def _poisoned(self, scope: Any, receive: Any, send: Any) -> None:
        body = bytearray()
        status = 200

        async def keep(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            body.extend(message.get("body", b""))

        await super().answer(scope, receive, keep)
        poison = Poison(text_of, strange=SMALL["mixed"])
        await _say(send, status, json.dumps(poison("", json.loads(body))).encode())


async def _say(send: Any, status: int, body: bytes) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", b"req[/b]\xc2\x9b31m"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
