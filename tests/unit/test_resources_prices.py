from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from gwtui.contract.models import Pricing
from gwtui.domain.pricing import Usage
from gwtui.resources.models.prices import (
    OFFER_COLUMNS,
    QuotedEndpoint,
    compare_quotes,
    other_prices,
    other_prices_cell,
    parse_tokens,
    parse_when,
    rules_text,
)
from gwtui.watch.feeds.models import rows_of
from resource_samples import NOW, endpoint_body, model_endpoints, pricing


def offers(*prices: dict[str, object] | None, prompt: int = 10_000) -> tuple[QuotedEndpoint, ...]:
    bodies = [
        endpoint_body(provider_name=f"P{number}", tag=f"p{number}", pricing=price)
        for number, price in enumerate(prices)
    ]
    usage = Usage(prompt_tokens=prompt, completion_tokens=1_000, moment=NOW)
    return compare_quotes(rows_of(model_endpoints(*bodies)), usage)


def text(column: str, offer: QuotedEndpoint) -> str:
    found = next(one for one in OFFER_COLUMNS if one.id == column)
    return found.cell(offer, NOW).text


def providers(found: tuple[QuotedEndpoint, ...]) -> list[str | None]:
    return [offer.row.endpoint.provider_name for offer in found]


def test_the_cheapest_comes_first_and_the_others_are_compared_with_it() -> None:
    dear, cheap = pricing(prompt="0.000006", completion="0"), pricing(completion="0")
    found = offers(dear, cheap)
    assert providers(found) == ["P1", "P0"]
    assert [offer.total for offer in found] == [Decimal("0.03"), Decimal("0.06")]
    assert [text("factor", offer) for offer in found] == ["cheapest", "2.00x"]


def test_an_endpoint_without_prices_comes_last_and_has_no_total() -> None:
    found = offers(None, pricing())
    assert providers(found) == ["P1", "P0"]
    assert text("total", found[1]) == "—"
    assert text("factor", found[1]) == "—"
    assert rules_text(found[1]) is None


def test_free_endpoints_are_the_cheapest_without_a_division() -> None:
    found = offers(pricing(), pricing(prompt="0", completion="0"))
    assert [text("factor", offer) for offer in found] == ["cheapest", "—"]


def test_totals_of_one_comparison_have_the_same_places() -> None:
    found = offers(
        pricing(prompt="0.000000123", completion="0"), pricing(prompt="0.00001", completion="0")
    )
    assert [text("total", offer) for offer in found] == ["$0.00123", "$0.10000"]


def test_the_applied_override_and_discount_are_named() -> None:
    long_prompts = pricing(
        discount=Decimal("0.1"), overrides=[{"min_prompt_tokens": 5_000, "prompt": "0.000001"}]
    )
    [offer] = offers(long_prompts)
    assert "override 1: prompts over 5,000 tokens" in text("rules", offer)
    assert "discount 10%" in text("rules", offer)
    [short] = offers(long_prompts, prompt=5_000)
    assert "override" not in text("rules", short)
    assert text("rules", offers(pricing())[0]) == "base price"


def test_prices_that_the_calculator_does_not_count_are_named() -> None:
    [offer] = offers(pricing(image_output="0.04"))
    assert text("others", offer) == "$0.04/image"


@pytest.mark.parametrize(
    ("typed", "tokens"),
    [
        ("", 0),
        ("128000", 128_000),
        ("128_000", 128_000),
        ("128,000", 128_000),
        (" 128k ", 128_000),
        ("1.5M", 1_500_000),
        ("0.001k", 1),
    ],
)
def test_sizes_are_read_as_people_type_them(typed: str, tokens: int) -> None:
    assert parse_tokens(typed) == tokens


@pytest.mark.parametrize("typed", ["-1", "1.5", "many", "1e9", "٣", "9" * 16, "2000g", "1.2345k"])
def test_what_is_not_a_size_is_refused_with_a_reason(typed: str) -> None:
    with pytest.raises(ValueError, match="token"):
        parse_tokens(typed)


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("", NOW),
        ("now", NOW),
        ("18:30", NOW.replace(hour=18, minute=30)),
        ("7", NOW.replace(hour=7)),
        ("0630", NOW.replace(hour=6, minute=30)),
        ("sat 18:30", NOW.replace(hour=18, minute=30)),
        ("Monday 3:00", NOW.replace(hour=3) + timedelta(days=2)),
        ("fri", NOW.replace(hour=0) + timedelta(days=6)),
        ("2026-12-31 18:00", NOW.replace(month=12, day=31, hour=18)),
        ("+2h", NOW + timedelta(hours=2)),
    ],
)
def test_moments_are_read_as_people_type_them(typed: str, moment: datetime) -> None:
    assert parse_when(typed, NOW) == moment


@pytest.mark.parametrize("typed", ["25:00", "12:60", "someday", "monday noon"])
def test_what_is_not_a_moment_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match=r"expected|UTC time"):
        parse_when(typed, NOW)


def test_of_several_other_prices_the_first_is_whole_and_the_rest_are_counted() -> None:
    several = model_pricing(image="0.002", audio="0.000032", request="0.01")
    whole = other_prices(several)
    assert whole is not None
    first = whole.split(", ")[0]
    assert other_prices_cell(several).text == f"{first} +{whole.count(', ')}"
    assert other_prices_cell(model_pricing(image="0.002")).text == "$0.002/image in"
    assert other_prices_cell(model_pricing()).text == "—"
    assert other_prices_cell(None).text == "—"


def model_pricing(**prices: object) -> Pricing:
    return Pricing.model_validate({"prompt": "0.000001", "completion": "0", **prices})
