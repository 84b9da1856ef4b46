"""Long forms in parts: texts of several lines, switches, numbers, and finding the way."""

from __future__ import annotations

import pytest
from narrow_form_kit import Desk, models, one

from form_kit import HostApp, ScriptedSubmit, form, until
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest
from gwtui.crud.fields import Field
from gwtui.crud.form import FieldGroup, FormSpec
from gwtui.ui.forms.field_editors import ChoiceEditor, LinesEditor
from gwtui.ui.forms.form_screen import ProgressLine
from gwtui.ui.forms.row import FieldRow
from resizing_kit import counted_layouts
from screen_text import whole

LONG = FormSpec(
    "New workspace",
    CreateWorkspaceRequest,
    (
        FieldGroup(
            "Basics",
            (
                Field("name", "Name", kind="text"),
                Field(
                    "slug",
                    "Slug",
                    kind="text",
                    suggest=lambda values: values.get("name", "").lower(),
                ),
                Field("description", "Description", kind="lines"),
            ),
        ),
        FieldGroup(
            "Models",
            (
                Field("default_text_model", "Text model", kind="model", choices=models),
                Field("default_image_model", "Image model", kind="model", choices=models),
                Field("default_provider_sort", "Provider order", kind="choice"),
            ),
        ),
        FieldGroup(
            "Logging",
            (
                Field("is_observability_io_logging_enabled", "Log", kind="switch"),
                Field("io_logging_sampling_rate", "Sampling rate", kind="percent"),
                Field("io_logging_api_key_ids", "Key ids", kind="integers", empty="every key"),
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


SIZES = [(80, 24), (120, 40), (60, 15), (100, 30)]


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_form_keeps_its_buttons_and_keys_in_sight(size: tuple[int, int]) -> None:
    screen = form(ScriptedSubmit(), LONG)
    app = HostApp(screen)
    async with app.run_test(size=size) as pilot:
        await pilot.press("pagedown", "pagedown")
        await pilot.pause()
        lines = whole(app).splitlines()
        assert lines[-1].startswith(" Ctrl+S sends · Esc cancels · Tab next")
        (row,) = [line for line in lines[:-1] if "Create workspace" in line]
        assert "Cancel" in row
        assert any("Sampling rate" in line for line in lines), "the fields scroll above them"
        await pilot.resize_terminal(*SIZES[size == SIZES[0]])
        await pilot.pause()
        assert any("Create workspace" in line for line in whole(app).splitlines()[:-1])


async def test_the_footer_of_a_form_says_what_the_field_takes() -> None:
    async with Desk(LONG) as desk:
        for field, keys in (
            ("default_text_model", "Ctrl+O lists"),
            ("default_provider_sort", "← → or letters choose"),
            ("description", "Enter starts a new line"),
        ):
            desk.form.query_one(f"#field-{field}", FieldRow).editor.focus()
            await desk.pilot.pause()
            assert f"Tab next · {keys}" in whole(desk.app).splitlines()[-1]


async def test_a_letter_that_gives_a_note_other_words_lays_nothing_out() -> None:
    async with Desk(LONG) as desk:
        row = desk.form.query_one("#field-io_logging_sampling_rate", FieldRow)
        row.editor.focus()
        await desk.pilot.pause()
        await desk.press("1")
        before = row.note
        with counted_layouts() as layouts:
            await desk.press("2")
            assert layouts.count == 0
        assert not row.note.is_same(before)


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


async def test_a_switch_that_nobody_told_is_called_unknown() -> None:
    async with Desk(
        one(
            Field(
                "enforce_zdr_vendor_a",
                "vendor A",
                kind="three_way",
                words=("off", "on"),
                empty="inherit",
            )
        )
    ) as desk:
        assert "● unknown  ○ inherit  ○ on  ○ off" in desk.shown()
        await desk.press("tab", "right")
        assert (await desk.send()) == {"enforce_zdr_vendor_a": None}


def zdr(name: str, label: str) -> Field:
    return Field(name, label, empty="inherit", words=("off", "on"), folded=True)


FOLDED = FormSpec(
    "New guardrail",
    CreateGuardrailRequest,
    (
        FieldGroup("General", (Field("name", "Name"),)),
        FieldGroup("Retention", (zdr("enforce_zdr_xai", "xAI"), zdr("enforce_zdr_other", "Other"))),
    ),
    "Create guardrail",
)


async def test_a_folded_part_is_one_line_until_it_is_unfolded() -> None:
    async with Desk(FOLDED) as desk:
        assert "▸ Retention: inherit" in desk.shown()
        assert "xAI" not in desk.shown()
        await desk.press("x", "tab")
        assert "Enter unfolds or folds" in desk.shown()
        await desk.press("enter", "tab", "right")
        assert "▾ Retention: xAI on" in desk.shown()
        await desk.press("up", "enter")
        assert "▸ Retention: xAI on" in desk.shown()
        assert "○ inherit" not in desk.shown()
        assert (await desk.send()) == {"name": "x", "enforce_zdr_xai": True}


async def test_going_to_a_folded_part_unfolds_it() -> None:
    async with Desk(FOLDED) as desk:
        await desk.press("x", "pagedown", "left")
        assert "▾ Retention: xAI off" in desk.shown()
        assert (await desk.send())["enforce_zdr_xai"] is False


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
