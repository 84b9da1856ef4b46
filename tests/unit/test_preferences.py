"""The preferences file: edits lose nothing, and invalid values are not written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gwtui.local.settings_file import SettingsError
from gwtui.resources.preferences import SETTINGS, THEME_NAMES, Preferences, preferences_file
from gwtui.ui.themes import DEFAULT_THEME, TITLES

SORT = "lists.keys.sort"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "preferences.toml"


def stored(file: Path, text: str) -> Preferences:
    """The preferences of a private file with this text."""
    file.write_text(text)
    file.chmod(0o600)
    return Preferences(file)


def test_every_theme_has_a_title() -> None:
    assert tuple(TITLES) == THEME_NAMES
    assert THEME_NAMES[0] == DEFAULT_THEME


WRONG = {
    'theme = "gwtui-lite"': ": theme: there is no theme 'gwtui-lite'; did you mean 'gwtui-light'?",
    "theme = 3": ": theme: must be text",
    '[lists.keys]\nsort = "used:down"': ": lists.keys.sort: 'down' is neither asc nor desc",
    "[lists.keys]\ncolumns = []": ": lists.keys.columns: must name at least one column",
    '[lists.keys]\ncolumns = ["name", "name"]': ": lists.keys.columns: must name each column once",
    '[lists.keys]\ndetail = "no"': ": lists.keys.detail: must be true or false",
    'theme = "': ": is not valid TOML",
}


@pytest.mark.parametrize("text", WRONG)
def test_invalid_preferences_are_reported_and_not_overwritten(file: Path, text: str) -> None:
    preferences = stored(file, text)
    assert preferences.problem.startswith(f"{file}:")
    assert WRONG[text] in preferences.problem
    assert preferences.theme is None
    assert not preferences.remember({"theme": "gwtui-light"})
    preferences.write()
    with pytest.raises(SettingsError, match=r"preferences.toml:"):
        preferences_file(file).change({"lists.models.detail": False})
    assert file.read_text() == text
    assert preferences.theme == "gwtui-light"  # for this run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[lists.keys]\nsort = "usde"', ": lists.keys.sort: there is no column 'usde'; did you"),
        ('[lists.keys]\ncolumns = ["nme"]', ": lists.keys.columns: there is no column 'nme'"),
    ],
)
def test_columns_are_looked_up_when_asked_for(file: Path, text: str, message: str) -> None:
    assert not stored(file, text).problem
    with pytest.raises(SettingsError, match=message):
        preferences_file(file).read(thorough=True)


def test_a_change_keeps_comments_and_everything_else(file: Path) -> None:
    text = '# mine\ntheme = "gwtui-light"  # by day\n\n[lists.keys]\n# by spending\nsort = "used"\n'
    preferences = stored(file, text)
    assert preferences.remember({SORT: "used:desc", "lists.keys.detail": False})
    preferences.write()
    content = file.read_text()
    assert content.startswith(text.replace('"used"', '"used:desc"') + "detail = false\n")
    preferences.remember({SORT: None})
    preferences.write()
    assert "# by spending\ndetail = false\n" in file.read_text()


def test_dotted_keys_are_edited_in_place(file: Path) -> None:
    preferences = stored(file, "[lists]\n  keys.detail = true # wide\nmodels.sort = 'name'\n")
    preferences.remember({"lists.keys.detail": False})
    preferences.write()
    assert file.read_text() == "[lists]\n  keys.detail = false # wide\nmodels.sort = 'name'\n"


def test_the_last_key_of_a_table_written_with_dots_can_be_removed(file: Path) -> None:
    preferences = stored(file, '[keys]\nlist.filter = ["f3"]\n\n[keys.keys]\ndelete = ["X"]\n')
    preferences.remember({"keys.list.filter": None, "keys.keys.delete": None})
    preferences.write()
    assert not Preferences(file).keys


def test_failed_writes_of_preferences_are_retried(file: Path) -> None:
    preferences = Preferences(file)
    preferences.remember({"theme": "gwtui-light"})
    file.write_text("theme = ")  # another process is writing it
    file.chmod(0o600)
    with pytest.raises(SettingsError):
        preferences.write()
    file.write_text("# done\n")
    preferences.remember({SORT: "used"})
    preferences.write()
    assert Preferences(file).theme == "gwtui-light"
    assert Preferences(file).of_list("keys").sort == ("used", False)


OLDER = """[lists.keys]
sort = "used:desc"
columns = ["name", "used"]
widths.name = 30
srot = "used"

[views.worst]
list = "keys"
filter = "used>80%"

[lsits]
"""


def test_settings_of_other_versions_are_ignored_and_kept(file: Path) -> None:
    preferences = stored(file, OLDER)
    assert not preferences.problem
    chosen = preferences.of_list("keys")
    assert (chosen.sort, chosen.columns) == (("used", True), ("name", "used"))
    preferences.remember({SORT: "name"})
    preferences.write()
    assert file.read_text() == OLDER.replace("used:desc", "name")
    unknown = preferences_file(file).read().unknown
    assert list(unknown) == [
        "lists.keys.widths.name",
        "lists.keys.srot",
        "views.worst.list",
        "views.worst.filter",
    ]
    assert unknown["lists.keys.srot"].endswith("; did you mean 'lists.keys.sort'?")


def test_every_setting_says_what_it_is() -> None:
    assert all(setting.help and setting.default for setting in SETTINGS)
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
