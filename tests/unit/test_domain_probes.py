"""What a probe asks, of which endpoint, and what a day of them may cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.models import Endpoint
from gwtui.domain.probes import (
    PROBE_TOKENS,
    ProbeSpending,
    ProbeTarget,
    delay_after,
    max_daily_cost,
    max_probes_per_day,
)
from gwtui.domain.route_order import pinned_to
from resource_samples import endpoint_body

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def endpoint(**changes: Any) -> Endpoint:
    return Endpoint.model_validate(endpoint_body(**changes))


def target(**changes: Any) -> ProbeTarget:
    found = endpoint(**changes)
    pinned = pinned_to(found, [found])
    assert pinned is not None
    return ProbeTarget("aurora/glass-2 one", "one", "aurora/glass-2", found, pinned)


def test_a_probe_is_tiny_and_goes_nowhere_else() -> None:
    body = target().request().body()
    assert body["max_tokens"] == PROBE_TOKENS <= 5
    assert body["provider"] == {
        "order": ["northwind/fp8"],
        "only": ["northwind/fp8"],
        "allow_fallbacks": False,
    }
    assert len(str(body)) < 400


def test_an_endpoint_that_nothing_tells_apart_is_not_pinned() -> None:
    one, twin = endpoint(), endpoint()
    assert pinned_to(one, [one, twin]) is None
    untagged = endpoint(tag=None)
    assert pinned_to(untagged, [untagged]) is None


def test_a_tag_that_is_also_the_providers_slug_needs_the_weights() -> None:
    plain = endpoint(tag="northwind", quantization="bf16")
    other = endpoint(tag="northwind/fp8", quantization="fp8")
    pinned = pinned_to(plain, [plain, other])
    assert pinned is not None
    assert pinned.quantizations == ["bf16"]
    same = endpoint(tag="northwind/fp8", quantization="bf16")
    assert pinned_to(plain, [plain, same]) is None


def test_an_endpoint_of_a_tier_is_no_twin_of_the_plain_one() -> None:
    plain = endpoint(tag="northwind")
    flex = endpoint(tag="northwind/flex", service_tier="flex")
    assert pinned_to(plain, [plain, flex]) is not None
    assert pinned_to(flex, [plain, flex]) is not None


def test_what_a_day_costs_at_the_most() -> None:
    free = target(pricing={"prompt": "0", "completion": "0"})
    assert free.most(NOW) == 0
    priced = target(pricing={"prompt": "0.000001", "completion": "0.00001"})
    most = priced.most(NOW)
    assert most is not None
    assert most >= Decimal("0.00005"), "five tokens of answer, and a prompt"
    assert target(pricing={"prompt": "-1", "completion": "0"}).most(NOW) is None
    every = timedelta(minutes=10)
    assert max_probes_per_day(every) == 145
    assert max_daily_cost([most, most], every) == most * 290
    assert max_daily_cost([], every) == 0


def test_a_probe_comes_later_by_chance_and_never_earlier() -> None:
    every = timedelta(minutes=10)
    assert delay_after(every, 0.0) == 600
    assert 600 < delay_after(every, 0.999) < 661


def test_spending_counts_the_bound_until_the_cost_is_known() -> None:
    cap = Decimal("0.10")
    spent = ProbeSpending().begun(Decimal("0.06"))
    assert not spent.leaves_room(Decimal("0.05"), cap)
    assert spent.leaves_room(Decimal("0.04"), cap), "the maximum itself is allowed"
    spent = spent.ended(Decimal("0.06"), Decimal("0.0000123"))
    assert (spent.reported, spent.open) == (Decimal("0.0000123"), 0)
    assert spent.leaves_room(Decimal("0.05"), cap)
