"""Alerts in the dashboard, on the real embedded gateway: badge, list, rules, silences, bell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from gwtui.local.alerts import load_alerts
from gwtui.ui.actions.alerts import AlertRuleScreen
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.watch.alerts.model import Alert
from harness import Harness, dashboard, harness, listing, notices, until
from screen_text import screen_text

SPEED = 30.0


@asynccontextmanager
async def watching(
    place: Harness, folder: Path, *, read_only: bool = False
) -> AsyncIterator[tuple[GwtuiApp, Pilot[int]]]:
    """A dashboard that records and evaluates, after the first alerts fired."""
    files = {"data": folder / "data", "config": folder}
    async with dashboard(place, start="alerts", read_only=read_only, loaded=False, **files) as (
        app,
        pilot,
    ):
        await until(pilot, lambda: app.notices and app.notices.badge, "the first alerts")
        yield app, pilot


def rows(app: GwtuiApp) -> int:
    return listing(app).table.model.total


def selected(app: GwtuiApp) -> Alert:
    result = listing(app).table.selected
    assert isinstance(result, Alert)
    return result


def badge(app: GwtuiApp) -> int:
    result = app.notices.badge if app.notices is not None else None
    return 0 if result is None else int(result.text.split()[0])


async def test_alerts_are_listed_acknowledged_and_silenced(tmp_path: Path) -> None:
    """It works in read-only mode too, because nothing is sent to the gateway."""
    async with (
        harness(speed=SPEED) as place,
        watching(place, tmp_path, read_only=True) as (app, pilot),
    ):
        await until(pilot, lambda: "alerts fired: ! lists them" in notices(app), "the notice")
        await until(pilot, lambda: rows(app) > 3, "the list")
        count = badge(app)
        assert f" {count} ALERTS " in screen_text(app)
        alert = selected(app)
        await pilot.press("h")
        await until(pilot, lambda: badge(app) == count - 1, "the acknowledgement")
        assert selected(app).key == alert.key, "the row stays where it is"
        assert selected(app).acknowledged_by
        await pilot.press("down", "x")
        form = await place.wait_for(FormScreen)
        assert form.state.spec.title == "Silence the alert"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: badge(app) == count - 2, "the silence")
        await until(pilot, lambda: selected(app).silenced_until, "the row")
        await pilot.press("x")
        await until(pilot, lambda: badge(app) == count - 1, "the lifting")
        await pilot.press("H")
        await until(pilot, lambda: "unsilenced" in screen_text(app), "the history")
        assert "acknowledged" in screen_text(app)


async def test_an_alert_leads_to_its_subject(tmp_path: Path) -> None:
    async with harness(speed=SPEED) as place, watching(place, tmp_path) as (app, pilot):
        await until(pilot, lambda: rows(app) > 3, "the list")
        alert = selected(app)
        assert alert.key.subject.resource == "key"
        await pilot.press("o")
        await until(pilot, lambda: listing(app).resource == "keys", "the keys")
        await until(
            pilot,
            lambda: listing(app).table.selected_identity == alert.key.subject.identity,
            "the key",
        )


async def test_alert_rules_are_created_edited_and_deleted(tmp_path: Path) -> None:
    file = tmp_path / "alerts.toml"
    async with harness(speed=SPEED) as place, watching(place, tmp_path) as (app, pilot):
        await pilot.press("e")
        await until(pilot, lambda: listing(app).resource == "alert-rules" and rows(app), "rules")
        rule_count = rows(app)
        await pilot.press("n")
        await place.wait_for(Picker)
        await pilot.press("enter")
        form = await place.wait_for(AlertRuleScreen)
        await until(pilot, lambda: "Would not have fired" in screen_text(app), "the preview")
        assert form.state.typed("name") == "Credits low 2"
        form.state.put("name", "Mine")
        form.state.put("fires_at", "$1000000")
        form.state.put("clears_at", "999")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "lower than the threshold" in screen_text(app), "the refusal")
        form.state.put("clears_at", "1000000 USD")
        form._show()
        await until(pilot, lambda: "1 would be firing now" in screen_text(app), "another preview")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: rows(app) == rule_count + 1, "the new rule")
        assert str(load_alerts(file).rules["mine"].fires_at) == "1000000"  # type: ignore[attr-defined]
        await until(pilot, lambda: listing(app).table.selected_identity == "mine", "its row")
        await pilot.press("x")
        await until(pilot, lambda: not load_alerts(file).rules["mine"].enabled, "switched off")
        await until(pilot, lambda: not listing(app).table.selected.rule.enabled, "shown so")
        await pilot.press("e")
        await place.wait_for(AlertRuleScreen)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.navigation.screen, "the list")
        await pilot.press("D")
        await place.wait_for(AskScreen)
        await pilot.press("y")
        await until(pilot, lambda: "mine" not in load_alerts(file).rules, "deleted")
        await until(pilot, lambda: rows(app) == rule_count, "the list without it")
        listing(app).table.select("credits-low")
        await pilot.press("D")
        await until(pilot, lambda: "x switches it off" in notices(app), "the way out")


async def test_the_bell_rings_only_as_configured(tmp_path: Path) -> None:
    (tmp_path / "alerts.toml").write_text("[effects]\nbell = true\ntoast = false\n")
    rings: list[int] = []
    async with harness(speed=SPEED) as place:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(GwtuiApp, "bell", lambda _app: rings.append(1))
            async with watching(place, tmp_path) as (app, pilot):
                await until(pilot, lambda: rings, "the bell")
                assert notices(app) == "", "no notice unless asked for"
