"""A stream of events: one ``data`` line each, comments while nothing is there to be said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class EventStreamResponse(Response):
    """Sends what a generator gives; when the client leaves, the generator is closed.

    The generator's own ``finally`` is what ends its work, so it runs in either case.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[str], headers: Mapping[str, str]) -> None:
        super().__init__(headers=dict(headers), media_type=self.media_type)
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Serve the stream to its end, or until nobody reads it any more."""
        gone = asyncio.create_task(_until_gone(receive))
        writing = asyncio.create_task(self._write(send))
        try:
            await asyncio.wait({gone, writing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, writing):
                if not task.done():
                    task.cancel()
            for task in (gone, writing):
                with suppress(asyncio.CancelledError):
                    await task

    async def _write(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        async with aclosing(self._events) as events:
            async for event in events:
                body = event.encode("utf-8")
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def event(data: str) -> str:
    """One event."""
    return f"data: {data}\n\n"


def comment(text: str) -> str:
    """A line that says only that somebody is still there."""
    return f": {text}\n\n"


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
