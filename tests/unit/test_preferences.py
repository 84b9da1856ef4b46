"""The preferences file: read strictly, changed without losing anything, not written when broken."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from gwtui.local.settings_file import SettingsError, change_settings, read_settings
from gwtui.resources.preferences import (
    PREFERENCES,
    SETTINGS,
    THEME_NAMES,
    Preferences,
    View,
)
from gwtui.ui.themes import DEFAULT_THEME, TITLES

SORT = ("lists", "keys", "sort")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "preferences.toml"


def test_themes_are_those_there_are() -> None:
    assert tuple(TITLES) == THEME_NAMES
    assert THEME_NAMES[0] == DEFAULT_THEME


def test_nothing_chosen(file: Path) -> None:
    found = Preferences(file)
    assert (found.problem, found.theme, found.of_list("keys").sort) == ("", None, None)
    assert not file.exists()


WRONG = {
    'them = "gwtui-light"': "1: them: is not a known setting; did you mean 'theme'?",
    'theme = "gwtui-lite"': "1: theme: there is no theme 'gwtui-lite'; did you mean 'gwtui-light'?",
    "theme = 3": "1: theme: must be a text",
    '\n[lists.kyes]\nsort = "used"': "lists.kyes.sort: is not a known setting; did you mean",
    '[lists.keys]\n# here\nsrot = "used"': "3: lists.keys.srot: is not a known setting; did you",
    '[lists.keys]\nsort = "used:down"': "2: lists.keys.sort: 'down' is neither asc nor desc",
    "[lists.keys]\ncolumns = []": "2: lists.keys.columns: must name a column at least",
    '[lists.keys]\ncolumns = ["name", "name"]': "2: lists.keys.columns: must name each column once",
    "[lists.keys.widths]\nname = 2": "2: lists.keys.widths.name: must be from 3 to 200 cells",
    '[lists.keys]\ndetail = "no"': "2: lists.keys.detail: must be true or false",
    "[lists.keys]\ndetail_width = 90": "2: lists.keys.detail_width: must be from 20 to 80 percent",
    "lists = 3": "1: lists: is not a setting but a table",
    "[lsits]": "1: lsits: is not a known setting; did you mean 'lists'?",
    'theme = "': "1: theme: is not valid TOML",
    '[views.worst]\nfilter = "used>80%"': "1: views.worst: needs a list: views.worst.list",
    '[views."no way"]\nlist = "keys"': "2: views.no way.list: NAME cannot be called so",
    '[views.worst]\nlist = "kyes"': "2: views.worst.list: there is no list 'kyes'; did you mean",
    '[views.worst]\nlits = "keys"': "2: views.worst.lits: is not a known setting; did you mean",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_its_line_and_nothing_is_written(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o600)
    found = Preferences(file)
    assert found.problem.startswith(f"{file}:")
    assert WRONG[text] in found.problem
    assert found.theme is None
    assert not found.remember({("theme",): "gwtui-light"})
    found.write()
    other = ("lists", "models", "detail")
    with pytest.raises(SettingsError, match=r"preferences.toml:"):
        change_settings(file, {other: False}, PREFERENCES)
    assert file.read_text() == text
    assert found.theme == "gwtui-light"  # for this run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[lists.keys]\nsort = "usde"', "2: lists.keys.sort: there is no column 'usde'; did you"),
        ('[lists.keys]\ncolumns = ["nme"]', "2: lists.keys.columns: there is no column 'nme'"),
        ('[views.a]\nlist = "keys"\nsort = "usde"', "3: views.a.sort: there is no column 'usde'"),
        ('[views.a]\nlist = "keys"\ncolumns = ["x"]', "3: views.a.columns: there is no column"),
        ('[views.a]\nlist = "keys"\nfilter = "used>abc"', "3: views.a.filter: "),
        ("[lists.keys.widths]\nnme = 20", "2: lists.keys.widths.nme: there is no column 'nme'"),
    ],
)
def test_columns_are_looked_up_when_asked_for(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    file.chmod(0o600)
    assert not Preferences(file).problem
    with pytest.raises(SettingsError, match=message):
        read_settings(file, PREFERENCES, thorough=True)


def test_a_change_keeps_comments_and_everything_else(file: Path) -> None:
    text = '# mine\ntheme = "gwtui-light"  # by day\n\n[lists.keys]\n# by spending\nsort = "used"\n'
    file.write_text(text)
    file.chmod(0o600)
    found = Preferences(file)
    assert found.remember({SORT: "used:desc", ("lists", "keys", "detail_width"): 30})
    assert found.remember({("lists", "keys", "widths", "name"): 12})
    found.write()
    kept = file.read_text()
    assert kept.startswith(text.replace('"used"', '"used:desc"') + "detail_width = 30\n")
    assert Preferences(file).of_list("keys").widths == {"name": 12}
    found.remember({("lists", "keys"): None})
    found.write()
    assert file.read_text().startswith('# mine\ntheme = "gwtui-light"  # by day\n')
    assert Preferences(file).of_list("keys") == Preferences().of_list("keys")


def test_what_is_written_with_dots_is_changed_so(file: Path) -> None:
    file.write_text("[lists.keys]\n  widths.name = 30 # wide\nsort = 'used'\n\n[lists.models]\n")
    file.chmod(0o600)
    found = Preferences(file)
    found.remember({("lists", "keys", "widths", "used"): 9})
    found.remember({("lists", "keys", "widths", "name"): 12})
    found.write()
    assert file.read_text() == (
        "[lists.keys]\n  widths.name = 12 # wide\n  widths.used = 9\nsort = 'used'\n"
        "\n[lists.models]\n"
    )


def test_a_new_file_is_private(file: Path) -> None:
    found = Preferences(file)
    found.remember({("theme",): "gwtui-light"})
    found.write()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_programs_lose_nothing_of_each_other(file: Path) -> None:
    """Each reads the file anew under the lock before it writes."""
    lists = ("keys", "models", "workspaces", "guardrails", "byok", "audit")

    def choose(resource: str) -> None:
        mine = Preferences(file)
        for width in range(20, 25):
            mine.remember({("lists", resource, "detail_width"): width})
            mine.write()

    threads = [threading.Thread(target=choose, args=(one,)) for one in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Preferences(file)
    assert [found.of_list(one).detail_width for one in lists] == [24] * len(lists)


def test_what_could_not_be_written_is_tried_again(file: Path) -> None:
    found = Preferences(file)
    found.remember({("theme",): "gwtui-light"})
    file.write_text("theme = ")  # somebody is writing in it just now
    file.chmod(0o600)
    with pytest.raises(SettingsError):
        found.write()
    file.write_text("# done\n")
    found.remember({SORT: "used"})
    found.write()
    assert Preferences(file).theme == "gwtui-light"
    assert Preferences(file).of_list("keys").sort == ("used", False)


def test_views(file: Path) -> None:
    found = Preferences(file)
    view = View("worst", "keys", "used>80%", ("used", True), ("name", "used"))
    found.remember(view.settings)
    found.remember(View("all", "models").settings)
    found.write()
    assert Preferences(file).views == {"worst": view, "all": View("all", "models")}
    assert view.summary == "keys · used>80% · by used:desc · 2 columns"
    found.remember({("views", "worst"): None})
    found.write()
    assert list(Preferences(file).views) == ["all"]


def test_every_setting_says_what_it_is() -> None:
    assert all(one.help and one.default for one in SETTINGS)
    assert len({one.pattern for one in SETTINGS}) == len(SETTINGS)
