"""What is not shown is let go of: painted lines, closed dialogs, feeds of single rows."""

from __future__ import annotations

import gc
from pathlib import Path

from gwtui.ui.app import GwtuiApp
from screen_text import shown
from shell_kit import dashboard, has_data, listing, site, until


async def test_a_row_is_opened_from_two_lists_and_the_endpoints_of_many_are_not_all_kept(
    tmp_path: Path,
) -> None:
    async with site() as place, dashboard(place, tmp_path, start="models") as (app, pilot):
        models = listing(app)
        await until(pilot, lambda: models.table.visible_count, "the models")
        identities = tuple(models.table.identities)
        await app.navigation.open_child(models.declared, identities[0])
        first = app.navigation.screen
        await app.open_route("user-models")
        own = listing(app)
        await until(pilot, lambda: own.table.visible_count, "the models of the key")
        await app.navigation.open_child(own.declared, identities[0])
        second = app.navigation.screen
        assert second is not first
        assert second is not None
        assert second.crumbs()[0] == own.declared.title
        await app.open_route("models")
        assert len(identities) > 20
        for identity in identities:
            await app.navigation.open_child(models.declared, identity)
            await pilot.pause()
            await app.navigation.back()

        def opened() -> int:
            # A closed screen holds its feeds until the collector of garbage comes by, which may be
            # never while nothing but this test waits.
            gc.collect()
            return sum(feed.name.startswith("endpoints:") for feed in app.hub.feeds)

        # A read under way holds its feed until the answer is there.
        await until(pilot, lambda: opened() <= 16, "the feeds that are let go")
        assert opened() >= 1


def names(app: GwtuiApp) -> list[str]:
    """What is shown, without the columns that tell the time."""
    return [each[:28] for each in shown(app).splitlines()]


OTHERS = (
    *("providers", "models", "workspaces", "guardrails", "byok", "zdr", "organization"),
    *("assignments", "user-models"),
)


async def test_a_list_that_was_let_go_of_comes_back_as_it_was_left(tmp_path: Path) -> None:
    async with site() as place, dashboard(place, tmp_path, size=(80, 24)) as (app, pilot):
        first = listing(app)
        await until(pilot, lambda: first.table.visible_count > 30, "the keys")
        first.table.sort_by("used", descending=True)
        await pilot.press("slash", *"-zzz", "enter", *["down"] * 25, "space", "down", "right")
        await until(pilot, lambda: len(first.table.marked) == 1, "the mark")
        await until(pilot, lambda: first.table.top > 0, "the rows to be scrolled")
        left = (first.table.selected_identity, first.table.marked, first.table.hidden_columns)
        top, before = first.table.top, names(app)
        for route in OTHERS:
            await app.open_route(route)
            await until(pilot, lambda: has_data(app), route)
        assert not first.is_attached
        assert len(app.navigation.screens) <= 9
        await app.open_route("keys")
        again = listing(app)
        assert again is not first
        await until(pilot, lambda: has_data(app), "the keys again")
        await until(pilot, lambda: again.table.top == top, "the rows at their place")
        table = again.table
        assert (table.selected_identity, table.marked, table.hidden_columns) == left
        assert again.table.sorting == ("used", True)
        await until(pilot, lambda: names(app) == before, "the same rows and lines")
        await pilot.press("up")
        assert table.selected_identity != left[0]
        await pilot.press("escape")
        await until(pilot, lambda: "-zzz" not in shown(app), "the filter to be cleared")
