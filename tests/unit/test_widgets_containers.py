"""Containers that are rendered once: the same lines as Textual's own."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.geometry import Region
from textual.widgets import Static

from gwtui.ui.widgets.containers import BlankVertical


class _Both(App[None]):
    def __init__(self, rules: str) -> None:
        super().__init__()
        self._rules = rules

    def compose(self) -> ComposeResult:
        for kind in (Vertical, BlankVertical):
            with kind() as container:
                container.set_styles(f"width: 20; height: 9; background: #223344; {self._rules}")
                yield Static("in it")


@pytest.mark.parametrize(
    "rules",
    ["", "border: round red;", "border: thick red; padding: 1 2;", "padding: 2 0 1 0;"],
)
@pytest.mark.parametrize(
    "crop",
    [Region(0, 0, 20, 9), Region(3, 0, 9, 2), Region(0, 4, 20, 1), Region(1, 2, 19, 7)],
)
async def test_each_line_looks_as_if_it_was_rendered_by_itself(rules: str, crop: Region) -> None:
    app = _Both(rules)
    async with app.run_test(size=(40, 24)):
        own, blank = (container.render_lines(crop) for container in app.query(Vertical))
        assert [list(line) for line in blank] == [list(line) for line in own]
