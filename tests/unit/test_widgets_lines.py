"""Text that arrives in pieces looks as if it had arrived at once, and is never markup."""

from __future__ import annotations

import random

from textual.app import App, ComposeResult

from gwtui.ui.themes import DEFAULT_THEME, THEMES
from gwtui.ui.widgets.lines import MOST, GrowingText

WORDS = ("a", "word", "and", "lengthyword" * 9, "\n", "\n\n", " ", "  ", "é", "日本", "[b]", "\t")


class HostApp(App[None]):
    CSS = "GrowingText { width: 40; height: 10; }"

    def __init__(self) -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME

    def compose(self) -> ComposeResult:
        yield GrowingText(id="whole")
        yield GrowingText(id="pieces")

    def text(self, name: str) -> GrowingText:
        return self.query_one(f"#{name}", GrowingText)


def shown(view: GrowingText) -> str:
    return view.text.rstrip("\n")


async def test_streamed_pieces_equal_the_whole_text() -> None:
    chance = random.Random(7)
    for _ in range(12):
        app = HostApp()
        async with app.run_test(size=(80, 30)) as pilot:
            text = " ".join(chance.choice(WORDS) for _ in range(chance.randrange(400)))
            app.text("whole").put([(text, "plain")])
            rest = text
            while rest:
                length = chance.randrange(1, 60)
                piece, rest = rest[:length], rest[length:]
                app.text("pieces").put([(piece, "plain")])
            await pilot.pause()
            assert shown(app.text("pieces")) == shown(app.text("whole"))


async def test_a_long_paragraph_stays_whole() -> None:
    app = HostApp()
    async with app.run_test(size=(80, 30)) as pilot:
        view = app.text("pieces")
        for number in range(1_000):
            view.put([(f"word{number} ", "plain")])
        await pilot.pause()
        assert view.text.split() == [f"word{number}" for number in range(1_000)]
        assert all(line.cell_length <= 40 for line in view._lines)


async def test_the_end_stays_in_sight_until_somebody_scrolls_and_moves_by_half_a_page() -> None:
    app = HostApp()
    async with app.run_test(size=(80, 30)) as pilot:
        view = app.text("pieces")
        tops = []
        for number in range(40):
            view.put([(f"line {number}\n", "plain")])
            await pilot.pause()
            tops.append(view.scroll_offset.y)
            assert number - 10 < tops[-1] <= number
            if view.show_vertical_scrollbar:
                assert view.vertical_scrollbar.position == tops[-1]
        assert set(tops) == {*range(0, 31, 5)}
        view.scroll_to(y=3, animate=False)
        await pilot.pause()
        view.put([("more\n" * 20, "plain")])
        await pilot.pause()
        assert view.scroll_offset.y == 3


async def test_tones_begin_paragraphs() -> None:
    app = HostApp()
    async with app.run_test(size=(80, 30)) as pilot:
        view = app.text("pieces")
        view.put([("thinking", "muted"), ("The answer to [EMAIL]", "plain")])
        await pilot.pause()
        assert view.text.split("\n") == ["thinking", "The answer to [EMAIL]"]


async def test_long_text_is_cut_and_says_so() -> None:
    app = HostApp()
    async with app.run_test(size=(80, 30)) as pilot:
        view = app.text("pieces")
        for _ in range(MOST // 10_000 + 3):
            view.put([(("x" * 99 + "\n") * 100, "plain")])
        await pilot.pause()
        assert view.text.count("x") < MOST
        assert view.text.count("characters are") == 1
