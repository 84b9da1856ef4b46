"""A generation's content, on the real embedded gateway."""

from __future__ import annotations

from datetime import timedelta

from gateway_facts import requests_made
from gwtui.client.gateway import GatewayClient
from gwtui.ui.screens.pages import ReadingScreen
from harness import Harness, dashboard, harness, notices, until
from screen_text import shown


async def _ids(place: Harness) -> tuple[str, str]:
    """Two requests of yesterday: one whose workspace logs what is said, one whose does not."""
    yesterday = place.clock.now() - timedelta(days=1)
    found: dict[bool, str] = {}
    async with place.connect() as connection, GatewayClient(connection) as client:
        logs = {
            space.id: bool(space.is_observability_io_logging_enabled)
            for space in (await client.workspaces.list()).items
        }
        for request in requests_made(place.gateway, yesterday, days=1):
            one = await client.generations.get(request.id)
            if one.api_type == "completions" and not one.cancelled:
                found.setdefault(logs[one.workspace_id], request.id)
            if len(found) == len({True, False}):
                break
    return found[True], found[False]


async def test_content_and_model() -> None:
    async with harness() as place:
        logged, unlogged = await _ids(place)
        async with dashboard(place, start=f"generation/{logged}", size=(80, 24), loaded=False) as (
            app,
            pilot,
        ):
            await until(pilot, lambda: "began" in shown(app), "the generation")
            await pilot.press("I")
            await until(pilot, lambda: isinstance(app.screen, ReadingScreen), "its content")
            await until(pilot, lambda: "A simulated answer" in shown(app), "its answer")
            assert "Input" in shown(app)
            await pilot.press("escape")
            await app.open_route(f"generation/{unlogged}")
            await until(pilot, lambda: unlogged in shown(app), "the other one")
            await pilot.press("I")
            await until(pilot, lambda: "does not log inputs" in notices(app), "why not")
            await pilot.press("o")
            await until(pilot, lambda: app.navigation.screen.resource == "endpoints", "its model")
