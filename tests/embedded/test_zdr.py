"""The preview of zero data retention: which endpoints remain."""

from __future__ import annotations

from gateway_kit import Bench


def name(endpoint: dict) -> tuple[str, str]:
    return endpoint["model_id"], endpoint["tag"]


async def test_what_remains_is_a_part_of_the_catalog(gate: Bench):
    remaining = await gate.data("GET", "/endpoints/zdr")
    everything = []
    for model in await gate.data("GET", "/models?output_modalities=all"):
        offers = await gate.data("GET", f"/models/{model['id']}/endpoints")
        everything += offers["endpoints"]
    assert remaining == [one for one in everything if name(one) in set(map(name, remaining))]
    assert 0.25 < len(remaining) / len(everything) < 0.75


async def test_a_provider_keeps_its_word_for_every_model(gate: Bench):
    remaining = await gate.data("GET", "/endpoints/zdr")
    providers = {one["tag"].partition("/")[0] for one in remaining}
    assert {"bitforge", "northwind"} <= providers
    assert not {"paperboat", "ampersand"} & providers
    tiers = {one["service_tier"] for one in remaining if one["tag"].startswith("northwind")}
    assert tiers == {None}, "not at the tiers that are cheaper or faster"


async def test_the_list_is_public_but_not_every_figure(gate: Bench):
    shown = await gate.data("GET", "/endpoints/zdr", token=None)
    assert {one["throughput_last_30m"] for one in shown} == {None}
    assert not any("perf_last_30m_by_workload" in one for one in shown)
    with_key = await gate.data("GET", "/endpoints/zdr")
    assert any(one["throughput_last_30m"] for one in with_key)
    assert [name(one) for one in shown] == [name(one) for one in with_key]
    await gate.refused(401, "GET", "/endpoints/zdr", token="nonsense")
