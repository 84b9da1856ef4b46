"""What is not shown is let go of: painted lines, closed dialogs, feeds of single rows."""

from __future__ import annotations

import gc

from harness import dashboard, harness, listing, until


async def test_a_row_is_opened_from_two_lists_and_the_endpoints_of_many_are_not_all_kept() -> None:
    async with harness() as place, dashboard(place, start="models") as (app, pilot):
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


OTHERS = (
    *("providers", "models", "workspaces", "guardrails", "byok", "zdr", "organization"),
    *("assignments", "user-models"),
)


async def test_the_list_of_a_place_is_as_it_was_left_however_many_rows_were_opened() -> None:
    async with harness() as place, dashboard(place, start="models") as (app, pilot):
        first = listing(app)
        await until(pilot, lambda: first.table.visible_count > 20, "the models")
        await pilot.press("slash", *"-zzz", "enter", *["down"] * 15, "space", "down")
        await until(pilot, lambda: len(first.table.marked) == 1, "the mark")
        left = (first.table.selected_identity, first.table.marked, first.table.top)
        opened = []
        for identity in first.table.identities[:12]:
            await app.navigation.open_child(first.declared, identity)
            opened.append(app.navigation.screen)
        for route in OTHERS:
            await app.open_route(route)
        await app.open_route("models")
        assert listing(app) is first
        assert (first.table.selected_identity, first.table.marked, first.table.top) == left
        assert first.filtering.text == "-zzz"
        assert [one.is_attached for one in opened if one is not None] == [False] * 4 + [True] * 8
