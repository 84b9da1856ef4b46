"""The price calculator on the real gateway: what each endpoint asks, as one types."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gwtui.domain.pricing import Usage, quote
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.catalog_dialogs import PriceScreen
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import QuietInput
from gwtui.ui.widgets.table import ResourceTable
from harness import dashboard, harness, listing, until
from screen_text import shown

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


async def test_the_rule_that_applies_is_named_with_the_lines() -> None:
    route = f"models/{MODEL}"
    async with harness() as place, dashboard(place, start=route) as (app, pilot):
        await opened(app, pilot)
        table = offers(app)
        discounted = next(
            identity for identity in table.identities if identity.startswith("quasar")
        )
        assert table.select(discounted)
        await pilot.pause()
        text = calculator(app).query_one(LinesView).text
        assert "discount 10%" in text
        assert "total" in text


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


async def test_it_says_when_prices_cannot_be_read_again() -> None:
    route = f"models/{MODEL}"
    async with (
        harness(speed=20) as place,
        dashboard(place, start=route) as (app, pilot),
    ):
        await opened(app, pilot)
        await place.stop()
        await until(pilot, lambda: "unreachable" in shown(app), "the fault")
        assert offers(app).total_count
        await place.start()
        await until(pilot, lambda: "cheapest first" in shown(app), "the recovery", 30)
