"""Guardrails created, changed, set up and deleted in the dashboard, on the real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from guardrails_kit import GuardrailDesk, guardrail_desk

from gwtui.client.errors import NotFoundError
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.option_pickers import PickScreen
from gwtui.ui.screens.detail_pane import DetailPane
from harness import listing, start_over, until

MINE = CreateGuardrailRequest(
    name="mine",
    allowed_models=["northwind/atlas-large", "northwind/atlas-mini"],
    limit_usd=Decimal(10),
    reset_interval="daily",
    content_filters=[CustomFilterRequest(pattern="gw-[0-9]+", action="block")],
)


ALIKE = tuple(
    MINE.model_copy(update={"name": name}) for name in ("mine", "yours", "theirs", "ours")
)
"""One for each step that changes one or takes it away."""


@pytest.fixture
async def desk() -> AsyncIterator[GuardrailDesk]:
    async with guardrail_desk(also=ALIKE) as desk:
        yield desk


async def pick(desk: GuardrailDesk, field: str, *searches: str) -> None:
    """Tick what each search finds first."""
    await desk.focus(field)
    await desk.press("enter")
    screen = await desk.wait_for(PickScreen)
    await until(desk.pilot, lambda: screen.source.loaded, "what can be picked")
    for search in searches:
        await desk.press(*search)
        await desk.pilot.pause()
        await desk.press("space", "escape")
        await desk.pilot.pause()
    await desk.press("enter")
    await desk.wait_for(FormScreen)


async def a_new_guardrail_has_every_rule_that_was_typed(desk: GuardrailDesk) -> None:
    before = listing(desk.app).table.total_count
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"zz tight")
    await pick(desk, "allowed_models", "atlasdeep", "corona")
    await pick(desk, "ignored_providers", "paperboat")
    await desk.type_into("limit_usd", "12.50")
    await desk.focus("reset_interval")
    await desk.press("w")
    await desk.focus("enforce_zdr_vendor_a")
    await desk.press("right")
    await desk.press("ctrl+s")
    await desk.said("“zz tight” created")
    table = listing(desk.app).table
    await until(desk.pilot, lambda: table.total_count == before + 1, "the row")
    await until(desk.pilot, lambda: desk.selected.guardrail.name == "zz tight", "the selection")
    made = await desk.read(desk.selected.guardrail.id)
    assert [slug.partition("-2")[0] for slug in made.allowed_models or ()] == [
        "northwind/atlas-deep",
        "helioscope/corona-code",
    ]
    assert made.ignored_providers == ["paperboat"]
    assert (made.limit_usd, made.reset_interval) == (Decimal("12.5"), "weekly")
    assert (made.enforce_zdr_vendor_a, made.enforce_zdr_vendor_b) == (True, None)
    assert (made.allowed_providers, made.ignored_models) == (None, None)
    assert desk.events() == ["intent", "applied"]


async def a_default_guardrail_comes_to_exist_with_its_first_change(
    desk: GuardrailDesk,
) -> None:
    row = await desk.choose_unmade()
    with pytest.raises(NotFoundError):
        await desk.read(row.guardrail.id)
    await desk.press("e")
    form = await desk.wait_for(FormScreen)
    assert "name" not in form.state.fields
    assert "The name of a default guardrail cannot be changed" in desk.text
    await desk.type_into("limit_usd", "7")
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "Applies immediately to all traffic of workspace" in desk.text
    await desk.press("y")
    await desk.said("set up")
    made = await desk.read(row.guardrail.id)
    assert made.limit_usd == Decimal(7)
    assert made.name == f"Workspace {made.workspace_id} Default"
    await until(desk.pilot, lambda: desk.selected.exists, "the new state")
    assert desk.selected.identity == row.identity


async def what_is_not_made_can_be_neither_deleted_nor_assigned(desk: GuardrailDesk) -> None:
    await desk.choose_unmade()
    for key in ("D", "A", "M", "m"):
        desk.app._notifications.clear()
        await desk.press(key)
        await desk.said("does not exist yet")
    assert desk.events() == []


async def a_key_pressed_twice_opens_one_screen(desk: GuardrailDesk) -> None:
    for key in ("n", "e", "D", "A", "E"):
        await desk.choose("mine")
        for _ in range(3):
            desk.app.simulate_key(key)
        await until(desk.pilot, lambda: len(desk.app.screen_stack) > 1, "the screen")
        await desk.pilot.pause(0.3)
        # The further presses go to what the first one opened: a picker may open its list for them.
        opened = [type(screen) for screen in desk.app.screen_stack[1:]]
        assert opened.count(opened[0]) == 1, key
        await start_over(desk.app, desk.pilot)


async def test_a_guardrail_is_made_and_changed(desk: GuardrailDesk) -> None:
    await desk.walk(
        a_new_guardrail_has_every_rule_that_was_typed,
        what_is_not_made_can_be_neither_deleted_nor_assigned,
        a_default_guardrail_comes_to_exist_with_its_first_change,
    )


async def test_a_guardrail_is_refused_deleted_and_opened_once(desk: GuardrailDesk) -> None:
    await desk.walk(
        a_key_pressed_twice_opens_one_screen,
    )


async def test_the_other_dialect_names_its_vendors_and_demands_both_of_the_cap() -> None:
    flagged = CreateGuardrailRequest(
        name="mine",
        content_filter_builtins=[BuiltinFilterRequest(slug="email", action="flag")],
    )
    async with guardrail_desk(dialect=OPENROUTER, also=(flagged,)) as desk:
        await desk.press("n")
        form: Any = await desk.wait_for(FormScreen)
        labels = {field.name: field.label for field in form.spec.every_field()}
        assert labels["enforce_zdr_vendor_a"] == "ZDR Anthropic"
        assert labels["enforce_zdr_xai"] == "ZDR xAI"
        await desk.press(*"zz capped")
        await desk.type_into("limit_usd", "5")
        await desk.press("ctrl+s")
        await desk.reads("must be given together")
        assert desk.events() == []
        await desk.focus("reset_interval")
        await desk.press("d")
        await desk.focus("enforce_zdr_vendor_a")
        await desk.press("right", "ctrl+s")
        await desk.said("“zz capped” created")
        await until(
            desk.pilot, lambda: desk.selected.guardrail.name == "zz capped", "the selection"
        )
        made = await desk.read(desk.selected.guardrail.id)
        assert (made.limit_usd, made.reset_interval) == (Decimal(5), "daily")
        assert made.enforce_zdr_vendor_a is True
        await desk.press("d")
        pane = listing(desk.app).query_one(DetailPane)
        await until(desk.pilot, lambda: "Anthropic" in pane.text, "the vendors")
        line = next(line for line in pane.text.splitlines() if line.startswith("ZDR Anthropic"))
        assert line.split() == ["ZDR", "Anthropic", "on"]
