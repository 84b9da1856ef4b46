"""Choices made in the dashboard are restored at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwtui.resources import actions as registry
from gwtui.resources.preferences import Preferences
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from harness import Harness, line, listing, notices, pressing, settled
from screen_text import screen_text

WIDE = (140, 30)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    return folder


def header(app: GwtuiApp) -> list[str]:
    return listing(app).table.render_line(0).text.replace("▲", "").replace("▼", "").split()


async def test_preferences_are_restored_at_the_next_start(demo: Harness, config: Path) -> None:
    file = config / "preferences.toml"
    app = demo.make_app(config=config)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await pressing("t", "down", "enter")(pilot)
        await pressing("S", "vertical_line", "down", "space", "down", "right")(pilot)
        await pressing("enter")(pilot)
        chosen = header(app)
        assert chosen[:2] == ["Name", "Limit"]
        await pressing("d")(pilot)
    assert file.exists()
    saved = file.read_text()
    assert 'theme = "gwtui-light"' in saved
    assert 'sort = "name:desc"' in saved
    app = demo.make_app(config=config)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        assert app.theme == "gwtui-light"
        assert listing(app).table.model.sorting == ("name", True)
        assert not listing(app).detail.shown
        await pressing("d")(pilot)
        assert header(app) == chosen
        await pressing("vertical_line", "ctrl+r", "enter")(pilot)
        assert "State" in header(app)
    result = Preferences(file).of_list("keys")
    assert (result.columns, result.detail) == (None, None)


async def test_remapped_keys_work_and_appear_in_hints(demo: Harness, config: Path) -> None:
    file = config / "preferences.toml"
    file.write_text(
        '[keys]\nkeys.toggle = ["X"]\nlist.filter = ["f2"]\napp.undo = ["J"]\n'
        'app.back = ["Z", "escape"]\ngo.models = ["Q"]\n[lists.keys]\ncolumns = ["name", "gone"]\n'
    )
    app = demo.make_app(config=config)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        footer = line(listing(app), "footer")
        assert "X Enable/disable" in footer
        assert header(app) == ["Name"]
        assert "F2 Filter" in footer
        await pressing("x", "slash")(pilot)
        assert listing(app) is app.screen  # neither sends requests any more
        await pressing("f2", "type zzz", "enter")(pilot)
        assert "Z clears the filter." in screen_text(app)
        await pressing("Z", "X", "y")(pilot)
        assert "J undoes it for 10 minutes." in notices(app)
        await pressing("J", "y", "Q")(pilot)
        assert listing(app).resource == "models"
        await pressing("question_mark")(pilot)
        assert "F2" in screen_text(app)
    registry.remap({})


async def test_a_key_conflict_in_the_preferences_is_reported(demo: Harness, config: Path) -> None:
    file = config / "preferences.toml"
    file.write_text('theme = "gwtui-light"\n[keys]\n# mine\nkeys.toggle = ["D"]\n')
    app = demo.make_app(config=config)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await settled(pilot)
        assert f"{file}: keys.keys.toggle: D is Delete there already" in notices(app)
        assert app.theme == "gwtui-dark"
        await pressing("x")(pilot)
        assert isinstance(app.screen, ConfirmScreen)
