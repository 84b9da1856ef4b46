"""Endpoints found with few keys and compared, and the price calculator, on the real gateway."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gwtui.domain.pricing import Usage, quote
from gwtui.resources.models.endpoints import EVERY_ENDPOINT, blended
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.catalog_dialogs import PriceScreen
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import QuietInput
from gwtui.ui.widgets.table import ResourceTable
from harness import dashboard, harness, line, listing, notices, until
from journeys import Terminal, at_rest, tokens
from screen_text import shown

FIND = "3E/s<tab>h pa<tab>reas co<tab>>=128k<enter>"


async def test_the_cheapest_that_fits_is_found_with_few_keys_and_compared() -> None:
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

        terminal.write("=")
        await until(pilot, lambda: "Mark 2 to 6 rows" in notices(app), "why not")
        terminal.write("  =")
        await at_rest(app)
        assert isinstance(app.screen, ReadingScreen)
        told = app.screen.query_one(LinesView).text
        assert "≠ Blend $/M" in told
        assert "All of them support" in told
        terminal.write("\x1b[27uo")
        await until(pilot, lambda: listing(app).resource == "endpoints", "the model's own")
        assert listing(app).parent_row in {row.model_id for row in rows}


# Prices -------------------------------------------------------------------------------------------


MODEL = "northwind/atlas-large"


def calculator(app: GwtuiApp) -> PriceScreen:
    assert isinstance(app.screen, PriceScreen)
    return app.screen


def offers(app: GwtuiApp) -> ResourceTable[Any]:
    return calculator(app).query_one(ResourceTable)


async def opened(app: GwtuiApp, pilot: Any) -> None:
    """Endpoints of the model are shown; open the calculator on the selected one."""
    await until(pilot, lambda: listing(app).resource == "endpoints", "the endpoints")
    await until(pilot, lambda: listing(app).table.total_count, "their rows")
    await pilot.press("p")
    await until(pilot, lambda: isinstance(app.screen, PriceScreen), "the calculator")
    await until(pilot, lambda: offers(app).total_count, "the offers")


async def fill(app: GwtuiApp, pilot: Any, name: str, text: str) -> None:
    calculator(app).query_one(f"#price-{name}", QuietInput).value = text
    await pilot.pause()


def total_of(table: ResourceTable[Any], identity: str) -> Decimal | None:
    assert table.select(identity)
    assert table.selected is not None
    return table.selected.total


async def test_totals_are_the_domains_and_the_cheapest_is_first() -> None:
    route = f"models/{MODEL}"
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        await opened(app, pilot)
        await fill(app, pilot, "prompt", "250k")
        await fill(app, pilot, "completion", "2k")
        await fill(app, pilot, "when", "2026-11-23 03:00")
        usage = Usage(
            prompt_tokens=250_000,
            completion_tokens=2_000,
            moment=datetime(2026, 11, 23, 3, tzinfo=UTC),
        )
        model = await app.gateway.catalog.endpoints(MODEL)
        totals = sorted(
            total
            for endpoint in model.endpoints or ()
            if endpoint.pricing is not None
            and (total := quote(endpoint.pricing, usage).total) is not None
        )
        table = offers(app)
        assert [total_of(table, identity) for identity in table.identities] == totals
        assert "Mon 2026-11-23 03:00 UTC" in shown(app)
        assert "cheapest" in shown(app)


async def test_it_begins_on_the_endpoint_it_was_opened_from() -> None:
    route = f"models/{MODEL}"
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        await until(pilot, lambda: listing(app).table.total_count, "the endpoints")
        await pilot.press("end")
        selected = listing(app).table.selected_identity
        await opened(app, pilot)
        assert offers(app).selected_identity == selected


async def test_what_cannot_be_read_is_said_below_its_field_and_keeps_the_figures() -> None:
    route = f"models/{MODEL}"
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        await opened(app, pilot)
        before = calculator(app).query_one(LinesView).text
        await fill(app, pilot, "prompt", "lots")
        await fill(app, pilot, "when", "25:00")
        assert "tokens" in calculator(app).query_one("#price-prompt-note", OneLine).text
        assert "UTC time" in calculator(app).query_one("#price-when-note", OneLine).text
        assert "last valid input" in shown(app)
        assert calculator(app).query_one(LinesView).text == before
        await fill(app, pilot, "prompt", "20k")
        await fill(app, pilot, "when", "")
        assert "last valid input" not in shown(app)
        assert calculator(app).query_one(LinesView).text != before


async def test_typing_goes_into_the_fields_and_escape_closes() -> None:
    route = f"models/{MODEL}"
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("tab", "q", "1", "tab", "tab")
        assert app.is_running
        assert calculator(app).query_one("#price-completion", QuietInput).value.endswith("q1")
        assert app.focused is offers(app)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, PriceScreen), "the list again")
        assert listing(app).resource == "endpoints"
