"""Form fields filled with hostile texts: shown escaped, kept and sent unchanged.

An editor never alters its initial value: an untouched field is not in the PATCH, and an edited one
still has every character that was not edited.
"""

from __future__ import annotations

from typing import Any

import pytest
from hostile_sinks import Witness, dangerous
from hostile_strings import SMALL
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.widgets import Input

from form_kit import HostApp, ScriptedSubmit, form, until
from gwtui.client.errors import NotSentError
from gwtui.crud.plan import Refused
from gwtui.domain.safe_text import safe_characters
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.resources.workspaces import WRITES as SPACE_WRITES
from gwtui.ui.forms.field_editors import ChoiceEditor, LinesEditor, TextEditor
from gwtui.ui.forms.option_pickers import PickEditor
from gwtui.ui.themes import DEFAULT_THEME, THEMES
from gwtui.ui.widgets.prompt import Prompt
from plan_kit import form_context
from resource_samples import NOW, key, workspace
from screen_text import screen_text


class Editors(App[None]):
    """The editors by themselves; records what reaches the last boundary."""

    def __init__(self, value: str) -> None:
        super().__init__()
        self.value = value
        self.leaks: list[str] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    def get_line_filters(self) -> list[Any]:
        return [*super().get_line_filters(), Witness(self.leaks)]

    def compose(self) -> ComposeResult:
        yield TextEditor(self.value, "")
        yield LinesEditor(self.value)
        yield Prompt(":")
        yield ChoiceEditor([("a", "one"), ("b", "two")], self.value)
        yield PickEditor("title", [("a", "one")], "a")


def batches(size: int) -> list[str]:
    """Many texts in one value, because one app per text would take minutes."""
    texts = list(SMALL.values())
    return ["x".join(texts[start : start + size]) for start in range(0, len(texts), size)]


@pytest.mark.parametrize("number", range(len(batches(105))))
async def test_editors_escape_text_on_screen_and_keep_the_value(number: int) -> None:
    value = batches(105)[number]
    app = Editors(value)
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.query(TextEditor), "the editors")
        line, area = app.query_one(TextEditor), app.query_one(LinesEditor)
        for start in range(0, len(value), 500):
            line.cursor_position = start
            await pilot.pause(0)
        assert line.value == value
        line.focus()
        await pilot.press("end", "!")
        assert line.value == value + "!"
        area.move_cursor(area.document.end)
        await pilot.pause()
        assert app.leaks == []
        assert line.virtual_size.width == cell_len(safe_characters(line.value)) + 1


FIELDS = ("name", "description", "default_text_model", "default_provider_sort")


async def test_untouched_fields_are_not_sent() -> None:
    text = SMALL["mixed"] + SMALL["mixed tail"] + SMALL["mixed scripts"]
    space = workspace(**dict.fromkeys(FIELDS, text), disabled_server_tools=[text])

    submit = ScriptedSubmit(Refused(NotSentError(text)))
    screen = form(submit, SPACE_WRITES.edit_form(space, form_context()))
    app = HostApp(screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app.screen is screen, "the form")
        slug = screen.query_one("#field-slug").query_one(Input)
        slug.value = "another-slug"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: submit.bodies, "the request")
        await pilot.pause()
        assert submit.bodies == [{"slug": "another-slug"}]
        assert not dangerous(screen_text(app).replace("\n", ""))


async def test_an_edited_name_keeps_its_other_characters() -> None:
    submit = ScriptedSubmit(Refused(NotSentError("no")))
    screen = form(
        submit,
        KEY_WRITES.edit_form(
            key(name="pay\x1b[31m\u202erolle", workspace_id="\x1b]0;x"), form_context(NOW)
        ),
    )
    app = HostApp(screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app.screen is screen, "the form")
        assert "pay␛[31m\ufffdrolle" in screen_text(app)
        await pilot.press("end", "r", "ctrl+s")
        await until(pilot, lambda: submit.bodies, "the request")
        assert submit.bodies == [{"name": "pay\x1b[31m\u202eroller"}]


async def test_a_lone_surrogate_is_reported() -> None:
    submit = ScriptedSubmit()
    screen = form(submit, KEY_WRITES.edit_form(key(name="pay\ud800"), form_context(NOW)))
    app = HostApp(screen)
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: app.screen is screen, "the form")
        await pilot.press("end", "r", "ctrl+s")
        await pilot.pause()
        assert "half a character" in screen_text(app)
        assert submit.bodies == []
