"""What remains of the catalog under guardrails, in the dashboard on the real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from guardrails_kit import GuardrailDesk, guardrail_desk

from gwtui.contract.guardrails import CreateGuardrailRequest, UpdateGuardrailRequest
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.catalog_dialogs import RemainingScreen
from gwtui.watch.feeds.concurrent_reads import CONCURRENCY
from harness import line, listing, until

LARGE = "northwind/atlas-large"
STRICT = CreateGuardrailRequest(
    name="strict", allowed_models=[LARGE], allowed_providers=["kestrel", "nobody"]
)


@pytest.fixture
async def desk() -> AsyncIterator[GuardrailDesk]:
    async with guardrail_desk(size=(120, 40), also=(STRICT,)) as desk:
        yield desk


def of_model(table: Any, model: str) -> Any:
    assert table.select(model)
    return table.selected


async def remaining(desk: GuardrailDesk) -> Any:
    screen = await desk.wait_for(RemainingScreen)
    await until(desk.pilot, lambda: screen._table.total_count, "the models")
    return screen._table


async def the_catalog_under_a_guardrail(desk: GuardrailDesk) -> None:
    await desk.choose("strict")
    await desk.press("E")
    table = await remaining(desk)
    async with desk.colleague() as client:
        models = (await client.catalog.models()).items
        endpoints = (await client.catalog.endpoints(LARGE)).endpoints or []
    assert table.total_count == len(models)
    large = of_model(table, LARGE)
    assert {one.tag for one in large.remaining} == {
        one.tag for one in endpoints if (one.tag or "").partition("/")[0] == "kestrel"
    }
    assert large.total == len(endpoints)
    await desk.reads("provider not allowed")
    await desk.reads(f"1 of {len(models)} models keep an endpoint")
    await desk.reads("not in the catalog: nobody")
    await desk.press("escape")
    await desk.back_to_list()


async def the_default_guardrail_applies_too_until_it_is_left_out(desk: GuardrailDesk) -> None:
    row = await desk.choose("strict")
    async with desk.colleague() as client:
        space = await client.workspaces.get(row.guardrail.workspace_id or "")
        await client.guardrails.update(
            space.default_guardrail_id or "", UpdateGuardrailRequest(ignored_models=[LARGE])
        )
    await desk.app.hub.refresh("guardrails")
    await desk.choose("strict")
    await desk.press("E")
    table = await remaining(desk)
    assert of_model(table, LARGE).verdict.word == "excluded"
    await desk.press("l")
    await until(desk.pilot, lambda: of_model(table, LARGE).remaining, "what strict alone leaves")
    assert "and" not in line(desk.app.screen, "title").split()
    await desk.press("l")
    await until(desk.pilot, lambda: not of_model(table, LARGE).remaining, "both")


async def zero_retention_follows_the_gateways_own_preview(desk: GuardrailDesk) -> None:
    async with desk.colleague() as client:
        made = await client.guardrails.create(
            CreateGuardrailRequest(name="no traces", enforce_zdr_other=True)
        )
        kept = {(one.model_id, one.tag) for one in (await client.catalog.zdr_endpoints()).items}
    await desk.app.hub.refresh("guardrails")
    table = listing(desk.app).table
    await until(desk.pilot, lambda: made.id in table.identities, "the new one")
    await desk.choose("no traces")
    await desk.press("E")
    found = await remaining(desk)
    left = set()
    for identity in found.identities:
        left |= {(one.model_id, one.tag) for one in of_model(found, identity).remaining}
    assert left == kept


async def the_catalog_is_read_once_and_a_few_at_a_time(desk: GuardrailDesk) -> None:
    service = type(desk.app.gateway.catalog)
    genuine, under_way, most, asked = desk.app.gateway.catalog.endpoints, 0, 0, 0

    async def counted(self: Any, model_id: str) -> Any:
        nonlocal under_way, most, asked
        under_way, asked = under_way + 1, asked + 1
        most = max(most, under_way)
        try:
            return await genuine(model_id)
        finally:
            under_way -= 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "endpoints", counted)
        await desk.choose("strict")
        await desk.press("E")
        table = await remaining(desk)
        assert 1 < most <= CONCURRENCY
        assert asked == table.total_count
        await desk.press("escape")
        await desk.back_to_list()
        await desk.choose("No previews")
        await desk.press("E")
        await remaining(desk)
        assert asked == table.total_count, "another guardrail needs no further reading"
        await desk.press("r")
        await until(desk.pilot, lambda: asked == 2 * table.total_count, "the new reading")


async def a_failure_is_said_and_read_again(desk: GuardrailDesk) -> None:
    from gwtui.client.errors import ForbiddenError  # noqa: PLC0415

    service = type(desk.app.gateway.catalog)

    async def refused(*_: object) -> Any:
        raise ForbiddenError("no", status=403)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "endpoints", refused)
        await desk.choose("strict")
        await desk.press("E")
        screen = await desk.wait_for(RemainingScreen)
        await desk.reads("(403)")
    await desk.press("r")
    await until(desk.pilot, lambda: screen._table.total_count, "the models")


async def the_filter_narrows_and_escape_clears_it_first(desk: GuardrailDesk) -> None:
    await desk.choose("strict")
    await desk.press("E")
    table = await remaining(desk)
    await desk.press("slash", *"atlas", "enter")
    await until(desk.pilot, lambda: 0 < table.visible_count < table.total_count, "fewer")
    await desk.press("escape")
    await until(desk.pilot, lambda: table.visible_count == table.total_count, "all again")
    assert isinstance(desk.app.screen, RemainingScreen)
    await desk.press("escape")
    await desk.back_to_list()


async def test_the_form_shows_what_would_remain_before_anything_is_sent(
    desk: GuardrailDesk,
) -> None:
    await desk.choose("strict")
    await desk.press("e")
    form = await desk.wait_for(FormScreen)
    await desk.reads("F2 shows which endpoints remain")
    await desk.press("f2")
    table = await remaining(desk)
    assert of_model(table, LARGE).remaining
    await desk.press("escape")
    await until(desk.pilot, lambda: desk.app.screen is form, "the form")
    await desk.reads("models keep an endpoint")
    form.state.put("allowed_providers", ("nobody",))
    form.state.put("limit_usd", "3")
    await desk.press("f2")
    table = await remaining(desk)
    await until(desk.pilot, lambda: not of_model(table, LARGE).remaining, "the typed rules")
    assert of_model(table, LARGE).verdict.tone == "bad"
    assert desk.events() == []


async def a_model_shows_the_guardrails_that_block_it(desk: GuardrailDesk) -> None:
    strict = await desk.choose("strict")
    await desk.app.open_route("models")
    models = await desk.rows("models")
    models.select("northwind/atlas-mini")
    await desk.press("R")
    table = await desk.rows("model-guardrails")
    assert "Northwind: Atlas Mini" in line(listing(desk.app), "crumbs")
    words = {}
    for identity in table.identities:
        table.select(identity)
        words[table.selected.row.guardrail.name] = table.selected.effect.verdict.word
    assert words["strict"] == "excluded"
    assert words["Draft"] == "all remain"
    first = table.identities[0]
    table.select(first)
    assert not table.selected.effect.remaining, "blocked ones come first"
    table.select(strict.identity)
    await desk.press("R")
    table = await desk.rows("guardrails")
    await until(desk.pilot, lambda: table.selected_identity == strict.identity, "the guardrail")


async def test_what_remains_under_a_guardrail(desk: GuardrailDesk) -> None:
    await desk.walk(
        the_catalog_is_read_once_and_a_few_at_a_time,
        the_catalog_under_a_guardrail,
        the_filter_narrows_and_escape_clears_it_first,
        a_model_shows_the_guardrails_that_block_it,
        zero_retention_follows_the_gateways_own_preview,
    )


async def test_what_remains_after_a_failure_and_under_the_default_too(desk: GuardrailDesk) -> None:
    await desk.walk(
        a_failure_is_said_and_read_again,
        the_default_guardrail_applies_too_until_it_is_left_out,
    )
