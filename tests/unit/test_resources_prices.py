from __future__ import annotations

from decimal import Decimal

import pytest

from gwtui.contract.models import Pricing
from gwtui.crud.resource import DetailRow
from gwtui.resources.models.prices import (
    other_prices,
    other_prices_cell,
    override_rows,
    price_table,
)
from resource_samples import NOW


def test_the_first_other_price_is_shown_and_the_rest_are_counted() -> None:
    several = model_pricing(image="0.002", audio="0.000032", request="0.01")
    whole = other_prices(several)
    first = whole.split(", ")[0]
    assert other_prices_cell(several).text == f"{first} +{whole.count(', ')}"
    assert other_prices_cell(model_pricing(image="0.002")).text == "$0.002/image in"
    assert other_prices_cell(model_pricing()).text == "—"
    assert other_prices_cell(None).text == "—"


def test_an_override_shows_its_conditions_its_prices_and_whether_it_is_in_force() -> None:
    pricing = model_pricing(
        discount="0.1",
        overrides=[
            {"min_prompt_tokens": 5_000, "prompt": "0.000002"},
            {"utc_days": [NOW.strftime("%A").lower()], "completion": "0", "request": "?"},
            {"moon": "full", "prompt": "0"},
        ],
    )
    rows = override_rows(pricing, NOW)
    assert [(row.label, row.value.text, row.note) for row in rows[:3]] == [
        ("1.", "prompts over 5,000 tokens", "prompt $1.80/M tokens"),
        ("2.", f"{NOW:%a} (now)", "completion free/M tokens, request —"),
        ("3.", "always: left out, its condition moon is not known", "prompt free/M tokens"),
    ]
    assert "the later one wins" in rows[3].value.text


@pytest.mark.parametrize(("discount", "rows"), [("0.5", 1), ("1.5", 2), ("-1", 2)])
def test_an_impossible_discount_is_ignored_and_named(discount: str, rows: int) -> None:
    table, *notes = price_table(model_pricing(discount=Decimal(discount)))
    assert len([table, *notes]) == rows
    for note in notes:
        assert isinstance(note, DetailRow)
        assert note.value.text == f"{discount} is ignored: it is not between 0 and 1"


def model_pricing(**prices: object) -> Pricing:
    return Pricing.model_validate({"prompt": "0.000001", "completion": "0", **prices})
