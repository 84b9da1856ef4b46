"""Pictures of lists and credits: loading, empty, failed, stale and read-only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

from pictures import DARK, LIGHT, SIZES, Pictures
from textual.pilot import Pilot

from gwtui.local.tokens import TokenError
from harness import Harness, pressing, settled

STARTS = {"keys": "keys", "credits": "credits", "endpoints": "models/northwind/atlas-large"}
State = Callable[[Harness, Pilot[None]], Awaitable[None]]
"""Brings the started app into the state."""


async def draw(
    pictures: Pictures, demo: Harness, steps: State = lambda _, pilot: settled(pilot)
) -> None:
    """Take a picture of every start screen in one state."""
    for name, start in STARTS.items():
        async with demo.make_app(start).run_test(size=SIZES[0], notifications=True) as pilot:
            await steps(demo, pilot)
            looks = [*DARK, *[LIGHT] * (name != "endpoints")]
            await pictures.take(pilot, looks, "{theme}-{size}-" + name)


async def test_not_connected(demo: Harness, pictures: Pictures) -> None:
    demo.refuse = TokenError("token file /home/ann/gateway.key: No such file or directory")
    await draw(pictures, demo)


async def test_loading(demo: Harness, pictures: Pictures) -> None:
    demo.fall_silent()

    async def connected(_demo: Harness, pilot: Pilot[None]) -> None:
        while pilot.app.session is None:  # type: ignore[attr-defined]
            await pilot.pause(0.02)
        await pilot.pause(0.2)

    await draw(pictures, demo, connected)


async def test_empty(empty: Harness, pictures: Pictures) -> None:
    await draw(pictures, empty)


async def test_failed_without_data(demo: Harness, pictures: Pictures) -> None:
    demo.fault = "403"
    await draw(pictures, demo)


async def test_failed_with_last_good_data(demo: Harness, pictures: Pictures) -> None:
    async def breaking(demo: Harness, pilot: Pilot[None]) -> None:
        demo.fault, demo.passed = "", timedelta()
        await settled(pilot)
        demo.fault, demo.passed = "403", timedelta(minutes=4)
        await pilot.press("r")
        await settled(pilot)

    await draw(pictures, demo, breaking)


async def test_read_only(demo: Harness, pictures: Pictures) -> None:
    demo.read_only = True
    await draw(pictures, demo, lambda _, pilot: pressing("n")(pilot))
