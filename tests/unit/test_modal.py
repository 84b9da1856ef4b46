"""A modal screen gives one answer and closes nothing but itself; taking it down is no failure."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.screen import ModalScreen

from form_kit import until
from gwtui.crud.fields import PickOption
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.widgets.lines import OneLine


def ask(name: str) -> AskScreen:
    return AskScreen(name, "", safe="No", deliberate="Yes")


async def test_a_second_answer_in_one_burst_closes_nothing_else() -> None:
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


async def test_an_answer_from_below_waits_and_leaves_what_is_above() -> None:
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
        assert answers == [("above", False), ("below", True)], "a blank presses the safe button"
        assert not any(isinstance(one, ModalScreen) for one in app.screen_stack)


@pytest.mark.parametrize("hops", range(6))
async def test_what_is_answered_while_it_is_being_built_is_built_first(hops: int) -> None:
    class Building(AskScreen):
        seen = 0

        def on_mount(self) -> None:
            Building.seen = len(self.query("Button"))

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
        assert Building.seen == 2


async def test_what_waits_for_a_refresh_does_not_run_in_a_closed_dialog() -> None:
    found: list[int] = []
    app, dialog = TerminalApp(), ask("closing")
    async with app.run_test() as pilot:
        await app.push_screen(dialog)
        await pilot.pause()
        dialog.dismiss(False)
        app.screen.call_later(asyncio.sleep, 0.1)  # what is beneath is busy, and painted later
        dialog.call_after_refresh(lambda: found.append(len(dialog.query("#safe"))))
        await until(pilot, lambda: not dialog.is_attached, "the end of the dialog")
        await asyncio.sleep(0.2)
        await pilot.pause()
    assert found == []


async def test_a_worker_ends_before_the_parts_of_its_dialog_are_taken_away() -> None:
    class Closing(AskScreen):
        went = asyncio.Event()

        class Part(OneLine):
            def on_unmount(self) -> None:
                Closing.went.set()

        def compose(self) -> ComposeResult:
            yield self.Part(id="part")

        def on_mount(self) -> None:
            self.run_worker(self.read())

        async def read(self) -> None:
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
