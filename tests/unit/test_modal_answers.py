"""A modal screen gives one answer, closes itself and nothing else."""

from __future__ import annotations

from textual import events
from textual.app import App
from textual.screen import ModalScreen

from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.choose import Choice, ChooseScreen


def ask(name: str) -> AskScreen:
    return AskScreen(name, "", safe="No", deliberate="Yes")


async def test_a_second_answer_in_one_burst_closes_nothing_else() -> None:
    answers: list[str | None] = []
    beneath = ask("beneath")
    app: App[None] = App()
    async with app.run_test() as pilot:
        await app.push_screen(beneath)
        choose = ChooseScreen("Sort", [Choice("a", "A"), Choice("b", "B")], current="b")
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
        await pilot.press("escape")
        await pilot.pause()
        assert answers == [("above", False), ("below", True)]
        assert not any(isinstance(one, ModalScreen) for one in app.screen_stack)
