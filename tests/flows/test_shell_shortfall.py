"""A list with rows that cannot be read, or cut short, says so on the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from shell_kit import dashboard, line, listing, site, until


class Garbling:
    """A gateway whose list of people holds two rows that are no objects, and claims nine more."""

    def __init__(self, gateway: EmbeddedGateway) -> None:
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") != "/api/v1/organization/members":
            await self._gateway.asgi(scope, receive, send)
            return
        parts: list[Any] = []

        async def keep(message: Any) -> None:
            parts.append(message)

        await self._gateway.asgi(scope, receive, keep)
        body = json.loads(b"".join(part.get("body", b"") for part in parts))
        body["data"] += [None, 7]
        body["total_count"] += 9
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def test_rows_that_cannot_be_read_are_counted_on_every_list(tmp_path: Path) -> None:
    async with site() as place:
        await place.stop()
        host = cast("EmbeddedGateway", Garbling(place.gateway))
        async with (
            host_on_socket(host, place.socket),
            dashboard(place, tmp_path, start="organization", size=(80, 24)) as (app, pilot),
        ):
            await until(pilot, lambda: listing(app).table.total_count, "the others")
            banner = line(listing(app), "banner")
            assert "2 rows could not be read and are left out" in banner
            assert "may be incomplete" in banner
            await app.open_route("keys")
            await until(pilot, lambda: listing(app).resource == "keys", "a good list")
            await until(pilot, lambda: listing(app).table.total_count, "its rows")
            assert line(listing(app), "banner") == ""
