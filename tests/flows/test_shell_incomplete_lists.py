"""A list with rows that cannot be read, or cut short, says so on the screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from harness import dashboard, harness, line, listing, until


def _people(body: dict[str, Any]) -> None:
    """Two rows that are no objects, and nine more are claimed."""
    body["data"] += [None, 7]
    body["total_count"] += 9


def _nameless(body: dict[str, Any]) -> None:
    """One workspace has an id that is none."""
    body["data"][-1]["id"] = 7


class Garbling:
    """A gateway that gives one list in another form."""

    def __init__(
        self, gateway: EmbeddedGateway, path: str, garble: Callable[[dict[str, Any]], None]
    ) -> None:
        self._gateway = gateway
        self._path = f"/api/v1/{path}"
        self._garble = garble

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") != self._path:
            await self._gateway.asgi(scope, receive, send)
            return
        parts: list[Any] = []

        async def keep(message: Any) -> None:
            parts.append(message)

        await self._gateway.asgi(scope, receive, keep)
        body = json.loads(b"".join(part.get("body", b"") for part in parts))
        self._garble(body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def test_rows_that_cannot_be_read_are_counted_on_every_list() -> None:
    async with harness() as place:
        await place.stop()
        host = cast("EmbeddedGateway", Garbling(place.gateway, "organization/members", _people))
        async with (
            host_on_socket(host, place.socket),
            dashboard(place, start="organization", size=(80, 24)) as (app, pilot),
        ):
            await until(pilot, lambda: listing(app).table.total_count, "the others")
            banner = line(listing(app), "banner")
            assert "2 rows could not be read and are left out" in banner
            assert "may be incomplete" in banner
            await app.open_route("keys")
            await until(pilot, lambda: listing(app).resource == "keys", "a good list")
            await until(pilot, lambda: listing(app).table.total_count, "its rows")
            assert line(listing(app), "banner") == ""


async def test_a_workspace_without_an_id_is_told_where_its_rows_are_missing() -> None:
    async with harness() as place:
        await place.stop()
        host = cast("EmbeddedGateway", Garbling(place.gateway, "workspaces", _nameless))
        async with (
            host_on_socket(host, place.socket),
            dashboard(place, start="keys", size=(80, 24)) as (app, pilot),
        ):
            for route in ("keys", "guardrails", "byok"):
                await app.open_route(route)
                await until(pilot, lambda route=route: listing(app).resource == route, route)
                await until(pilot, lambda: listing(app).table.total_count, "the others")
                assert "the list may be incomplete" in line(listing(app), "banner")
