"""The four states of a screen, and what happens when the gateway goes away and comes back."""

from __future__ import annotations

from gwtui.ui.commands import with_keys
from gwtui.ui.connection_health import StatePanel
from harness import dashboard, harness, has_data, line, listing, until
from screen_text import shown


async def test_before_the_first_answer_the_screen_says_that_it_is_connecting() -> None:
    async with harness() as place, dashboard(place, loaded=False) as (app, pilot):
        text = app.screen.query_one(StatePanel).text
        assert "ConnectionManager" in text or "Loading keys" in text
        await until(pilot, lambda: has_data(app), "the keys")
        assert not app.screen.query_one(StatePanel).display


async def test_an_empty_list_says_what_to_do() -> None:
    async with (
        harness(content="empty") as place,
        dashboard(place) as (app, _pilot),
    ):
        panel = app.screen.query_one(StatePanel)
        assert panel.display
        assert with_keys(listing(app).declared.empty) in panel.text


async def test_a_gateway_that_goes_away_leaves_its_last_data_and_comes_back() -> None:
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
            pilot, lambda: "last good data" in line(listing(app), "status"), "the age of the data"
        )
        assert name[:10] in shown(app)
        assert not app.screen.query_one(StatePanel).display
        await place.start()
        await until(pilot, lambda: not line(listing(app), "banner"), "the recovery")
        await until(pilot, lambda: "updated" in line(listing(app), "status"), "fresh data")


async def test_without_any_data_the_failure_fills_the_body_and_r_tries_again() -> None:
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


async def test_a_refused_key_is_said_in_words() -> None:
    async with (
        harness() as place,
        dashboard(place, token="gw-v1-wrong", loaded=False) as (app, pilot),
    ):
        panel = app.screen.query_one(StatePanel)
        await until(pilot, lambda: "401" in panel.text, "the refusal")
        assert "rejected this key" in panel.text


async def test_a_connection_that_cannot_be_opened_is_shown_and_tried_again() -> None:
    async with harness() as place:
        place.refuse = OSError("the [bold]vault\x1b[31m is locked")
        async with dashboard(place, loaded=False) as (app, pilot):
            panel = app.screen.query_one(StatePanel)
            await until(pilot, lambda: "No connection" in panel.text, "the reason")
            assert "[bold]vault" in panel.text
            assert "\x1b" not in panel.text
            place.refuse = None
            await pilot.press("r")
            await until(pilot, lambda: has_data(app), "the keys")
        assert place.left


async def test_stale_data_show_their_age() -> None:
    async with harness(speed=200) as place, dashboard(place) as (app, pilot):
        app.hub.pause_all()
        await until(pilot, lambda: "stale, " in line(listing(app), "status"), "the age")


async def test_fresh_data_show_a_clock_time_that_does_not_tick() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        before = line(listing(app), "status")
        assert "updated 07:00:0" in before
        await pilot.pause(2.1)
        assert line(listing(app), "status") == before


async def test_feeds_rest_while_covered_and_while_the_terminal_is_not_looked_at() -> None:
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
