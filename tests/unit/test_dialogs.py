"""What is around a dialog: a faint picture that nothing repaints; where toasts stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from textual.widgets._toast import Toast

from gwtui.ui.screens.dialogs import AskScreen
from table_kit import STYLES, TableApp, things


class Covered(TableApp):
    """The table with dialogs above it."""

    CSS_PATH: ClassVar = [*TableApp.CSS_PATH, STYLES / "app.tcss", STYLES / "modals.tcss"]

    def __init__(self) -> None:
        super().__init__(things(50))
        self.painted: list[Any] = []

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None:
            self.painted.append(renderable)
        super()._display(screen, renderable)


def lines(app: TableApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


def ask() -> AskScreen:
    return AskScreen("Delete it?", "It is gone for good.", safe="Keep", deliberate="Delete")


async def test_the_list_stays_around_a_dialog_and_repaints_nothing_there() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        before = lines(app)
        app.push_screen(ask())
        await pilot.pause()
        around = lines(app)
        assert around[0].rstrip() == before[0].rstrip()
        assert around[22].rstrip() == before[22].rstrip()
        assert "y agrees · Esc closes" in around[23], "the footer is the dialog's own"
        assert any("Delete it?" in line for line in around)
        first = app.screen._compositor.render_strips()[1]
        faint = app.theme_variables["beneath"]
        assert {s.style.color.name for s in first if s.style and s.style.color} == {faint}

        app.painted.clear()
        app.table.show([replace(one, used=9999) for one in things(50)])
        await pilot.pause()
        assert not app.painted, "what changes beneath paints nothing"
        around = lines(app)
        assert "9,999" in around[1], "the next paint shows it"

        # Another dialog above shows the list again, nothing of the dialog beneath.
        app.push_screen(ask())
        await pilot.pause()
        assert lines(app) == around
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        wider = lines(app)[0]
        assert wider.rstrip() != before[0].rstrip(), "the list has its new size beneath them"
        app.pop_screen()
        app.pop_screen()
        await pilot.pause()
        assert lines(app)[0].rstrip() == wider.rstrip()
        assert "9,999" in lines(app)[1]


async def test_a_toast_stands_above_status_and_footer() -> None:
    app = Covered()
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("One thing is done", markup=False)
        await pilot.pause()
        assert any("One thing is done" in line for line in lines(app))
        assert not any("One thing" in line or not line.strip() for line in lines(app)[22:])
        toast = app.screen.query_one(Toast)
        assert toast.region.bottom <= 22
