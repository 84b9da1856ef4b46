"""Keys that come in one burst, as over a slow line or pasted without marks, lose nothing."""

from __future__ import annotations

from pathlib import Path

from textual import events

from gwtui.ui.app import GwtuiApp
from gwtui.ui.widgets.prompt import FilterPrompt
from shell_kit import dashboard, listing, site, until

_NAMES = {":": "colon", "/": "slash", "\r": "enter"}


def burst(app: GwtuiApp, text: str) -> None:
    """Every key at once, as the driver posts what one read of the terminal gave."""
    for sign in text:
        app.post_message(events.Key(_NAMES.get(sign, sign), sign if sign.isprintable() else None))


async def test_what_is_typed_behind_a_prompt_in_one_burst_reaches_it(tmp_path: Path) -> None:
    async with site() as place, dashboard(place, tmp_path) as (app, pilot):
        burst(app, ":providers\r")
        await until(pilot, lambda: listing(app).resource == "providers", "the place")
        burst(app, "2/airflow")
        await until(pilot, lambda: listing(app).resource == "keys", "the keys")
        await until(
            pilot, lambda: listing(app).query_one(FilterPrompt).text == "airflow", "the filter"
        )
        await until(pilot, lambda: listing(app).table.visible_count == 1, "the row")
        await pilot.press("escape")
        await until(pilot, lambda: listing(app).table.visible_count > 1, "no filter")
        listing(app).table.select(listing(app).table.identities[0])
        burst(app, "jj")
        table = listing(app).table
        await until(pilot, lambda: table.selected_identity == table.identities[2], "two rows down")
