"""Screens that were left long ago and dialogs that were closed stay in nobody's memory."""

from __future__ import annotations

import gc
import weakref

from textual.screen import Screen

from harness import dashboard, harness, has_data, listing, settled, until

TABS = "1234567890"
DIALOGS = (("keys", "n"), ("keys", "e"), ("workspaces", "m"), ("models", "enter"), ("keys", "?"))


async def test_what_was_left_or_closed_is_freed(every_frame: None) -> None:
    async with harness() as place, dashboard(place, start="keys") as (app, pilot):
        await until(pilot, lambda: has_data(app), "the keys")
        await until(pilot, app.session.completed.is_set, "the rest of the session")
        seen: dict[int, weakref.ref[Screen[object]]] = {}

        def look() -> None:
            seen.update((id(each), weakref.ref(each)) for each in app.screen_stack)

        for resource, key in DIALOGS:
            await app.open_route(resource)
            await until(pilot, lambda: has_data(app), resource)
            await pilot.press(key)
            await settled(pilot)
            look()
            for _ in range(3):
                await pilot.press("escape")
                await settled(pilot)
        for key in TABS * 2:
            await pilot.press(key)
            await settled(pilot)
            look()
        await app.open_route("models")
        models = listing(app)
        await until(pilot, lambda: has_data(app), "the models")
        for identity in models.table.identities[:12]:  # of which eight are kept
            await app.navigation.open_child(models.declared, identity)
            await settled(pilot)
            look()
        assert len(seen) > len(app.navigation.screens) + 4
        gc.collect()
        kept = {*app.screen_stack, *app.navigation.screens}
        alive = [each() for each in seen.values()]
        assert [each for each in alive if each is not None and each not in kept] == []
        del alive, kept
