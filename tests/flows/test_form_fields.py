"""Form fields at 80x24: long forms in parts, texts, secrets, built-in and custom filters."""

from __future__ import annotations

import time
from typing import Any

import pytest
from narrow_form_kit import SECRET, guardrail_form, models
from pydantic import SecretStr

from form_kit import CREATED, FormHarness, until
from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.crud.fields import Field
from gwtui.crud.form import BuiltinRow, CustomRow, FormSpec
from gwtui.crud.plan import Refused
from gwtui.ui.forms.content_filters import FiltersEditor
from gwtui.ui.forms.field_editors import ChoiceEditor, LinesEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretEditor

LONG = FormSpec(
    "New workspace",
    CreateWorkspaceRequest,
    (
        Field("name", "Name", kind="text", group="Basics"),
        Field(
            "slug",
            "Slug",
            kind="text",
            suggest=lambda values: values.get("name", "").lower(),
            group="Basics",
        ),
        Field("description", "Description", kind="lines", group="Basics"),
        Field("default_text_model", "Text model", kind="model", choices=models, group="Models"),
        Field("default_image_model", "Image model", kind="model", choices=models, group="Models"),
        Field("default_provider_sort", "Provider order", kind="choice", group="Models"),
        Field("is_observability_io_logging_enabled", "Log", kind="switch", group="Logging"),
        Field("io_logging_sampling_rate", "Sampling rate", kind="percent", group="Logging"),
        Field(
            "io_logging_api_key_ids", "Key ids", kind="integers", empty="every key", group="Logging"
        ),
    ),
    "Create workspace",
)


def in_sight(desk: FormHarness) -> bool:
    """Whether the focused field and its note are visible."""
    focused = desk.form.focused
    assert focused is not None
    (row,) = [node for node in focused.ancestors_with_self if isinstance(node, FieldRow)]
    return desk.form.query_one("#form-fields").region.contains_region(row.region)


async def test_the_focused_field_of_a_long_form_is_visible() -> None:
    async with FormHarness(LONG) as desk:
        fields = list(LONG.fields)
        for field in fields:
            await until(desk.pilot, lambda: in_sight(desk), f"{field.name} in sight")
            assert field.label in desk.screen_text()
            assert "Create workspace" in desk.screen_text()
            await desk.press("tab")
        await desk.press(*["shift+tab"] * len(fields))
        assert in_sight(desk)
        assert "Basics" in desk.screen_text()


async def test_a_multiline_field_takes_enter_and_arrow_keys() -> None:
    async with FormHarness(LONG) as desk:
        await desk.press(*"W", "tab", "tab")
        assert isinstance(desk.form.focused, LinesEditor)
        await desk.press(*"one", "enter", *"two")
        assert desk.form.state.value("description") == "one\ntwo"
        await desk.press("up")
        assert isinstance(desk.form.focused, LinesEditor), "from the second line to the first"
        await desk.press("up")
        assert desk.form.focused is desk.form.query_one("#field-slug", FieldRow).editor
        await desk.press("down", "down", "down")
        assert (
            desk.form.focused is desk.form.query_one("#field-default_text_model", FieldRow).editor
        )


async def test_choices_wrap_to_the_next_line() -> None:
    words = [f"choice-{number}" for number in range(9)]

    async with FormHarness(LONG) as desk:
        editor = ChoiceEditor([(word, word) for word in words], "choice-8")
        await desk.form.query_one("#form-fields").mount(editor, before=0)
        await desk.pilot.pause()
        assert all(word in desk.screen_text() for word in words)
        assert editor.size.height == 2
        await desk.pilot.click(ChoiceEditor, offset=(3, 1))
        assert editor.value == "choice-6"


# Secrets ------------------------------------------------------------------------------------------


CREDENTIAL = FormSpec(
    "New credential",
    CreateByokRequest,
    (
        Field("provider", "Provider", kind="text"),
        Field("key", "Key", kind="secret", placeholder="paste it"),
    ),
    "Store",
)


async def test_a_secret_is_masked_and_only_in_the_request() -> None:
    async with FormHarness(CREDENTIAL) as desk:
        await desk.press(*"vendor", "tab")
        await desk.paste(f" {SECRET}\n")
        assert "••••" in desk.screen_text()
        assert f"{len(SECRET)} characters, hidden" in desk.screen_text()
        for part in (SECRET, SECRET[:6], SECRET[-4:]):
            assert part not in desk.screen_text()
            assert part not in desk.app.export_screenshot()
        editor = desk.form.query_one(SecretEditor)
        await desk.press("ctrl+c", "ctrl+x", "ctrl+v")
        assert desk.app.clipboard == ""
        assert SECRET not in repr((editor, desk.form.state._typed))
        assert not editor.allow_select
        assert desk.form.unsaved
        assert (await desk.send()) == {"provider": "vendor", "key": "••••••••"}
    assert editor.value == "", "wiped with the form"


async def test_a_secret_is_typed_deleted_and_cleared() -> None:
    async with FormHarness(CREDENTIAL) as desk:
        await desk.press("tab", *"abc ", "backspace", "backspace")
        assert desk.form.state.value("key") == SecretStr("ab")
        await desk.press("ctrl+u")
        assert "paste it" in desk.screen_text()
        assert not desk.form.state.changed


@pytest.mark.parametrize("pasted", ["two words", "a\x1b[2Jb", "schl\u00fcssel"])
async def test_secret_errors_do_not_show_the_secret(pasted: str) -> None:
    async with FormHarness(CREDENTIAL) as desk:
        await desk.press("tab")
        await desk.paste(pasted)
        assert "another invalid character" in desk.screen_text()
        assert pasted not in desk.screen_text()


# Filters ------------------------------------------------------------------------------------------


BUILTINS = Field("content_filter_builtins", "Built-in filters", kind="builtins")

CUSTOM = Field("content_filters", "Custom filters", kind="filters")


async def opened(desk: FormHarness, field: str) -> FormScreen[Any]:
    """The form that the editor of a field opens."""
    desk.form.query_one(f"#field-{field}", FieldRow).editor.focus()
    await desk.pilot.press("enter")
    await until(desk.pilot, lambda: desk.app.screen is not desk.form, "the form of a part")
    assert isinstance(desk.app.screen, FormScreen)
    return desk.app.screen


async def test_builtin_filters_offer_the_actions_of_the_dialect() -> None:
    async with FormHarness(guardrail_form(BUILTINS, content_filter_builtins=None)) as desk:
        await opened(desk, "content_filter_builtins")
        lines = desk.screen_text().splitlines()
        (email,) = [line for line in lines if " email " in line]
        (injection,) = [line for line in lines if "prompt-injection" in line]
        assert "flag" not in email
        assert "redact as [EMAIL]" in email
        assert "○ flag" in injection
        assert "Ctrl+S done" in desk.terminal_text()
        await desk.press("r", *["down"] * 7, "f", "down", "right", "ctrl+s")
        await desk.back()
        assert "email redact, regex-prompt-injection flag" in desk.screen_text()
        assert (await desk.send())["content_filter_builtins"] == [
            {"slug": "email", "action": "redact"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ]


async def test_unknown_and_disallowed_builtin_filters_are_kept_and_marked() -> None:
    filters = [
        {"slug": "iban", "action": "shred"},
        {"slug": "email", "action": "flag"},
        {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": None},
    ]
    async with FormHarness(guardrail_form(BUILTINS, content_filter_builtins=filters)) as desk:
        screen = await opened(desk, "content_filter_builtins")
        assert "● flag (not allowed here)" in desk.screen_text()
        assert "unknown to this version of gwtui; kept" in desk.screen_text()
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
        assert "“iban”: must be one of" in " ".join(desk.screen_text().split())


async def test_custom_filters_are_added_tested_and_removed() -> None:
    filters = [{"pattern": "secret", "action": "block"}]
    async with FormHarness(guardrail_form(CUSTOM, content_filters=filters)) as desk:
        await desk.press("tab", "ctrl+n")
        await until(desk.pilot, lambda: desk.app.screen is not desk.form, "the form of a filter")
        await desk.press(*"[A-Z]{2}[0-9]+", "tab", "r", "tab", *"[ID]", "tab", *"see AB12")
        assert "matches “AB12”" in desk.screen_text()
        await desk.press("ctrl+s")
        await desk.back()
        assert " 1 block   secret" in desk.screen_text()
        assert " 2 redact  [A-Z]{2}[0-9]+ → [ID]" in desk.screen_text()
        await desk.press("up", "D")
        assert (await desk.send())["content_filters"] == [
            {"pattern": "[A-Z]{2}[0-9]+", "action": "redact", "label": "[ID]"}
        ]


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("(", "is not a valid regular expression"),
        ("(a+)+", "must not repeat a repetition"),
        ("(?=a)b", "must not look ahead or behind"),
    ],
)
async def test_pattern_errors_show_while_typing(typed: str, reason: str) -> None:
    async with FormHarness(guardrail_form(CUSTOM, content_filters=None)) as desk:
        screen = await opened(desk, "content_filters")
        await desk.press(*typed)
        assert f"… {reason}" in desk.screen_text()
        await desk.press("ctrl+s")
        assert f"✗ {reason}" in desk.screen_text()
        assert desk.app.screen is screen, "the invalid pattern is not saved"


async def test_whitespace_in_a_pattern_is_kept() -> None:
    async with FormHarness(guardrail_form(CUSTOM, content_filters=None)) as desk:
        await opened(desk, "content_filters")
        await desk.press(*" a ", "ctrl+s")
        await desk.back()
        assert desk.form.state.typed("content_filters") == (CustomRow(" a ", "block"),)


@pytest.mark.parametrize(
    ("pattern", "sample", "hint"),
    [
        ("x*", "abc", "matches the empty text"),
        (r"\w*\w*\w*\w*\w*\w*[xyz]\W", "a" * 1500, "takes longer than"),
    ],
)
async def test_a_bad_pattern_warns_without_blocking_input(
    pattern: str, sample: str, hint: str
) -> None:
    filters = [{"pattern": pattern, "action": "block"}]
    async with FormHarness(guardrail_form(CUSTOM, content_filters=filters)) as desk:
        await opened(desk, "content_filters")
        await desk.press("tab", "tab", "tab")
        await desk.paste(sample)
        started = time.monotonic()
        await desk.press(*" still typing")
        assert time.monotonic() - started < 2, "a slow pattern is tried once"
        assert hint in desk.screen_text()


async def test_a_refused_filter_is_reported_at_its_field() -> None:
    message = "content_filters.1.pattern: is too slow for this gateway"
    refused = Refused(errors.BadRequestError(message, status=400))
    filters = [{"pattern": "a", "action": "block"}, {"pattern": "b", "action": "block"}]
    async with FormHarness(
        guardrail_form(CUSTOM, content_filters=filters), refused, CREATED
    ) as desk:
        await desk.press(*"x", "ctrl+s")
        reason = "✗ filter 2, pattern: is too slow for this gateway"
        await until(desk.pilot, lambda: reason in desk.screen_text(), "the refusal")
        assert desk.form.query_one(FiltersEditor).has_focus
        await desk.press("down", "D")
        assert "too slow" not in desk.screen_text()
