"""Form screens, driven by keys: messages, kept values, and leaving."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from form_kit import CREATED, NOW, FormHarness, api_key
from gwtui.client import errors
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Refused, Unknown
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.field_editors import ChoiceEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.screens.dialogs import AskScreen
from plan_kit import form_context


def focused_field(screen: FormScreen[Any]) -> str | None:
    focus = screen.focused
    rows = [
        row for row in screen.query(FieldRow) if focus is not None and focus in row.walk_children()
    ]
    return rows[0].field.name if rows else None


async def test_the_plan_stands_above_the_button_while_typing() -> None:
    spec = replace(
        WRITES.create_form(form_context()),
        plan=lambda request: WRITES.plan_create(request, PlanContext(NOW)),
    )
    async with FormHarness(spec) as desk:

        def line() -> str:
            rows = desk.screen_text().splitlines()
            (button,) = (number for number, row in enumerate(rows) if "Create key  " in row)
            return rows[button - 1].strip()

        await desk.pilot.pause()
        assert line() == "", "without a name nothing can be sent"
        await desk.press(*"ci")
        assert line() == "! The key can spend without a limit. Ctrl+S asks you to confirm."
        await desk.press("tab", *"25")
        assert line().startswith("Create key “ci” · Spending limit $25.00 · Limit resets never")
        await desk.press("backspace", "backspace", *"x")
        assert line() == "", "an invalid form cannot be sent"


async def test_typing_and_sending() -> None:
    async with FormHarness() as desk:
        await desk.press(*"ci", "enter", *"1,000.50", "enter", "m", "enter", "space", "enter")
        await desk.press(*"in 30 days")
        text = desk.screen_text()
        assert "$1,000.50 per month (UTC)" in text
        assert "next reset Tue 2026-12-01 00:00 UTC, in 10 days" in text
        assert "in 30 days · 2026-12-21 07:00 UTC" in text
        await desk.press("ctrl+s")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert desk.app.results == [CREATED]
        assert desk.submit.bodies == [
            {
                "name": "ci",
                "limit": 1000.5,
                "limit_reset": "monthly",
                "include_byok_in_limit": True,
                "expires_at": "2026-12-21T07:00:00Z",
            }
        ]


@pytest.mark.parametrize(
    ("keys", "limit"),
    [
        (["tab", *"40"], 40),
        (["tab", "tab", "shift+tab", *"40"], 40),
        (["down", *"40"], 40),
        (["enter", *"40"], 40),
        (["tab", "home", *"1"], 125),
        (["tab", "end", *"0"], 250),
        (["tab", "left", *"1"], 125),
        (["tab", "right", "left", *"7"], 275),
        (["tab", "backspace", *"8"], 8),
    ],
)
async def test_typing_replaces_a_value_and_arrows_edit_it(keys: list[str], limit: int) -> None:
    async with FormHarness(WRITES.edit_form(api_key(limit=25), form_context())) as desk:
        await desk.press(*keys, "ctrl+s")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert desk.submit.bodies == [{"limit": limit}]


async def test_going_back_from_a_plan_leads_to_the_field_and_the_cursor() -> None:
    async with FormHarness(None, None, None, CREATED) as desk:
        await desk.press(*"ci", "tab", *"1250", "left", "left", "ctrl+s")
        for count, keys in ((1, ["9"]), (2, ["tab", "shift+tab", *"30"])):
            await desk.until(
                lambda n=count: len(desk.submit.bodies) == n and desk.form.focused, "it"
            )  # type: ignore[misc]
            assert focused_field(desk.form) == "limit"
            await desk.press(*keys, "ctrl+s")
        await desk.until(lambda: desk.app.results, "the end of the form")
        limits = [body["limit"] for body in desk.submit.bodies]
        assert limits == [1250, 12950, 30], (
            "the cursor stays the first time; Tab selects the value again"
        )


async def test_going_back_from_a_plan_leads_to_the_button_that_was_pressed() -> None:
    async with FormHarness(None, None) as desk:
        await desk.press(*"ci", *["tab"] * 9, "enter")
        await desk.until(
            lambda: desk.form.focused is not None and desk.submit.bodies, "the form again"
        )
        assert desk.form.focused is desk.form.query_one("#submit")


async def test_errors_appear_beside_fields_and_block_sending() -> None:
    async with FormHarness() as desk:
        assert "must not be empty" not in desk.screen_text()
        await desk.press("tab", *"abc", "ctrl+s")
        text = desk.screen_text()
        assert "✗ must not be empty" in text
        assert "✗ expected a number in USD, such as 12.5" in text
        assert focused_field(desk.form) == "name"
        assert desk.submit.bodies == []
        await desk.press("x")
        assert "must not be empty" not in desk.screen_text()


async def test_a_refusal_keeps_values_and_focuses_its_field() -> None:
    refusal = errors.BadRequestError("limit: must be at most 3", status=400)
    async with FormHarness(None, Refused(refusal), CREATED) as desk:
        await desk.press(*"ci", "tab", *"5", "tab", "tab", "tab", *"in 30 days", "ctrl+s")
        await desk.until(lambda: "must be at most 3" in desk.screen_text(), "the refusal")
        assert focused_field(desk.form) == "limit"
        assert "in 30 days" in desk.screen_text()
        assert desk.app.results == []
        await desk.press("backspace", "2", "ctrl+s")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert [body["limit"] for body in desk.submit.bodies] == [5, 2]
        assert [body["expires_at"] for body in desk.submit.bodies] == ["2026-12-21T07:00:00Z"] * 2


async def test_a_general_refusal_appears_above_the_buttons() -> None:
    refusal = errors.ForbiddenError("Only management keys can", status=403, request_id="req-9")
    async with FormHarness(None, Refused(refusal)) as desk:
        await desk.press(*"ci", "ctrl+s")
        await desk.until(lambda: "Only management keys can" in desk.screen_text(), "the refusal")
        assert "req-9" in desk.screen_text()
        assert "Create key" in desk.screen_text(), "the buttons are still visible"


async def test_the_form_is_disabled_while_sending() -> None:
    async with FormHarness(None, Refused(errors.BadRequestError("no", status=400))) as desk:
        desk.submit.go.clear()
        await desk.press(*"ci", "ctrl+s")
        await desk.until(lambda: "Sending…" in desk.screen_text(), "the notice")
        assert desk.form.unsaved
        await desk.press(*"zzz", "ctrl+s", "escape", "enter", "tab", "y")
        assert desk.app.screen is desk.form
        assert len(desk.submit.bodies) == 1
        desk.submit.go.set()
        await desk.until(lambda: "Sending…" not in desk.screen_text(), "the answer")
        assert desk.form.state.typed("name") == "ci"
        assert desk.form.focused is not None


async def test_a_lost_answer_is_explained_and_cannot_be_sent_again() -> None:
    lost = Unknown(errors.NoAnswerError("No answer came within 30 s."))
    async with FormHarness(None, lost) as desk:
        await desk.press(*"ci", "ctrl+s")
        await desk.until(lambda: "Outcome unknown" in desk.screen_text(), "the explanation")
        text = " ".join(desk.screen_text().split())
        assert "No answer came within 30 s." in text
        assert "The key may have been created." in text
        assert "Check now Close" in text
        assert "Create key" not in text
        await desk.press("ctrl+s")
        assert len(desk.submit.bodies) == 1
        await desk.press("enter")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert desk.app.results == [lost]


@pytest.mark.parametrize(
    ("answer", "is_closed"), [("escape", False), ("enter", False), ("y", True)]
)
async def test_escape_asks_before_typed_text_is_lost(answer: str, is_closed: bool) -> None:
    async with FormHarness() as desk:
        await desk.press(*"ci", "escape")
        await desk.until(lambda: isinstance(desk.app.screen, AskScreen), "the question")
        await desk.press(answer)
        await desk.until(lambda: not isinstance(desk.app.screen, AskScreen), "the answer")
        assert (desk.app.results == [None]) is is_closed
        assert desk.form.state.typed("name") == "ci"


@pytest.mark.parametrize("keys", [[], [*"ci", "backspace", "backspace"]])
async def test_escape_closes_an_unchanged_form(keys: list[str]) -> None:
    async with FormHarness() as desk:
        await desk.press(*keys, "escape")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert desk.app.results == [None]


async def test_the_mouse_chooses_and_sends() -> None:
    async with FormHarness() as desk:
        await desk.press(*"ci")
        editor = desk.app.screen.query(ChoiceEditor).first()
        assert await desk.pilot.click(editor, offset=(10, 0))
        await desk.pilot.pause()
        assert editor.value == "daily"
        assert await desk.pilot.click("#submit")
        await desk.until(lambda: desk.app.results, "the end of the form")
        assert desk.submit.bodies[0]["limit_reset"] == "daily"
