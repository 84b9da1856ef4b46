"""An application in front of the embedded gateway with scripted responses of models."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Message = MutableMapping[str, Any]
MODEL = "northwind/atlas-large"
PATHS = ("/api/v1/chat/completions", "/api/v1/embeddings")


@dataclass
class ScriptedModels:
    """The next responses, and the requests received; the rest goes to the gateway.

    ``body`` is JSON, or the pieces of a stream; with ``stay`` a stream does not end by itself. Only
    a request to the provider ``down`` fails.
    """

    status: int = 200
    body: Any = None
    stay: bool = False
    down: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    disconnects: list[bool] = field(default_factory=list)

    def before(self, gateway: Any) -> Any:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and scope["path"] in PATHS:
                await self._answer(scope, receive, send)
            else:
                await gateway(scope, receive, send)

        return application

    async def _answer(
        self,
        scope: Any,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        self.keys.append(dict(scope["headers"])[b"authorization"].decode())
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        self.requests.append(json.loads(raw))
        if self.down and self.requests[-1]["provider"]["only"] == [self.down]:
            body = json.dumps({"error": {"code": 502, "message": "it is down"}}).encode()
            kind = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 502, "headers": kind})
            await send({"type": "http.response.body", "body": body})
            return
        streamed = isinstance(self.body, list)
        kind = b"text/event-stream" if streamed else b"application/json"
        headers = [(b"content-type", kind), (b"x-generation-id", b"gen-scripted")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for piece in self.body if streamed else [json.dumps(self.body).encode()]:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self.stay:
            self.disconnects.append((await receive())["type"] == "http.disconnect")
        else:
            await send({"type": "http.response.body", "body": b""})


def result(text: str = "A lighthouse.", **fields: Any) -> dict[str, Any]:
    """A whole response."""
    return {
        "id": "gen-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "provider": "Northwind",
        "system_fingerprint": None,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 4,
            "total_tokens": 14,
            "cost": 0.00012,
        },
        **fields,
    }
