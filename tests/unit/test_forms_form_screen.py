"""The screens of forms, driven by keys: what is said, what is kept, what leaving takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from form_kit import NOW, HostApp, ScriptedSubmit, form, until
from gwtui.client import errors
from gwtui.crud.plan import Applied, Refused, Unknown
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.field_editors import ChoiceEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.screens.dialogs import AskScreen
from key_form_kit import api_key
from plan_kit import form_context, key_plans
from screen_text import shown

MADE = Applied("made")


def focused_field(screen: FormScreen[Any]) -> str | None:
    focus = screen.focused
    rows = [
        row for row in screen.query(FieldRow) if focus is not None and focus in row.walk_children()
    ]
    return rows[0].field.name if rows else None


async def test_what_would_be_sent_stands_above_the_button_while_the_form_is_filled_in() -> None:
    spec = replace(
        WRITES.create_form(form_context()), plan=lambda request: key_plans.plan_create(request, NOW)
    )
    app = HostApp(form(ScriptedSubmit(), spec))
    async with app.run_test(size=(80, 24)) as pilot:

        def line() -> str:
            rows = shown(app).splitlines()
            (button,) = (at for at, row in enumerate(rows) if "Create key  " in row)
            return rows[button - 1].strip()

        await pilot.pause()
        assert line() == "", "without a name there is nothing to send"
        await pilot.press(*"ci")
        await pilot.pause()
        assert line() == "! Ctrl+S asks first · The key can spend without a limit."
        await pilot.press("tab", *"25")
        await pilot.pause()
        assert line().startswith("Create key “ci” · Spending limit $25.00 · Limit resets never")
        await pilot.press("backspace", "backspace", *"x")
        await pilot.pause()
        assert line() == "", "what is wrong cannot be sent"


async def test_typing_and_sending() -> None:
    submit = ScriptedSubmit(MADE)
    app = HostApp(form(submit))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci", "enter", *"1,000.50", "enter", "m", "enter", "space", "enter")
        await pilot.press(*"in 30 days")
        await pilot.pause()
        text = shown(app)
        assert "$1,000.50 each UTC month" in text
        assert "next reset Tue 2026-12-01 00:00 UTC, in 10 days" in text
        assert "in 30 days · 2026-12-21 07:00 UTC" in text
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.results, "the end of the form")
        assert app.results == [MADE]
        assert submit.bodies == [
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
async def test_typing_replaces_what_stands_in_a_field_and_arrows_edit_it(
    keys: list[str], limit: int
) -> None:
    submit = ScriptedSubmit(MADE)
    app = HostApp(form(submit, WRITES.edit_form(api_key(limit=25), form_context())))
    async with app.run_test() as pilot:
        await pilot.press(*keys, "ctrl+s")
        await until(pilot, lambda: app.results, "the end of the form")
        assert submit.bodies == [{"limit": limit}]


async def test_going_back_from_a_plan_leads_to_the_field_and_the_cursor() -> None:
    submit = ScriptedSubmit(None, None, MADE)
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press(*"ci", "tab", *"1250", "left", "left", "ctrl+s")
        for count, keys in ((1, ["9"]), (2, ["tab", "shift+tab", *"30"])):
            await until(pilot, lambda n=count: len(submit.bodies) == n and screen.focused, "it")  # type: ignore[misc]
            assert focused_field(screen) == "limit"
            await pilot.press(*keys, "ctrl+s")
        await until(pilot, lambda: app.results, "the end of the form")
        limits = [body["limit"] for body in submit.bodies]
        assert limits == [1250, 12950, 30], "the cursor stays once; Tab selects again"


async def test_going_back_from_a_plan_leads_to_the_button_that_was_pressed() -> None:
    submit = ScriptedSubmit(None)
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press(*"ci", *["tab"] * 9, "enter")
        await until(pilot, lambda: screen.focused is not None and submit.bodies, "the form again")
        assert screen.focused is screen.query_one("#submit")


async def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_sent() -> None:
    submit = ScriptedSubmit()
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "must have at least" not in shown(app)
        await pilot.press("tab", *"abc", "ctrl+s")
        await pilot.pause()
        text = shown(app)
        assert "✗ must have at least 1 character" in text
        assert "✗ expected an amount in USD" in text
        assert focused_field(screen) == "name"
        assert submit.bodies == []
        await pilot.press("x")
        await pilot.pause()
        assert "must have at least" not in shown(app)


async def test_a_refusal_keeps_everything_and_goes_to_its_field() -> None:
    refusal = errors.BadRequestError("limit: must be at most 3", status=400)
    submit = ScriptedSubmit(Refused(refusal), MADE)
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci", "tab", *"5", "tab", "tab", "tab", *"in 30 days", "ctrl+s")
        await until(pilot, lambda: "must be at most 3" in shown(app), "the refusal")
        assert focused_field(screen) == "limit"
        assert "in 30 days" in shown(app)
        assert app.results == []
        await pilot.press("backspace", "2", "ctrl+s")
        await until(pilot, lambda: app.results, "the end of the form")
        assert [body["limit"] for body in submit.bodies] == [5, 2]
        assert [body["expires_at"] for body in submit.bodies] == ["2026-12-21T07:00:00Z"] * 2


async def test_a_refusal_of_the_whole_stands_above_the_buttons() -> None:
    refusal = errors.ForbiddenError("Only management keys can", status=403, request_id="req-9")
    app = HostApp(form(ScriptedSubmit(Refused(refusal))))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci", "ctrl+s")
        await until(pilot, lambda: "Only management keys can" in shown(app), "the refusal")
        assert "req-9" in shown(app)
        assert "Create key" in shown(app), "the buttons are still in sight"


async def test_the_form_is_inert_while_it_is_sent() -> None:
    submit = ScriptedSubmit(Refused(errors.BadRequestError("no", status=400)))
    submit.go.clear()
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci", "ctrl+s")
        await until(pilot, lambda: "Sending…" in shown(app), "the notice")
        assert screen.unsaved
        await pilot.press(*"zzz", "ctrl+s", "escape", "enter", "tab", "y")
        await pilot.pause()
        assert app.screen is screen
        assert len(submit.bodies) == 1
        submit.go.set()
        await until(pilot, lambda: "Sending…" not in shown(app), "the answer")
        assert screen.state.typed("name") == "ci"
        assert screen.focused is not None


async def test_a_lost_answer_is_explained_and_cannot_be_sent_again() -> None:
    lost = Unknown(errors.NoAnswerError("No answer came within 30 s."))
    submit = ScriptedSubmit(lost)
    screen = form(submit)
    app = HostApp(screen)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci", "ctrl+s")
        await until(pilot, lambda: "The response was lost" in shown(app), "the explanation")
        text = " ".join(shown(app).split())
        assert "No answer came within 30 s." in text
        assert "The key may have been created." in text
        assert "Look now Close" in text
        assert "Create key" not in text
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert len(submit.bodies) == 1
        await pilot.press("enter")
        await until(pilot, lambda: app.results, "the end of the form")
        assert app.results == [lost]


@pytest.mark.parametrize(("answer", "left"), [("escape", False), ("enter", False), ("y", True)])
async def test_escape_asks_before_typed_text_is_lost(answer: str, left: bool) -> None:
    screen = form(ScriptedSubmit())
    app = HostApp(screen)
    async with app.run_test() as pilot:
        await pilot.press(*"ci", "escape")
        await until(pilot, lambda: isinstance(app.screen, AskScreen), "the question")
        await pilot.press(answer)
        await until(pilot, lambda: not isinstance(app.screen, AskScreen), "the answer")
        assert (app.results == [None]) is left
        assert screen.state.typed("name") == "ci"


@pytest.mark.parametrize("keys", [[], [*"ci", "backspace", "backspace"]])
async def test_escape_asks_nothing_where_nothing_is_lost(keys: list[str]) -> None:
    app = HostApp(form(ScriptedSubmit()))
    async with app.run_test() as pilot:
        await pilot.press(*keys, "escape")
        await until(pilot, lambda: app.results, "the end of the form")
        assert app.results == [None]


async def test_the_mouse_chooses_and_sends() -> None:
    submit = ScriptedSubmit(MADE)
    app = HostApp(form(submit))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"ci")
        editor = app.screen.query(ChoiceEditor).first()
        assert await pilot.click(editor, offset=(10, 0))
        await pilot.pause()
        assert editor.value == "daily"
        assert await pilot.click("#submit")
        await until(pilot, lambda: app.results, "the end of the form")
        assert submit.bodies[0]["limit_reset"] == "daily"
