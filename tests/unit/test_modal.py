"""A modal screen returns one result and closes only itself; removing it is no failure."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar

import pyte
import pytest
from rich.color import ColorSystem
from textual import events
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widgets import Static

from form_kit import until
from gwtui.crud.fields import PickOption
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.terminal.screen_diff import ScreenDiff
from gwtui.ui.terminal.textual_private import pieces
from gwtui.ui.widgets.lines import OneLine
from table_kit import STYLES, TableApp, sample_rows


def ask(name: str, text: str = "") -> AskScreen:
    return AskScreen(name, text, safe="No", deliberate="Yes")


async def test_a_repeated_answer_closes_only_one_dialog() -> None:
    answers: list[str | None] = []
    beneath = ask("beneath")
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(beneath)
        choose = Picker("Sort", [PickOption("a", "A"), PickOption("b", "B")], current="b")
        await app.push_screen(choose, answers.append)
        for _ in range(3):
            choose.query_one("OptionList").post_message(events.Key("enter", "\r"))
            app.post_message(events.Key("enter", "\r"))
        choose.dismiss("a")
        choose.dismiss("b")
        await pilot.pause()
        assert answers == ["a"]
        assert choose not in app.screen_stack


async def test_a_covered_dialog_closes_once_it_is_on_top() -> None:
    answers: list[tuple[str, bool | None]] = []
    app: App[None] = App()
    below, above = ask("below"), ask("above")
    async with app.run_test() as pilot:
        await app.push_screen(below, lambda answer: answers.append(("below", answer)))
        await app.push_screen(above, lambda answer: answers.append(("above", answer)))
        below.dismiss(True)
        below.dismiss(False)
        await pilot.pause()
        assert answers == []
        assert app.screen is above
        await pilot.press("space")
        await pilot.pause()
        assert answers == [("above", False), ("below", True)], "Space presses the safe button"
        assert not any(isinstance(item, ModalScreen) for item in app.screen_stack)


@pytest.mark.parametrize("hops", range(6))
async def test_a_dialog_answered_while_it_is_built_is_built_first(hops: int) -> None:
    class Building(AskScreen):
        buttons = 0

        def on_mount(self) -> None:
            Building.buttons = len(self.query("Button"))

    answers: list[bool | None] = []
    app = TerminalApp()
    async with app.run_test() as pilot:
        question = Building("early", "", safe="No", deliberate="Yes")
        app.push_screen(question, answers.append)
        for _ in range(hops):
            await asyncio.sleep(0)
        question.dismiss(True)
        question.dismiss(False)
        await pilot.pause()
        await pilot.pause()
        assert answers == [True]
        assert question not in app.screen_stack
        assert Building.buttons == 2


async def test_a_dialogs_worker_ends_before_its_widgets_unmount() -> None:
    class Closing(AskScreen):
        went = asyncio.Event()

        class Part(OneLine):
            def on_unmount(self) -> None:
                Closing.went.set()

        def compose(self) -> ComposeResult:
            yield self.Part(id="part")

        def on_mount(self) -> None:
            self.run_worker(self.look_up())

        async def look_up(self) -> None:
            await self.went.wait()
            self.query_one("#part")

    app = TerminalApp()
    async with app.run_test() as pilot:
        dialog = Closing("", "", safe="No", deliberate="Yes")
        await app.push_screen(dialog)
        dialog.dismiss(False)
        await until(pilot, Closing.went.is_set, "the end of the dialog")
        await pilot.pause()
        await pilot.pause()
    assert app.crash is None


# What is around a dialog --------------------------------------------------------------------------


class Covered(TableApp):
    """The table with dialogs above it, on a terminal that gets the dashboard's output."""

    CSS_PATH: ClassVar = [*TableApp.CSS_PATH, STYLES / "app.tcss", STYLES / "modals.tcss"]

    def __init__(self) -> None:
        super().__init__(sample_rows(50))
        self.output: list[str] = []
        self._terminal = pyte.Screen(80, 24)
        self._differences = ScreenDiff()

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None and not self._batch_count:
            output = self._differences.difference(
                pieces(renderable), self.size, ColorSystem.TRUECOLOR
            )
            self._terminal.resize(self.size.height, self.size.width)
            pyte.Stream(self._terminal).feed(output)
            self.output.append(output)
        super()._display(screen, renderable)

    @property
    def lines(self) -> list[str]:
        """The text of the terminal."""
        return [line.rstrip() for line in self._terminal.display]


@pytest.mark.usefixtures("every_frame")
async def test_only_visible_list_cells_are_repainted_around_a_dialog() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "row-000" in app.lines[1], "the list")
        before = app.lines
        await app.push_screen(ask("Delete it?", "It is gone for good."))
        await until(pilot, lambda: "y: Yes · Esc: No" in app.lines[23], "its own footer")
        around = app.lines
        (title,) = (number for number, line in enumerate(around) if "Delete it?" in line)
        covered = [number for number in range(23) if around[number] != before[number]]
        assert title in covered
        assert len(covered) == 7, "the dialog alone covers the list"
        assert around[title].startswith(before[title][:15])

        app.output.clear()
        used = {title - 1, 20}  # the first row is on line 1
        app.table.show(
            [
                replace(item, used=9999) if number in used else item
                for number, item in enumerate(sample_rows(50))
            ]
        )
        await until(pilot, lambda: "9,999" in app.lines[21], "what changed beneath")
        assert "".join(app.output).count("9,999") == 1, "covered cells are not sent"
        assert len("".join(app.output)) < 60
        around = app.lines

        # A second dialog hides the first one and shows the list around itself.
        await app.push_screen(ask("Delete it?", "It is gone for good."))
        await pilot.pause()
        assert app.lines == around
        await pilot.resize_terminal(100, 30)
        await until(pilot, lambda: len(app.lines[0]) > 80, "the list in its new size")
        assert sum("Delete it?" in line for line in app.lines) == 1
        wider = app.lines[0]
        app.pop_screen()
        app.pop_screen()
        await until(pilot, lambda: "9,999" in app.lines[title], "the row that was covered")
        assert app.lines[0] == wider
        assert "9,999" in app.lines[21]


@pytest.mark.usefixtures("every_frame")
async def test_the_list_is_painted_after_a_dialog_closed_unpainted() -> None:
    app = Covered()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "row-000" in app.lines[1], "the list")
        app.push_screen(ask("Delete it?", "It is gone for good."))
        await app.pop_screen()
        app.table.show([replace(row, used=9999) for row in sample_rows(50)])
        await until(pilot, lambda: "9,999" in app.lines[1], "what changed beneath")


@pytest.mark.usefixtures("every_frame")
async def test_changes_in_and_beneath_a_dialog_are_painted() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = ask("Delete it?", "It is gone for good.")
        await app.push_screen(dialog)
        await until(pilot, lambda: "y: Yes · Esc: No" in app.lines[23], "its own footer")
        dialog.query_one(".title", Static).update(Content("Erase it?"), layout=False)
        dialog.refresh(Region(0, 23, 80, 1))  # as Textual does for the visible screen beneath
        await until(pilot, lambda: any("Erase it?" in line for line in app.lines), "the title")
