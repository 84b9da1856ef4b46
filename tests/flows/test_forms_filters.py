"""Builtin and custom filters, filled in with keys at 80x24."""

from __future__ import annotations

import gc

import pytest
from narrow_form_kit import HOSTILE, MADE, Desk, one
from textual.widgets import OptionList

from form_kit import until
from gwtui.client import errors
from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.crud.form import BuiltinRow, CustomFilterField, CustomRow, FilterListField
from gwtui.crud.plan import Refused
from gwtui.ui.forms.content_filters import BuiltinsScreen, FiltersScreen
from gwtui.ui.forms.field_editors import LinesEditor
from gwtui.ui.forms.pattern_tester import PatternTester

BUILTINS = FilterListField("content_filter_builtins", "Builtin filters")

CUSTOM = CustomFilterField("content_filters", "Custom filters")


async def test_builtin_filters_offer_only_what_the_dialect_allows() -> None:
    async with Desk(one(BUILTINS, content_filter_builtins=None)) as desk:
        await desk.open("content_filter_builtins", BuiltinsScreen)
        lines = desk.shown().splitlines()
        (email,) = [line for line in lines if " email " in line]
        (injection,) = [line for line in lines if "regex-prompt-injection" in line]
        assert "flag" not in email
        assert "[EMAIL]" in email
        assert "○ flag" in injection
        assert "Done" in desk.shown()
        await desk.press("r", *["down"] * 7, "f", "down", "right", "ctrl+s")
        await desk.back()
        assert "email redact, regex-prompt-injection flag" in desk.shown()
        assert (await desk.send())["content_filter_builtins"] == [
            {"slug": "email", "action": "redact"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ]


async def test_the_other_dialect_lets_every_filter_flag() -> None:
    field = FilterListField("content_filter_builtins", "Builtin filters", dialect=OPENROUTER)
    async with Desk(one(field, content_filter_builtins=None)) as desk:
        await desk.open("content_filter_builtins", BuiltinsScreen)
        assert desk.shown().count("○ flag") == 9


async def test_builtin_filters_that_are_unknown_or_not_allowed_here_are_kept_and_said() -> None:
    given = [
        {"slug": "iban", "action": "shred"},
        {"slug": "email", "action": "flag"},
        {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": None},
    ]
    async with Desk(one(BUILTINS, content_filter_builtins=given)) as desk:
        screen = await desk.open("content_filter_builtins", BuiltinsScreen)
        assert "● flag (not allowed here)" in desk.shown()
        assert "unknown; kept" in desk.shown()
        assert not screen.unsaved
        assert screen.result() == (
            BuiltinRow("iban", "shred"),
            BuiltinRow("email", "flag"),
            BuiltinRow("regex-prompt-injection", "flag"),
        )
        await desk.press("left", "ctrl+s")
        await desk.back()
        assert "iban: must be one of" in " ".join(desk.shown().split())


@pytest.mark.parametrize(("dialect", "offered"), [(GENERIC, 0), (OPENROUTER, 1)])
async def test_custom_filters_flag_only_where_the_dialect_allows_it(
    dialect: Dialect, offered: int
) -> None:
    field = CustomFilterField("content_filters", "Custom filters", dialect=dialect)
    given = [{"pattern": "secret", "action": "block"}]
    async with Desk(one(field, content_filters=given)) as desk:
        await desk.open("content_filters", FiltersScreen)
        assert desk.shown().count("○ flag") == offered
        assert "○ redact" in desk.shown()


async def test_a_custom_filter_that_flags_is_kept_and_said_where_it_is_not_allowed() -> None:
    given = [{"pattern": "secret", "action": "flag"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        assert "● flag (not allowed here)" in desk.shown()
        assert screen.result() == (CustomRow("secret", "flag"),)


async def outcome(desk: Desk, words: str) -> str:
    tester = desk.app.screen.query_one(PatternTester)
    await until(desk.pilot, lambda: words in tester.outcome, words)
    return tester.outcome


async def test_custom_filters_are_added_changed_removed_and_tried() -> None:
    given = [{"pattern": "secret", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        assert "1 filter" in desk.shown()
        await desk.press("ctrl+n", *"[A-Z]{2}[0-9]+", "tab", "r", "tab", *"[ID]", "tab")
        await desk.press(*"see AB12")
        said = await outcome(desk, "REDACTED by filter 2")
        assert "see «redact 2: AB12 → [ID]»" in said
        assert "sent on: see [ID]" in said
        await desk.press(*" secret")
        said = await outcome(desk, "BLOCKED by filter 1")
        assert "«block 1: secret»" in said
        assert "sent on" not in said
        assert screen.result() == (
            CustomRow("secret", "block"),
            CustomRow("[A-Z]{2}[0-9]+", "redact", "[ID]"),
        )
        screen.query_one("#filter-rows").focus()
        await desk.press("up", "d")
        assert "BLOCKED" not in await outcome(desk, "REDACTED by filter 1")
        await desk.press("ctrl+s")
        await desk.back()
        assert "▾ 1 redact" in desk.shown()
        assert (await desk.send())["content_filters"] == [
            {"pattern": "[A-Z]{2}[0-9]+", "action": "redact", "label": "[ID]"}
        ]


async def test_the_sample_is_kept_while_the_form_is_open() -> None:
    async with Desk(one(CUSTOM, content_filters=None)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        screen.query_one(LinesEditor).focus()
        await desk.press(*"abc", "escape")
        await desk.back()
        await desk.open("content_filters", FiltersScreen)
        await desk.press("ctrl+n", "b", "tab", "r")
        await outcome(desk, "REDACTED by filter 1")


async def test_what_is_wrong_with_a_pattern_is_said_while_it_is_typed() -> None:
    async with Desk(one(CUSTOM, content_filters=None)) as desk:
        before = ""
        for typed, why in (
            ("(", "is not a valid regular expression"),
            ("(a+)+", "must not repeat a repetition"),
            ("(?=a)b", "must not look ahead or behind"),
        ):
            await desk.open("content_filters", FiltersScreen)
            await desk.press("enter", *["backspace"] * len(before), *typed)
            assert f"✗ {why}" in desk.shown()
            await desk.press("ctrl+s")
            await desk.back()
            problem = desk.form.state.problem("content_filters")
            assert problem is not None
            assert problem.text.startswith(f"filter 1, pattern: {why}")
            sign = "✗" if before else "…"  # once the form was sent it is said plainly
            assert f"{sign} filter 1, pattern: " in desk.shown()
            await desk.press("ctrl+s")
            assert desk.submit.bodies == []
            before = typed


async def test_a_pattern_that_takes_for_ever_holds_nothing_up() -> None:
    given = [{"pattern": r"\w*\w*\w*\w*\w*\w*[xyz]\W", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        screen.query_one(LinesEditor).focus()
        await desk.paste("a" * 1500)
        await desk.press(*" still typing")
        assert "still typing" in desk.shown()
        await outcome(desk, "filter 1 took longer than")
        gc.collect()


async def test_a_filter_that_matches_nothing_is_warned_of() -> None:
    given = [{"pattern": "x*", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        screen.query_one(LinesEditor).focus()
        await desk.press(*"abc")
        await outcome(desk, "filter 1 also matches nothing at all")


async def test_letters_typed_into_the_editor_do_not_act_on_the_list() -> None:
    given = [{"pattern": "a", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        await desk.press("tab", "tab", "d", "n", "tab", *"dn")
        assert screen.result() == (CustomRow("a", "block", "dn"),)


async def test_a_refused_filter_is_shown_in_its_row() -> None:
    message = "content_filters.1.pattern: is too slow for this gateway"
    refused = Refused(errors.BadRequestError(message, status=400))
    given = [{"pattern": "a", "action": "block"}]
    async with Desk(one(CUSTOM, content_filters=given), refused, MADE) as desk:
        await desk.open("content_filters", FiltersScreen)
        await desk.press("ctrl+n", *"b.*", "ctrl+s")
        await desk.back()
        await desk.press("ctrl+s")
        await until(desk.pilot, lambda: "too slow for this gateway" in desk.shown(), "the refusal")
        await desk.open("content_filters", FiltersScreen)
        assert "✗ 2 block" in desk.shown()
        await desk.press("down")
        assert "✗ is too slow for this gateway" in desk.shown()
        await desk.press("enter", "c")
        assert "too slow" not in desk.shown()


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_filters_are_only_texts(text: str) -> None:
    given = [{"pattern": text, "action": text, "label": text}]
    async with Desk(one(CUSTOM, content_filters=given)) as desk:
        screen = await desk.open("content_filters", FiltersScreen)
        assert screen.result() == (CustomRow(text, text, text),), "nothing is lost by looking"
        rows = str(screen.query_one("#filter-rows", OptionList).options[0].prompt)
        assert not set("\x1b\u202e") & set(rows)
