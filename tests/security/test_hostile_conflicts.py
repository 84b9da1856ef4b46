"""What two people wrote into the same field at once, hostile on both sides.

``GWTUI_HOSTILE=full`` takes every text of the corpus, each in a dialog of its own resource.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hostile_sinks import dangerous
from hostile_strings import CORPUS, HUGE, SMALL
from hostile_values import hostile_answer
from recording_filter import HARMLESS, Witness

from form_kit import FACTS, HostApp
from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.response import ResponseModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import Field
from gwtui.ui.actions.crud import conflict_form, side_field
from gwtui.ui.forms.form_screen import FormScreen, keep_request
from gwtui.ui.forms.row import FieldRow
from plan_kit import byok_plans, guardrail_plans, key_plans, workspace_plans
from screen_text import shown

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
FULL = os.environ.get("GWTUI_HOSTILE") == "full"
TEXTS: Mapping[str, str] = (
    CORPUS if FULL else {**dict(list(SMALL.items())[::20]), **dict(list(HUGE.items())[::14])}
)
Words = Callable[[str, Any], str]
Known = Callable[[Any], Mapping[str, Any]]
RESOURCES: Mapping[str, tuple[type[ResponseModel], Known, Words]] = {
    "key": (
        ApiKey,
        key_plans.known_values,
        lambda name, value: key_plans.in_words(name, value, NOW, {}),
    ),
    "workspace": (Workspace, workspace_plans.known_values, workspace_plans.in_words),
    "guardrail": (
        Guardrail,
        lambda one: guardrail_plans.known_values(one, GENERIC),
        guardrail_plans.in_words(NOW, {}),
    ),
    "credential": (
        ByokCredential,
        byok_plans.known_values,
        byok_plans.in_words,
    ),
}


class Watched(HostApp):
    """What reaches the last wall is kept."""

    def __init__(self, screen: FormScreen[Any]) -> None:
        super().__init__(screen)
        self.leaks: list[str] = []

    def get_line_filters(self) -> list[Any]:
        return [*super().get_line_filters(), Witness(self.leaks)]


def disputes(resource: str) -> Iterator[Field]:
    """Every field that can hold a text, with every text on each of its sides."""
    model, known, words = RESOURCES[resource]
    for place, text in enumerate(TEXTS.values()):
        original, mine = (
            known(hostile_answer(model, text)),
            known(hostile_answer(model, f"{text}!")),
        )
        for name, value in original.items():
            if isinstance(value, str | list) and value and name in mine:
                was, now = words(name, value), words(name, mine[name])
                yield side_field(f"{name}_{place}", name, was, now, was)


@pytest.mark.parametrize("resource", RESOURCES)
async def test_a_dispute_shows_every_side_as_plain_text(resource: str) -> None:
    found = list(disputes(resource))
    assert len(found) >= len(TEXTS), "there is something to dispute"
    screen = FormScreen[Any](conflict_form("It", found), FACTS, keep_request)
    app = Watched(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for _ in range(len(found) if FULL else 12):
            await pilot.press("pagedown")
            assert not [char for char in dangerous(shown(app)) if char not in {*HARMLESS, "\n"}]
        for row, dispute in zip(screen.query(FieldRow), found, strict=True):
            assert row.note.plain == dispute.help
        await pilot.press("right", "ctrl+s")
        await pilot.pause()
        assert app.leaks == []
        (outcome,) = app.results
        assert [*outcome.value.model_dump().values()].count("mine") == 1
