"""A scrollbar shows how things stand, though it is rendered only when something of it changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.geometry import Region
from textual.screen import Screen
from textual.scrollbar import ScrollBar

from shell_kit import dashboard, site

KEYS = (*"Gg", "slash", *"pro", "escape", *"dn", "escape", *"3G", "ctrl+p", "escape")


def _bars(screen: Screen[object]) -> Iterator[ScrollBar]:
    for widget in screen.walk_children(with_self=True):
        for bar in (widget._vertical_scrollbar, widget._horizontal_scrollbar):
            if bar is not None and bar.display and bar.size:
                yield bar


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_none_is_painted_as_it_was_before(tmp_path: Path, size: tuple[int, int]) -> None:
    looked_at = 0
    async with site() as place, dashboard(place, tmp_path, size=size) as (app, pilot):
        for key in KEYS:
            await pilot.press(key)
            await pilot.pause()
            for bar in _bars(app.screen):
                whole = Region(0, 0, *bar.size)
                painted = bar.render_lines(whole)
                bar._styles_cache.clear()
                bar.refresh()
                anew = bar.render_lines(whole)
                assert [list(line) for line in painted] == [list(line) for line in anew], key
                looked_at += 1
    assert looked_at > 5
