"""A screen that opens is laid out once, and styled again only when a style sheet changed."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from textual import events
from textual._compositor import Compositor
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.css.stylesheet import Stylesheet
from textual.geometry import Size
from textual.messages import Layout
from textual.widgets import Static

from gwtui.ui.textual_compat import app as app_compat
from gwtui.ui.textual_compat.app import HookedApp
from gwtui.ui.textual_compat.screens import TerminalSized


class Page(TerminalSized[None]):
    """A screen with one widget."""

    def compose(self) -> ComposeResult:
        yield Static("text", classes="text")


class Book(App[None]):
    """Two screens, and a colour that the theme decides."""

    CSS = ".text { background: $primary; }"

    def on_mount(self) -> None:
        self.push_screen(Page())


@pytest.fixture
def styled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The nodes that were styled, in order."""
    nodes: list[Any] = []
    apply = Stylesheet.apply

    def noted(sheet: Stylesheet, node: Any, **options: Any) -> None:
        nodes.append(node)
        apply(sheet, node, **options)

    monkeypatch.setattr(Stylesheet, "apply", noted)
    return nodes


async def test_what_is_shown_again_keeps_its_styles(styled: list[Any]) -> None:
    app = Book()
    async with app.run_test() as pilot:
        await pilot.pause()
        text = app.screen.query_one(".text")
        assert styled.count(text) == 1, "when it was made"
        app.push_screen(Page())
        await pilot.pause()
        app.pop_screen()
        await pilot.pause()
        assert app.screen is text.screen
        assert styled.count(text) == 1, "not for being covered and shown again"


async def test_another_theme_reaches_a_screen_that_was_away() -> None:
    app = Book()
    async with app.run_test() as pilot:
        away = app.screen
        text = away.query_one(".text")
        before = text.styles.background
        app.install_screen(away, "away")
        app.switch_screen(Page())
        await pilot.pause()
        app.theme = "textual-light"
        await pilot.pause()
        app.switch_screen("away")
        await pilot.pause()
        assert app.screen is away
        expected = app.get_css_variables()["primary"]
        assert text.styles.background.hex == expected != before.hex


class Chapter(TerminalSized[None]):
    """Boxes in boxes, of which one may hold more lines than there is room for."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self._lines = lines
        self.toasts_hidden = False

    def on_screen_resume(self) -> None:
        self.toasts_hidden = self.query_one("ToastRack").styles.inline.has_rule("display")

    def compose(self) -> ComposeResult:
        with Vertical():
            for _ in range(3):
                with Horizontal(classes="line"):
                    yield Static("text")
            with VerticalScroll():
                yield Static("line\n" * self._lines, id="lines")


class Shelf(App[None]):
    """Opens chapters."""

    CSS = ".line { height: 1; }"


async def test_no_part_of_a_screen_that_opens_asks_for_a_second_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    take = TerminalSized.on_layout

    def noted(screen: TerminalSized[Any], message: Layout) -> None:
        take(screen, message)
        if not message._no_default_action:
            asked.append(message.widget)

    monkeypatch.setattr(TerminalSized, "on_layout", noted)
    app = Shelf()
    async with app.run_test(size=(40, 12), notifications=True) as pilot:
        app.push_screen(Chapter(3))
        await pilot.pause(0.1)
        assert app.screen.query_one("#lines").size.width == 40
        assert not asked
        assert cast("Chapter", app.screen).toasts_hidden, "before it is laid out, not by a second"


async def test_what_stands_beside_a_scrollbar_that_comes_and_goes_has_the_width_that_is_left() -> (
    None
):
    app = Shelf()
    async with app.run_test(size=(40, 12), notifications=True) as pilot:
        await app.push_screen(Chapter(30))
        await pilot.pause(0.1)
        lines = app.screen.query_one("#lines", Static)
        assert lines.size.width == 38, "beside the scrollbar"
        lines.update("one")
        await pilot.pause(0.1)
        assert lines.size.width == 40, "without one"
        lines.update("line\n" * 30)
        await pilot.pause(0.1)
        assert lines.size.width == 38, "beside it again"


class Reading(TerminalSized[None]):
    """Asks for a second layout once it has its size, and shows what it reads."""

    read = True

    @property
    def awaited(self) -> bool:
        return not self.read

    def compose(self) -> ComposeResult:
        yield Static("text", id="text")

    def on_resize(self) -> None:
        self.query_one("#text").styles.height = 5
        self.call_after_refresh(self.query_one("#text", Static).update, "longer\ntext")


class Library(HookedApp):
    """Holds the paint while a screen opens."""

    def open(self, screen: Reading) -> None:
        self.hold_paint()
        self.push_screen(screen)


async def test_a_screen_that_opens_is_painted_once_and_when_it_has_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    painted: list[str] = []
    render = Compositor.render_update

    def noted(compositor: Compositor, **options: Any) -> Any:
        painted.append("\n".join(strip.text.strip() for strip in compositor.render_strips()))
        return render(compositor, **options)

    app = Library()
    async with app.run_test(size=(40, 12)) as pilot:
        monkeypatch.setattr(Compositor, "render_update", noted)
        app.open(Reading())
        await pilot.pause(0.1)
        assert [text.strip() for text in painted] == ["longer\ntext"], "all of it, at once"
        painted.clear()
        monkeypatch.setattr(app_compat, "_AWAITED", 300.0)
        monkeypatch.setattr(app_compat, "_LONGEST_HOLD", 300.0)
        slow = Reading()
        slow.read = False
        app.open(slow)
        await pilot.pause(0.1)
        assert not painted, "what it reads comes in a moment"
        slow.read = True
        await pilot.pause(0.1)
        assert [text.strip() for text in painted] == ["longer\ntext"]
        painted.clear()
        monkeypatch.setattr(app_compat, "_AWAITED", 0.0)
        late = Reading()
        late.read = False
        app.open(late)
        await pilot.pause(0.1)
        assert painted, "what does not come is not waited for"


class Measured(TerminalSized[None]):
    """A screen that lays its text out for every size."""

    def compose(self) -> ComposeResult:
        yield Static("text")

    def on_resize(self) -> None:
        self.query_one(Static).update(f"{self.app.size.width} columns")


async def test_a_screen_that_is_closed_hears_of_no_other_size() -> None:
    app = Book()
    async with app.run_test() as pilot:
        screen = Measured()
        await app.push_screen(screen)
        await pilot.pause()
        gone = app.pop_screen()
        await screen.on_event(events.Resize(Size(60, 20), Size(60, 20)))
        await gone
        await screen.on_event(events.Resize(Size(60, 20), Size(60, 20)))
        await pilot.pause()
        assert app.screen is not screen


async def test_what_waits_for_a_paint_comes_though_nothing_changes() -> None:
    app = Book()
    async with app.run_test() as pilot:
        page = Page()
        await app.push_screen(page)
        await pilot.pause()
        painted = asyncio.Event()
        page.call_after_paint(painted.set)
        await asyncio.wait_for(painted.wait(), 5)
