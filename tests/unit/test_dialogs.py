"""What is around a dialog: the list that is beneath, of which only what is seen is repainted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pyte
import pytest
from rich.color import ColorSystem
from textual.content import Content
from textual.geometry import Region
from textual.widgets import Static

from form_kit import until
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.terminal.screen_diff import ScreenDiff
from gwtui.ui.terminal.textual_private import pieces
from table_kit import STYLES, TableApp, things


class Covered(TableApp):
    """The table with dialogs above it, on a terminal that gets what the dashboard would send."""

    CSS_PATH: ClassVar = [*TableApp.CSS_PATH, STYLES / "app.tcss", STYLES / "modals.tcss"]

    def __init__(self) -> None:
        super().__init__(things(50))
        self.sent: list[str] = []
        self._terminal = pyte.Screen(80, 24)
        self._differences = ScreenDiff()

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None and not self._batch_count:
            sent = self._differences.difference(
                pieces(renderable), self.size, ColorSystem.TRUECOLOR
            )
            self._terminal.resize(self.size.height, self.size.width)
            pyte.Stream(self._terminal).feed(sent)
            self.sent.append(sent)
        super()._display(screen, renderable)

    @property
    def lines(self) -> list[str]:
        """What the terminal shows."""
        return [line.rstrip() for line in self._terminal.display]


def ask() -> AskScreen:
    return AskScreen("Delete it?", "It is gone for good.", safe="Keep", deliberate="Delete")


@pytest.mark.usefixtures("every_frame")
async def test_the_list_stays_around_a_dialog_and_only_what_is_seen_of_it_is_repainted() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "row-000" in app.lines[1], "the list")
        before = app.lines
        await app.push_screen(ask())
        await until(pilot, lambda: "y confirms · Esc cancels" in app.lines[23], "its own footer")
        around = app.lines
        (title,) = (number for number, line in enumerate(around) if "Delete it?" in line)
        covered = [number for number in range(23) if around[number] != before[number]]
        assert title in covered
        assert len(covered) == 7, "the dialog alone covers the list"
        assert around[title].startswith(before[title][:15])

        app.sent.clear()
        used = {title - 1, 20}  # the first row is on line 1
        app.table.show(
            [replace(one, used=9999) if at in used else one for at, one in enumerate(things(50))]
        )
        await until(pilot, lambda: "9,999" in app.lines[21], "what changed beneath")
        assert "".join(app.sent).count("9,999") == 1, "what the dialog covers is not sent"
        assert len("".join(app.sent)) < 60
        around = app.lines

        # Another dialog above shows the list again, nothing of the dialog beneath.
        await app.push_screen(ask())
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
async def test_what_is_beneath_is_painted_on_when_a_dialog_closes_before_it_was_painted() -> None:
    app = Covered()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "row-000" in app.lines[1], "the list")
        app.push_screen(ask())
        await app.pop_screen()
        app.table.show([replace(one, used=9999) for one in things(50)])
        await until(pilot, lambda: "9,999" in app.lines[1], "what changed beneath")


@pytest.mark.usefixtures("every_frame")
async def test_what_changed_in_a_dialog_is_painted_beside_what_changed_beneath_it() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = ask()
        await app.push_screen(dialog)
        await until(pilot, lambda: "y confirms · Esc cancels" in app.lines[23], "its own footer")
        dialog.query_one(".title", Static).update(Content("Erase it?"), layout=False)
        dialog.refresh(Region(0, 23, 80, 1))  # as Textual does for what is seen beneath
        await until(pilot, lambda: any("Erase it?" in line for line in app.lines), "the title")
