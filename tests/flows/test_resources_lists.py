"""The declared lists on the real gateway: every tab reads, filters speak the columns' language."""

from __future__ import annotations

from gwtui.domain.uptime import verdict
from gwtui.resources.registry import RESOURCES, SCREENS, TABS
from gwtui.ui.screens.detail_pane import DetailPane
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feeds.keys import fetch_keys
from harness import dashboard, harness, has_data, line, listing, notices, until
from screen_text import shown


def test_every_tab_has_a_screen_and_every_opened_resource_exists() -> None:
    for tab in TABS:
        assert (tab in RESOURCES) != (tab in SCREENS), tab
    for spec in RESOURCES.values():
        assert spec.opens is None or (spec.opens in RESOURCES) != (spec.opens in SCREENS)
        assert spec.default_sort[0] in {column.id for column in spec.columns}


def test_every_list_begins_with_what_a_row_is_called() -> None:
    for spec in RESOURCES.values():
        assert len({column.id for column in spec.columns}) == len(spec.columns), spec.id
        assert spec.columns[0].grow, spec.id
        assert all(column.help for column in spec.columns), spec.id


async def test_every_tab_shows_what_the_gateway_has() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        for tab in (tab for tab in TABS if tab in RESOURCES):
            await app.open_route(tab)
            await until(
                pilot,
                lambda wanted=tab: listing(app).resource == wanted and has_data(app),
                f"the rows of {tab}",
            )
            table = listing(app).table
            spec = RESOURCES[tab]
            items = app.hub.feed(FeedKey(tab), None, None).state.value  # type: ignore[arg-type,var-annotated]
            assert table.total_count == len(items)
            name = spec.name(table.selected)
            await until(pilot, lambda wanted=name: wanted in shown(app), f"{name} painted")


async def test_a_workspace_scope_reads_that_workspace_alone() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        total = listing(app).table.total_count
        selected = listing(app).table.selected_identity
        spaces = (await app.gateway.workspaces.list()).items
        research = next(space for space in spaces if space.name == "Research")
        app.narrow(research.id, "Research")
        await until(pilot, lambda: 0 < listing(app).table.total_count < total, "fewer keys")
        expected = await fetch_keys(app.gateway, research.id)
        assert set(listing(app).table.identities) == {row.identity for row in expected}
        assert "Research" in line(listing(app), "status")
        await pilot.pause()
        assert selected not in listing(app).table.identities
        assert not notices(app), "whoever chose the workspace is not told that the row went"
        await pilot.press("slash", *"voice-hotline")
        told = "Only Research is listed; w changes the workspace."
        await until(pilot, lambda: told in shown(app), "where else it may be")


async def test_a_model_opens_its_endpoints_with_every_figure() -> None:
    route = "models/northwind/atlas-large"
    async with (
        harness() as place,
        dashboard(place, start=route, size=(200, 60)) as (app, pilot),
    ):
        await until(pilot, lambda: listing(app).resource == "endpoints", "the endpoints")
        await until(pilot, lambda: listing(app).table.total_count, "rows")
        row = listing(app).table.selected
        pane = listing(app).query_one(DetailPane)
        await until(pilot, lambda: "Parameters" in pane.text, "the detail")
        assert verdict(row.endpoint).why in " ".join(pane.text.split())
        for title in ("Identity", "Health", "Prices", "Performance", "Workloads", "Tools"):
            assert title in pane.text
        assert "p90" in pane.text


async def test_essentials_of_keys_fit_into_eighty_columns() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        await until(pilot, lambda: listing(app).table.total_count, "rows")
        hidden = set(listing(app).table.hidden_columns)
        assert hidden.isdisjoint({"name", "state", "used", "limit", "today", "expires"})
