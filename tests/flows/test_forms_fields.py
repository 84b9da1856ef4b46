"""Every further kind of field, filled in with keys at 80x24, as forms are at their narrowest."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import SecretStr
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from form_kit import HostApp, ScriptedSubmit, form, shown, until
from gwtui.actions.plan import Applied, Refused
from gwtui.client import errors
from gwtui.contract.byok import CreateByokRequest
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.ui.forms.builtin_filters import BuiltinsScreen
from gwtui.ui.forms.custom_filters import FiltersScreen
from gwtui.ui.forms.editors import ChoiceEditor, TickEditor
from gwtui.ui.forms.fields import (
    CustomFilterField,
    FieldGroup,
    FilterListField,
    FormField,
    FormSpec,
    IntegerListField,
    ModelField,
    MultiPickField,
    PercentField,
    PickOption,
    SecretField,
    TextAreaField,
    ThreeWayField,
)
from gwtui.ui.forms.filter_rows import BuiltinRow, CustomRow
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.model_field import FindScreen, ModelEditor
from gwtui.ui.forms.pattern_tester import PatternTester
from gwtui.ui.forms.pick import PickScreen
from gwtui.ui.forms.progress import ProgressLine
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret_field import SecretEditor
from gwtui.ui.forms.text_area import LinesEditor
from gwtui.ui.screens.ask import AskScreen

SIZE = (80, 24)
MADE = Applied("made")
HOSTILE = ["[/", "[red]x[/red]", "\x1b[2Jgone", "a\u202eb", "x\ny", "[@click=app.quit]q[/]"]
SECRET = "sk-provider-0123456789abcdef"


async def models() -> Sequence[PickOption]:
    return [PickOption(f"vendor-{n % 9}/model-{n}", note=f"Model {n}") for n in range(400)]


async def refuse() -> Sequence[PickOption]:
    raise errors.ServerError("the catalog is away", status=500)


def one(field: FormField, **initial: Any) -> FormSpec:
    """An update of a guardrail with one field."""
    given = {"name": "g", **initial}
    fields = (FormField("name", "Name", "text"), field)
    return FormSpec("Edit", UpdateGuardrailRequest, fields, "Save", initial=given, partial=True)


class Desk:
    """A form at 80x24, and what it sent."""

    def __init__(self, spec: FormSpec, *outcomes: Any) -> None:
        self.submit = ScriptedSubmit(*(outcomes or (MADE,)))
        self.form: FormScreen[Any] = form(self.submit, spec)
        self.app = HostApp(self.form)
        self.pilot: Pilot[None]

    async def __aenter__(self) -> Desk:
        self._running = self.app.run_test(size=SIZE)
        self.pilot = await self._running.__aenter__()
        await self.pilot.pause()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._running.__aexit__(*error)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def paste(self, text: str) -> None:
        assert self.app.screen.focused is not None
        self.app.screen.focused.post_message(events.Paste(text))
        await self.pilot.pause()

    async def open(self, name: str, kind: type[Any]) -> Any:
        self.form.query_one(f"#field-{name}", FieldRow).editor.focus()
        await self.pilot.press("enter")
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def back(self) -> None:
        await until(self.pilot, lambda: self.app.screen is self.form, "the form")

    async def send(self) -> dict[str, Any]:
        await self.press("ctrl+s")
        await until(self.pilot, lambda: self.submit.bodies, "the request")
        return self.submit.bodies[-1]

    def shown(self) -> str:
        return shown(self.app)


PICK = MultiPickField(
    "allowed_models", "Models", choices=models, empty="all models", noun="models", free=True
)

# Picks -----------------------------------------------------------------------------------------


async def test_picking_by_search_keeps_what_is_unknown() -> None:
    async with Desk(one(PICK, allowed_models=["gone/model", "vendor-7/model-7"])) as desk:
        await until(desk.pilot, lambda: "gone/model is unknown" in desk.shown(), "the hint")
        await desk.open("allowed_models", PickScreen)
        lines = desk.shown()
        assert "( ) all models" in lines
        assert "[x] gone/model" in lines
        assert "unknown: not in the list" in lines
        assert "only these: 2 chosen" in lines
        await desk.press(*"model39")
        assert "11 of 400 models" in desk.shown(), "39 and 390 to 399"
        await desk.press("space", "down", "space")
        assert "[x] vendor-3/model-39" in desk.shown()
        assert "only these: 4 chosen" in desk.shown()
        await desk.press("enter")
        await desk.back()
        assert (await desk.send())["allowed_models"] == [
            "gone/model",
            "vendor-7/model-7",
            "vendor-3/model-39",
            "vendor-3/model-390",
        ]


async def test_what_is_chosen_comes_first_and_does_not_jump_while_ticking() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-0/model-99"])) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        rows = screen.rows.text.splitlines()
        assert rows[1].startswith("[x] vendor-0/model-99")
        await desk.press("down", "down", "down", "space")
        assert screen.rows.text.splitlines()[3].startswith("[x] vendor-1/model-1"), "stays put"


async def test_no_restriction_is_a_choice_of_its_own() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-1/model-1"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await desk.press("space")
        assert "(●) all models" in desk.shown()
        assert "[x]" not in desk.shown()
        await desk.press("enter")
        await desk.back()
        assert "▾ all models" in desk.shown()
        assert (await desk.send()) == {"allowed_models": None}


async def test_an_empty_list_is_refused_by_the_model_and_said_so() -> None:
    async with Desk(one(PICK, allowed_models=["vendor-1/model-1"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await desk.press("down", "space", "enter")
        await desk.back()
        assert "only these: none" in desk.shown()
        await desk.press("ctrl+s")
        assert "✗ must have at least 1 entry" in desk.shown()
        assert desk.submit.bodies == []


async def test_what_the_list_lacks_can_be_added_where_that_is_free() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        await desk.press(*"new/one")
        assert "add it as it is typed" in desk.shown()
        await desk.press("space", "enter")
        await desk.back()
        assert (await desk.send()) == {"allowed_models": ["new/one"]}


async def test_leaving_a_change_asks_and_escape_first_ends_the_search() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        assert not screen.unsaved
        await desk.press("down", "space", "x", "escape")
        assert desk.app.screen is screen
        assert screen.sought == ""
        assert screen.unsaved
        await desk.press("escape")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, AskScreen), "the question")
        await desk.press("y")
        await desk.back()
        assert desk.form.state.typed("allowed_models") is None
        assert not desk.form.state.changed


async def test_a_list_that_cannot_be_read_leaves_the_value_and_can_be_asked_again() -> None:
    asked = 0

    async def at_last() -> Sequence[PickOption]:
        nonlocal asked
        asked += 1
        return await (refuse() if asked < 3 else models())

    field = MultiPickField("allowed_models", "Models", choices=at_last, noun="models")
    async with Desk(one(field, allowed_models=["a/b"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "the catalog is away" in desk.shown(), "the refusal")
        assert "[x] a/b" in desk.shown()
        assert "unknown" not in desk.shown(), "nobody knows that while the list is missing"
        await desk.press("f5")
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_options_are_only_texts(text: str) -> None:
    async def options() -> Sequence[PickOption]:
        return [PickOption(text)]

    field = MultiPickField("allowed_models", "Models", choices=options, noun="models")
    async with Desk(one(field, allowed_models=[text, f"{text}2"])) as desk:
        await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "1 models" in desk.shown(), "the list")
        drawn = desk.shown()
        assert not set("\x1b\u202e") & set(drawn)
        assert drawn.count("[x] ") == 2
        await desk.press("down", "space", "space", "enter")
        await desk.back()
        assert not set("\x1b\u202e") & set(desk.shown())
        assert desk.form.state.value("allowed_models") == [f"{text}2", text]


async def test_hundreds_of_entries_are_gone_through_by_pages() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        await desk.press("pagedown", "pagedown")
        assert screen.rows.current > 20
        await desk.press("end")
        assert "model-399" in desk.shown()
        await desk.press("home")
        assert "all models" in desk.shown()


async def test_a_click_ticks() -> None:
    async with Desk(one(PICK, allowed_models=None)) as desk:
        screen = await desk.open("allowed_models", PickScreen)
        await until(desk.pilot, lambda: "400 models" in desk.shown(), "the list")
        await desk.pilot.click("#rows", offset=(2, 3))
        assert screen.result() == ("vendor-2/model-2",)


# Identifiers with completion -------------------------------------------------------------------

MODEL = FormSpec(
    "New workspace",
    CreateWorkspaceRequest,
    (
        ModelField("default_text_model", "Text model", choices=models),
        FormField("name", "Name", "text"),
    ),
    "Create",
    initial={"slug": "s"},
)


async def test_an_identifier_is_completed_with_the_right_arrow() -> None:
    async with Desk(MODEL) as desk:
        editor = desk.form.query_one(ModelEditor)
        await until(desk.pilot, lambda: editor.offer.loaded, "the list")
        await desk.press(*"VENDOR-3/model-1")
        await desk.press("right")
        assert editor.value == "VENDOR-3/model-12"
        assert "not in the list" in desk.shown(), "letters count: this one is not known"
        await desk.press("ctrl+u", *"vendor-3/model-1", "right")
        assert editor.value == "vendor-3/model-12"
        await until(desk.pilot, lambda: "Model 12" in desk.shown(), "what it is")


async def test_an_identifier_can_be_found_in_the_list() -> None:
    async with Desk(MODEL) as desk:
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, FindScreen), "the list")
        await until(desk.pilot, lambda: "400 to choose from" in desk.shown(), "the options")
        await desk.press(*"399", "enter")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"
        await desk.press("ctrl+o")
        await until(desk.pilot, lambda: isinstance(desk.app.screen, FindScreen), "the list")
        await desk.press("down", "escape")
        await desk.back()
        assert desk.form.state.typed("default_text_model") == "vendor-3/model-399"


async def test_any_identifier_can_be_typed() -> None:
    async with Desk(MODEL) as desk:
        await desk.press(*"my/own")
        await until(desk.pilot, lambda: "sent as it is typed" in desk.shown(), "the hint")
        assert desk.form.state.value("default_text_model") == "my/own"


# Secrets ---------------------------------------------------------------------------------------

CREDENTIAL = FormSpec(
    "New credential",
    CreateByokRequest,
    (FormField("provider", "Provider", "text"), SecretField("key", "Key", placeholder="paste it")),
    "Store",
)


async def test_a_secret_is_masked_and_leaves_no_trace_beside_the_request() -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press(*"vendor", "tab")
        await desk.paste(f" {SECRET}\n")
        assert "••••" in desk.shown()
        assert f"{len(SECRET)} characters, hidden" in desk.shown()
        for part in (SECRET, SECRET[:6], SECRET[-4:]):
            assert part not in desk.shown()
            assert part not in desk.app.export_screenshot()
        editor = desk.form.query_one(SecretEditor)
        await desk.press("ctrl+c", "ctrl+x", "ctrl+v")
        assert desk.app.clipboard == ""
        assert SECRET not in repr((editor, vars(editor), desk.form.state._typed))
        assert not editor.allow_select
        assert desk.form.unsaved
        for field in desk.form.query(Input):
            assert SECRET not in field.value
        assert (await desk.send()) == {"provider": "vendor", "key": "••••••••"}
    assert editor._secret.get_secret_value() == "", "wiped with the form"


async def test_a_secret_is_typed_rubbed_out_and_cleared() -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press("tab", *"abc ", "backspace", "backspace")
        assert desk.form.state.value("key") == SecretStr("ab")
        await desk.press("ctrl+u")
        assert "paste it" in desk.shown()
        assert not desk.form.state.changed


@pytest.mark.parametrize(
    ("pasted", "word"),
    [("two words", "blank"), ("a\x1b[2Jb", "control"), ("schl\u00fcssel", "ASCII")],
)
async def test_what_looks_wrong_with_a_secret_is_said_without_showing_it(
    pasted: str, word: str
) -> None:
    async with Desk(CREDENTIAL) as desk:
        await desk.press("tab")
        await desk.paste(pasted)
        assert word in desk.shown()
        assert pasted not in desk.shown()


async def test_a_refused_secret_needs_not_be_typed_again() -> None:
    refused = Refused(errors.BadRequestError("provider: is unknown", status=400))
    async with Desk(CREDENTIAL, refused, MADE) as desk:
        await desk.press(*"vendr", "tab")
        await desk.paste(SECRET)
        await desk.press("ctrl+s")
        await until(desk.pilot, lambda: "is unknown" in desk.shown(), "the refusal")
        assert desk.form.state.value("key") == SecretStr(SECRET)


# Texts, switches, numbers ----------------------------------------------------------------------

LONG = FormSpec(
    "New workspace",
    CreateWorkspaceRequest,
    (
        FieldGroup(
            "Basics",
            (
                FormField("name", "Name", "text"),
                FormField(
                    "slug", "Slug", "text", suggest=lambda values: values.get("name", "").lower()
                ),
                TextAreaField("description", "Description"),
            ),
        ),
        FieldGroup(
            "Models",
            (
                ModelField("default_text_model", "Text model", choices=models),
                ModelField("default_image_model", "Image model", choices=models),
                FormField("default_provider_sort", "Provider order", "choice"),
            ),
        ),
        FieldGroup(
            "Logging",
            (
                FormField("is_observability_io_logging_enabled", "Log", "switch"),
                PercentField("io_logging_sampling_rate", "Sampling rate"),
                IntegerListField("io_logging_api_key_ids", "Key ids", empty="every key"),
            ),
        ),
    ),
    "Create workspace",
)


def in_sight(desk: Desk) -> bool:
    """Whether the field with the keys is on the screen with its note."""
    focused = desk.form.focused
    assert focused is not None
    (row,) = [node for node in focused.ancestors_with_self if isinstance(node, FieldRow)]
    return desk.form.query_one("#form-fields").region.contains_region(row.region)


async def test_every_field_of_a_long_form_is_in_sight_when_it_has_the_keys() -> None:
    async with Desk(LONG) as desk:
        fields = list(LONG.every_field())
        for field in fields:
            await until(desk.pilot, lambda: in_sight(desk), f"{field.name} in sight")
            assert field.label in desk.shown()
            assert "Create workspace" in desk.shown()
            await desk.press("tab")
        await desk.press(*["shift+tab"] * len(fields))
        assert in_sight(desk)
        assert "Basics" in desk.shown()


async def test_a_text_of_several_lines() -> None:
    async with Desk(LONG) as desk:
        await desk.press(*"W", "tab", "tab")
        assert isinstance(desk.form.focused, LinesEditor)
        await desk.press(*"one", "enter", *"two")
        assert "7/500" in desk.shown()
        assert desk.form.state.value("description") == "one\ntwo"
        await desk.press("up")
        assert isinstance(desk.form.focused, LinesEditor), "from the second line to the first"
        await desk.press("up")
        assert desk.form.focused is desk.form.query_one("#field-slug", FieldRow).editor
        await desk.press("down", "down", "down")
        assert (
            desk.form.focused is desk.form.query_one("#field-default_text_model", FieldRow).editor
        )


async def test_the_parts_of_a_long_form_are_gone_through_by_pages() -> None:
    async with Desk(LONG) as desk:
        progress = desk.form.query_one(ProgressLine)
        assert progress.text.startswith("1/3  ▸Basics …2  Models  Logging")
        await desk.press(*"Web", "tab", "tab", "pagedown")
        assert progress.text.startswith("2/3  Basics •2  ▸Models  Logging")
        await desk.press("pagedown", "down", *"7", "tab")
        assert progress.text.startswith("3/3  Basics •2  Models  ▸Logging ✗1")
        await desk.press("pagedown")
        assert progress.text.startswith("3/3"), "there is no fourth"
        await desk.press("pageup", "pageup")
        assert desk.form.focused is desk.form.query_one("#field-name", FieldRow).editor
        await desk.pilot.click(ProgressLine, offset=(progress.text.index("Logging") + 1, 0))
        assert progress.text.startswith("3/3")


async def test_a_slug_is_suggested_while_the_name_is_typed_fast() -> None:
    async with Desk(LONG) as desk:
        for letter in "Production":
            desk.app.simulate_key(letter)
        slug = desk.form.query_one("#field-slug", FieldRow).editor
        await until(desk.pilot, lambda: slug.value == "production", "the slug")  # type: ignore[attr-defined]
        assert "slug" not in desk.form.state._touched
        assert (await desk.send())["slug"] == "production"


async def test_a_long_form_sends_what_was_filled_in() -> None:
    async with Desk(LONG) as desk:
        await desk.press(*"W", "pagedown", "pagedown", "space", "tab", *"25 %", "tab", *"3, 4")
        body = await desk.send()
        assert body["io_logging_sampling_rate"] == 0.25
        assert body["io_logging_api_key_ids"] == [3, 4]
        assert body["is_observability_io_logging_enabled"] is True


async def test_a_switch_with_three_values_says_its_state_in_words_and_signs() -> None:
    field = ThreeWayField("enforce_zdr_vendor_a", "vendor A")
    async with Desk(one(field, enforce_zdr_vendor_a=None)) as desk:
        assert "● inherit  ○ on  ○ off" in desk.shown()
        await desk.press("tab", "right")
        assert "○ inherit  ● on  ○ off" in desk.shown()
        await desk.press("o")
        assert "○ inherit  ○ on  ● off" in desk.shown()
        assert (await desk.send()) == {"enforce_zdr_vendor_a": False}


async def test_a_switch_that_nobody_told_is_called_unknown() -> None:
    async with Desk(one(ThreeWayField("enforce_zdr_vendor_a", "vendor A"))) as desk:
        assert "● unknown  ○ inherit  ○ on  ○ off" in desk.shown()
        await desk.press("tab", "right")
        assert (await desk.send()) == {"enforce_zdr_vendor_a": None}


async def test_choices_that_do_not_fit_go_on_to_the_next_line() -> None:
    words = [f"choice-{number}" for number in range(9)]

    async with Desk(LONG) as desk:
        editor = ChoiceEditor([(word, word) for word in words], "choice-8")
        await desk.form.query_one("#form-fields").mount(editor, before=0)
        await desk.pilot.pause()
        assert all(word in desk.shown() for word in words)
        assert editor.size.height == 2
        await desk.pilot.click(ChoiceEditor, offset=(3, 1))
        assert editor.value == "choice-6"


async def test_a_tick_box_tells_its_state_by_sign() -> None:
    async with Desk(LONG) as desk:
        tick = TickEditor("I have read it")
        await desk.form.query_one("#form-fields").mount(tick, before=0)
        tick.focus()
        await desk.press("i", "r")
        assert "[ ] I have read it" in desk.shown(), "letters tick nothing"
        await desk.press("space")
        assert "[x] I have read it" in desk.shown()
        await desk.pilot.click(TickEditor)
        assert tick.value is False


# Filters ---------------------------------------------------------------------------------------

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
        await desk.press("ctrl+n", "b", "tab", "f")
        await outcome(desk, "FLAGGED by filter 1")


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
        await desk.open("content_filters", FiltersScreen)
        await desk.press("enter", *typed)
        assert f"✗ {why}" in desk.shown()
        await desk.press("ctrl+s")
        await desk.back()
        problem = desk.form.state.problem("content_filters")
        assert problem is not None
        assert problem.text.startswith(f"filter 1, pattern: {why}")
        assert "… filter 1, pattern: " in desk.shown()
        await desk.press("ctrl+s")
        assert desk.submit.bodies == []


async def test_a_pattern_that_takes_for_ever_holds_nothing_up() -> None:
    given = [{"pattern": r"\w*\w*\w*\w*\w*\w*x", "action": "block"}]
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
        rows = screen.query_one("#filter-rows").text
        assert not set("\x1b\u202e") & set(rows)
