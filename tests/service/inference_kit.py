"""Streams for tests of model requests: chunks as a service sends them, from a raw server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import SecretStr
from service_kit import TOKEN, Play, ScriptedServer, request_head, serving

from gwtui.client.connection import Connection
from gwtui.client.inference import AnswerDelta, ChatAnswer, Inference
from gwtui.contract.chat import ChatRequest

KEY = "gw-v1-TRYKEY-0123456789abcdef"
PROMPT = "PROMPT-SENTINEL what is a lighthouse?"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"X-Generation-Id: gen-1\r\nConnection: close\r\n\r\n"
)
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, "cost": 0.000123}
END = b"data: [DONE]\n\n"


def hello(**fields: Any) -> ChatRequest:
    body = {"model": "author/slug", "messages": [{"role": "user", "content": PROMPT}], **fields}
    return ChatRequest.model_validate(body)


def chunk(content: str | None = None, **fields: Any) -> dict[str, Any]:
    delta = {} if content is None else {"role": "assistant", "content": content}
    finish = fields.pop("finish_reason", None)
    return {
        "id": "gen-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "author/slug",
        "provider": "One",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **fields,
    }


def event(body: Any) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def answer_in_pieces(*pieces: str) -> list[bytes]:
    """A whole stream as the contract describes it, one event in each part."""
    return [
        b": PROCESSING\n\n",
        *(event(chunk(piece)) for piece in pieces),
        event(chunk("", finish_reason="stop")),
        event(chunk(choices=[], usage=USAGE)),
        END,
    ]


def streams(
    *parts: bytes,
    stay: bool = False,
    arrived: asyncio.Event | None = None,
    hung_up: asyncio.Event | None = None,
) -> Play:
    """Send these bytes one by one, then hang up, or stay until the client leaves.

    ``arrived`` is set when the request has arrived, ``hung_up`` when the client has left.
    """

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_head(reader)
        if arrived is not None:
            arrived.set()
        for part in (STREAM_HEAD, *parts):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        if stay:
            await reader.read(1_000_000)  # the request's body
            while await reader.read(1000):
                pass
            if hung_up is not None:
                hung_up.set()

    return play


@asynccontextmanager
async def models(*plays: Play, **options: Any) -> AsyncIterator[tuple[Inference, ScriptedServer]]:
    """An inference client at a scripted raw server."""
    read_only = options.pop("read_only", False)
    async with serving(*plays) as server:
        where = Connection(server.base_url, token=SecretStr(TOKEN), read_only=read_only)
        async with Inference(where, SecretStr(KEY), **options) as inference:
            yield inference, server


async def collected(
    inference: Inference, request: ChatRequest | None = None
) -> tuple[list[AnswerDelta], ChatAnswer]:
    async with inference.stream(request or hello()) as stream:
        return [item async for item in stream], stream.answer
