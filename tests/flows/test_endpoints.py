"""Endpoints found with few keys and compared, on the real gateway."""

from __future__ import annotations

from gwtui.resources.models.endpoints import EVERY_ENDPOINT, blended
from harness import dashboard, harness, line, listing, until
from journeys import Terminal, at_rest, tokens

FIND = "3E/s<tab>h pa<tab>reas co<tab>>=128k<enter>"


async def test_the_cheapest_that_fits_is_found_with_few_keys() -> None:
    keys = tokens(FIND)
    assert len(keys) <= 25
    async with harness() as place, dashboard(place, start="credits") as (app, pilot):
        terminal = Terminal(app)
        terminal.write("".join(keys))
        await at_rest(app)
        await until(pilot, lambda: listing(app).resource == "all-endpoints", "the list")
        screen = listing(app)
        await until(pilot, lambda: not screen.is_loading, "every model")
        rows = [screen.table.model[name] for name in screen.table.identities]
        assert rows
        for row in rows:
            endpoint = row.endpoint
            assert (endpoint.context_length or 0) >= 128_000
            assert "reasoning" in (endpoint.supported_parameters or ())
            assert EVERY_ENDPOINT.facets["status"](row, screen.now) == "healthy"
        prices = [price for row in rows if (price := blended(row)) is not None]
        assert prices == sorted(prices)
        assert screen.table.selected is rows[0]
        assert len(rows) < screen.table.total_count
        assert "endpoints · by blend" in line(screen, "status")

        terminal.write("o")
        await until(pilot, lambda: listing(app).resource == "endpoints", "the model's own")
        assert listing(app).parent_row in {row.model_id for row in rows}
