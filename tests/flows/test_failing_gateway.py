"""A gateway that is away, slow, wrong or refuses: what screens show, keep and offer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gwtui.ui.app import GwtuiApp
from gwtui.ui.connection_health import StatePanel
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import WaitScreen
from harness import Harness, dashboard, harness, has_data, line, listing, notices, settled, until
from screen_text import screen_text


async def test_an_unreachable_gateway_keeps_the_last_data_until_it_recovers() -> None:
    async with (
        harness(speed=30) as place,
        dashboard(place, size=(80, 24)) as (app, pilot),
    ):
        name = listing(app).declared.name(listing(app).target())
        await place.stop()
        await until(pilot, lambda: "since" in line(listing(app), "banner"), "the banner")
        banner = line(listing(app), "banner")
        assert "Gateway unreachable · retrying" in banner
        assert "failing since 07:" in banner
        await until(
            pilot, lambda: "last read" in line(listing(app), "status"), "the age of the data"
        )
        assert name[:10] in screen_text(app)
        assert not app.screen.query_one(StatePanel).display
        await place.start()
        await until(pilot, lambda: not line(listing(app), "banner"), "the recovery")
        await until(pilot, lambda: "updated" in line(listing(app), "status"), "fresh data")


async def test_a_failure_without_data_fills_the_body_and_r_retries() -> None:
    async with harness() as place:
        await place.stop()
        async with dashboard(place, loaded=False) as (app, pilot):
            panel = app.screen.query_one(StatePanel)
            await until(pilot, lambda: "could not be read" in panel.text, "the failure")
            assert "Gateway unreachable" in panel.text
            assert "r retries now" in panel.text
            await place.start()
            await pilot.press("r")
            await until(pilot, lambda: has_data(app) and not panel.display, "the keys")


async def test_a_rejected_key_is_explained() -> None:
    async with (
        harness() as place,
        dashboard(place, token="gw-v1-wrong", loaded=False) as (app, pilot),
    ):
        panel = app.screen.query_one(StatePanel)
        await until(pilot, lambda: "401" in panel.text, "the refusal")
        assert "rejected this key" in panel.text


async def test_a_failed_connection_is_shown_and_retried() -> None:
    async with harness() as place:
        place.refuse = OSError(5, "the [bold]vault\x1b[31m is locked")
        async with dashboard(place, loaded=False) as (app, pilot):
            panel = app.screen.query_one(StatePanel)
            await until(pilot, lambda: "Not connected" in panel.text, "the reason")
            assert "[bold]vault" in panel.text
            assert "Errno" not in panel.text
            assert "\x1b" not in panel.text
            place.refuse = None
            await pilot.press("r")
            await until(pilot, lambda: has_data(app), "the keys")
        assert place.disconnected


async def test_polling_pauses_while_covered_or_unfocused() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        feed = listing(app)._subscriptions.feeds[0]
        assert feed.polling
        await pilot.press("question_mark")
        await pilot.pause()
        assert not feed.polling
        await pilot.press("escape")
        await pilot.pause()
        assert feed.polling
        app.on_app_blur()
        assert not feed.polling
        app.on_app_focus()
        assert feed.polling
        await pilot.press("3")
        await pilot.pause()
        assert not feed.polling


# Slow ---------------------------------------------------------------------------------------------


WIDE = (100, 30)


def matches(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


def status_of(app: GwtuiApp) -> str:
    return line(listing(app), "status")


async def test_escape_cancels_the_read_of_an_action(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        demo.fault = "silent"
        await pilot.press("x")
        await until(
            pilot,
            lambda: matches(r"Reading from the gateway… \d+ s · Esc cancels", status_of(app)),
            "progress",
        )
        await pilot.press("escape")
        await until(pilot, lambda: "Cancelled: nothing was sent" in notices(app), "the end")
        await until(pilot, lambda: "Reading" not in status_of(app), "the status line")
        assert app.screen is listing(app)


async def test_a_pending_write_shows_its_elapsed_time(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the plan")
        demo.write_faults = ["silent"]
        await pilot.press("y")
        await until(
            pilot, lambda: matches(r"Sending the change… \d+ s", status_of(app)), "progress"
        )
        assert "Esc cancels" not in status_of(app)
        await pilot.press("escape")
        assert app.executor.in_flight == 1, "Escape does not cancel a sent request"


async def test_a_cancelled_form_read_keeps_typed_text(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormScreen), "the form")
        await settled(pilot)
        await pilot.press("end", "z", "z")
        demo.fault = "silent"
        await pilot.press("ctrl+s")
        await until(
            pilot, lambda: matches(r"Reading .*… \d+ s · Esc cancels", screen_text(app)), "progress"
        )
        await pilot.press("escape")
        await until(pilot, lambda: "Cancelled: nothing was sent" in notices(app), "the end")
        form = app.screen
        assert isinstance(form, FormScreen)
        assert str(form.state.typed("name")).endswith("zz")
        assert not matches(r"Reading .*… \d+ s", screen_text(app))


async def test_an_unanswered_poll_shows_in_the_header(demo: Harness) -> None:
    app = demo.make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settled(pilot)
        assert "updated" in status_of(app)
        assert "NO RESPONSE" not in line(listing(app), "header")
        demo.fault = "silent"
        await pilot.press("r")
        await until(pilot, lambda: "NO RESPONSE" in line(listing(app), "header"), "the header")
        await until(pilot, lambda: "last read" in status_of(app), "the status line")


# Incomplete lists ---------------------------------------------------------------------------------


def malformed_members(body: dict[str, Any]) -> None:
    """Two rows that are no objects, of eleven announced ones."""
    body["data"] += [None, 7]
    body["total_count"] += 9


def workspace_without_id(body: dict[str, Any]) -> None:
    body["data"][-1]["id"] = 7


@dataclass(repr=False)
class Garbling(Harness):
    """A gateway that returns one list in another format."""

    path: str = ""
    garble: Callable[[dict[str, Any]], None] = malformed_members

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        if scope.get("path") != f"/api/v1/{self.path}":
            await super().answer(scope, receive, send)
            return
        parts: list[Any] = []

        async def keep(message: Any) -> None:
            parts.append(message)

        await super().answer(scope, receive, keep)
        body = json.loads(b"".join(part.get("body", b"") for part in parts))
        self.garble(body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(body).encode()})


async def test_malformed_rows_are_counted_in_the_banner() -> None:
    async with (
        harness(Garbling, path="organization/members") as place,
        dashboard(place, start="organization", size=(80, 24)) as (app, _),
    ):
        await place.rows("organization")
        banner = line(listing(app), "banner")
        assert "2 rows could not be read and are left out" in banner
        assert "may be incomplete" in banner
        await app.open_route("keys")
        await place.rows("keys")
        assert line(listing(app), "banner") == ""


async def test_lists_that_need_a_malformed_workspace_are_marked_incomplete() -> None:
    async with (
        harness(Garbling, path="workspaces", garble=workspace_without_id) as place,
        dashboard(place, start="keys", size=(80, 24)) as (app, _),
    ):
        for route in ("keys", "guardrails", "byok"):
            await app.open_route(route)
            await place.rows(route)
            assert "the list may be incomplete" in line(listing(app), "banner")


# The end, and the clock ---------------------------------------------------------------------------


async def test_the_wait_ends_with_its_event_or_a_key() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        finished = asyncio.Event()
        ended: list[str] = []
        for way in ("over", "escape", "enter"):
            wait = WaitScreen(
                "Waiting for the answer", "A moment.", finished.wait, enough="Leave now"
            )
            await app.push_screen(wait, lambda _, way=way: ended.append(way))
            await until(pilot, lambda: "Waiting for the answer" in screen_text(app), "the words")
            assert "Leave now" in screen_text(app)
            if way == "over":
                finished.set()
            else:
                await pilot.press(way)
            await until(pilot, lambda: app.screen is listing(app), "the list")
            finished.clear()
        assert ended == ["over", "escape", "enter"]


async def test_clock_skew_shows_in_the_banner() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        assert line(listing(app), "banner") == ""
        skew = app.gateway.skew
        skew.low, skew.high = 94.5, 95.5
        listing(app).refresh_frame()
        await pilot.pause()
        assert "clock is 95 s ahead: ages and expiries here are off by that" in screen_text(app)
        skew.low, skew.high = -0.5, 0.5
        listing(app).refresh_frame()
        await pilot.pause()
        assert line(listing(app), "banner") == ""
