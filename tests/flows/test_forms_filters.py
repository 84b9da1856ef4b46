"""Builtin and custom filters, filled in with keys at 80x24."""

from __future__ import annotations

import time
from typing import Any

import pytest
from narrow_form_kit import HOSTILE, MADE, Desk, one

from form_kit import until
from gwtui.client import errors
from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.crud.fields import Field
from gwtui.crud.form import BuiltinRow, CustomRow
from gwtui.crud.plan import Refused
from gwtui.ui.forms.content_filters import FiltersEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow

BUILTINS = Field("content_filter_builtins", "Builtin filters", kind="builtins")

CUSTOM = Field("content_filters", "Custom filters", kind="filters")


async def opened(desk: Desk, field: str) -> FormScreen[Any]:
    """The form that the editor of a field opens."""
    desk.form.query_one(f"#field-{field}", FieldRow).editor.focus()
    await desk.pilot.press("enter")
    await until(desk.pilot, lambda: desk.app.screen is not desk.form, "the form of a part")
    assert isinstance(desk.app.screen, FormScreen)
    return desk.app.screen


async def test_builtin_filters_offer_only_what_the_dialect_allows() -> None:
    async with Desk(one(BUILTINS, content_filter_builtins=None)) as desk:
        await opened(desk, "content_filter_builtins")
        lines = desk.shown().splitlines()
        (email,) = [line for line in lines if " email " in line]
        (injection,) = [line for line in lines if "prompt-injection" in line]
        assert "flag" not in email
        assert "redact as [EMAIL]" in email
        assert "○ flag" in injection
        assert "Ctrl+S done" in desk.whole()
        await desk.press("r", *["down"] * 7, "f", "down", "right", "ctrl+s")
        await desk.back()
        assert "email redact, regex-prompt-injection flag" in desk.shown()
        assert (await desk.send())["content_filter_builtins"] == [
            {"slug": "email", "action": "redact"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ]


async def test_builtin_filters_that_are_unknown_or_not_allowed_here_are_kept_and_said() -> None:
    given = [
        {"slug": "iban", "action": "shred"},
        {"slug": "email", "action": "flag"},
        {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": None},
    ]
    async with Desk(one(BUILTINS, content_filter_builtins=given)) as desk:
        screen = await opened(desk, "content_filter_builtins")
        assert "● flag (not allowed here)" in desk.shown()
        assert "unknown to this version of gwtui; kept" in desk.shown()
        assert not screen.unsaved
        await desk.press("ctrl+s")
        await desk.back()
        assert not desk.form.unsaved
        await opened(desk, "content_filter_builtins")
        await desk.press("down", "left", "ctrl+s")
        await desk.back()
        assert desk.form.state.typed("content_filter_builtins") == (
            BuiltinRow("iban", "shred"),
            BuiltinRow("email", "redact"),
            BuiltinRow("regex-prompt-injection", "flag"),
        )
        assert "“iban”: must be one of" in " ".join(desk.shown().split())


@pytest.mark.parametrize(("dialect", "offered"), [(GENERIC, 0), (OPENROUTER, 1)])
async def test_custom_filters_flag_only_where_the_dialect_allows_it(
    dialect: Dialect, offered: int
) -> None:
    field = Field("content_filters", "Custom filters", kind="filters", dialect=dialect)
    given = [{"pattern": "secret", "action": "block"}]
    async with Desk(one(field, content_filters=given)) as desk:
        await opened(desk, "content_filters")
        assert desk.shown().count("○ flag") == offered
        assert "○ redact" in desk.shown()


async def test_custom_filters_are_added_changed_removed_and_tried() -> None:
    given = [{"pattern": "secret", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        await desk.press("tab", "ctrl+n")
        await until(desk.pilot, lambda: desk.app.screen is not desk.form, "the form of a filter")
        await desk.press(*"[A-Z]{2}[0-9]+", "tab", "r", "tab", *"[ID]", "tab", *"see AB12")
        assert "REDACTED by filter 2" in desk.shown()
        assert "see «redact 2: AB12 → [ID]»" in desk.shown()
        await desk.press(*" secret")
        assert "BLOCKED by filter 1" in desk.shown()
        assert "«block 1: secret»" in desk.shown()
        await desk.press("ctrl+s")
        await desk.back()
        assert " 1 block   secret" in desk.shown()
        assert " 2 redact  [A-Z]{2}[0-9]+ → [ID]" in desk.shown()
        await desk.press("up", "D")
        assert (await desk.send())["content_filters"] == [
            {"pattern": "[A-Z]{2}[0-9]+", "action": "redact", "label": "[ID]"}
        ]


async def test_arrows_lead_through_the_filters_and_out_of_them() -> None:
    given = [{"pattern": "a", "action": "block"}, {"pattern": "b", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        editor = desk.form.query_one(FiltersEditor)
        await desk.press("down")
        assert editor.has_focus
        await desk.press("down", "down")
        assert editor.has_focus, "on the line that adds one"
        await desk.press("down")
        assert desk.form.focused is desk.form.query_one("#submit")
        await desk.press("up", "up", "up", "up")
        assert desk.form.focused is desk.form.query_one("#field-name", FieldRow).editor


async def test_the_sample_is_kept_while_the_form_is_open() -> None:
    async with Desk(one(CUSTOM, content_filters=None)) as desk:
        screen = await opened(desk, "content_filters")
        await desk.press("tab", "tab", "tab", *"abc", "escape")
        await until(desk.pilot, lambda: desk.app.screen is not screen, "the question")
        await desk.press("y")
        await desk.back()
        await opened(desk, "content_filters")
        await desk.press("b", "tab", "r")
        assert "REDACTED by filter 1" in desk.shown()


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("(", "is not a valid regular expression"),
        ("(a+)+", "must not repeat a repetition"),
        ("(?=a)b", "must not look ahead or behind"),
    ],
)
async def test_what_is_wrong_with_a_pattern_is_said_while_it_is_typed(typed: str, why: str) -> None:
    async with Desk(one(CUSTOM, content_filters=None)) as desk:
        screen = await opened(desk, "content_filters")
        await desk.press(*typed)
        assert f"… {why}" in desk.shown()
        await desk.press("ctrl+s")
        assert f"✗ {why}" in desk.shown()
        assert desk.app.screen is screen, "it is not taken over"


async def test_the_blanks_of_a_pattern_are_kept() -> None:
    async with Desk(one(CUSTOM, content_filters=None)) as desk:
        await opened(desk, "content_filters")
        await desk.press(*" a ", "ctrl+s")
        await desk.back()
        assert desk.form.state.typed("content_filters") == (CustomRow(" a ", "block"),)


async def test_a_pattern_that_takes_for_ever_holds_nothing_up() -> None:
    given = [{"pattern": r"\w*\w*\w*\w*\w*\w*[xyz]\W", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        await opened(desk, "content_filters")
        await desk.press("tab", "tab", "tab")
        await desk.paste("a" * 1500)
        begun = time.monotonic()
        await desk.press(*" still typing")
        assert time.monotonic() - begun < 2, "a slow pattern is tried once"
        assert "filter 1 took longer than" in desk.shown()


async def test_a_filter_that_matches_nothing_is_warned_of() -> None:
    given = [{"pattern": "x*", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        await opened(desk, "content_filters")
        await desk.press("tab", "tab", "tab", *"abc")
        assert "filter 1 matches the empty text" in desk.shown()


async def test_a_refused_filter_is_said_beside_the_list() -> None:
    message = "content_filters.1.pattern: is too slow for this gateway"
    refused = Refused(errors.BadRequestError(message, status=400))
    given = [{"pattern": "a", "action": "block"}, {"pattern": "b", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given), refused, MADE) as desk:
        await desk.press(*"x", "ctrl+s")
        why = "✗ filter 2, pattern: is too slow for this gateway"
        await until(desk.pilot, lambda: why in desk.shown(), "the refusal")
        assert desk.form.query_one(FiltersEditor).has_focus
        await desk.press("down", "D")
        assert "too slow" not in desk.shown()


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_filters_are_only_texts(text: str) -> None:
    given = [{"pattern": text, "action": text, "label": text}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await opened(desk, "content_filters")
        assert not screen.unsaved
        await desk.press("tab", "tab", "tab", *"abc")
        assert not set("\x1b\u202e") & set(desk.shown())
        assert desk.form.state.typed("content_filters") == (CustomRow(text, text, text),)
