"""Editing profiles.toml: only what changes is touched, nothing is lost, faults have a place."""

from __future__ import annotations

import errno
import itertools
import multiprocessing
import os
import stat
import time
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwtui.local.profiles import (
    FIELDS,
    Profile,
    ProfileError,
    load_profiles,
    put_profile,
    remove_profile,
    set_default,
)
from gwtui.local.toml_file import TomlFileError, with_values, without_table

OWNERS = """\
# my gateways
default = "work" # at the office

# the office
[profiles.work]
base_url = "https://a.test"   # vpn only
token_command = [
  "pass",
  # which one
  "gw",
]

# the lab
[profiles.lab]
  base_url = "https://b.test"
  colour = "red"

# the end
"""
CHANGED = """\
# my gateways
default = "lab" # at the office

# the office
[profiles.work]
base_url = "https://new.test"   # vpn only
critical = true

# the lab
[profiles.lab]
  base_url = "https://b.test"
  colour = "red"
read_only = true

# the end

[profiles."my.new"]
base_url = "https://c.test"
"""
WITHOUT_WORK = """\
# my gateways

# the office

# the lab
[profiles.lab]
  base_url = "https://b.test"
  colour = "red"

# the end
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "profiles.toml"
    path.write_text(OWNERS)
    path.chmod(0o640)
    return path


def test_every_line_that_does_not_change_stays_as_it_was(path: Path) -> None:
    put_profile(
        path, "work", {"base_url": "https://new.test", "token_command": None, "critical": True}
    )
    put_profile(path, "lab", {"read_only": True})
    put_profile(path, "my.new", {"base_url": "https://c.test"})
    set_default(path, "lab")
    assert path.read_text() == CHANGED
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_removed_profile_leaves_the_comments_around_it(path: Path) -> None:
    remove_profile(path, "work")
    assert path.read_text() == WITHOUT_WORK


def test_an_edit_that_changes_nothing_writes_nothing(path: Path) -> None:
    before = path.stat()
    put_profile(path, "work", {"base_url": "https://a.test", "critical": None})
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_new_file_is_private_and_so_is_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "config" / "gwtui" / "profiles.toml"
    put_profile(path, "work", {"base_url": "https://a.test"}, default=True)
    assert (
        path.read_text() == ('default = "work"\n\n[profiles.work]\nbase_url = "https://a.test"\n')
        or load_profiles(path).default == "work"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_behind_a_link_the_linked_file_changes(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "config" / "profiles.toml"
    link.parent.mkdir()
    link.symlink_to(path)
    set_default(link, "lab")
    assert link.is_symlink()
    assert load_profiles(path, keep_unknown=True).default == "lab"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["config", "profiles.toml"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[profiles.a]\nbase_url = "https://x', r": is not valid TOML: Unterminated"),
        ("[profiles.a\n", r": is not valid TOML"),
        (
            "# c\n[profiles.a]\nread_olny = true\n",
            r": profiles\.a\.read_olny: .* did you mean 'read_only'\?",
        ),
        ("[profiles.a]\n\nbase_url = 3\n", r": profiles\.a\.base_url: must be text"),
        ("\n[profiles.a]\ncritical = true\n", r": profiles\.a\.base_url: is required"),
        (
            "[profiles.a]\nbase_url='https://x'\ntoken='s'\n",
            r": .*no secret is kept in this file",
        ),
        ("[profiles.a]\ntoken = gw-v1-SENTINEL\n", r": is not valid TOML"),
        (
            "[profiles.a]\nbase_url='https://u:SENTINEL@x'\n",
            r": profiles\.a\.base_url: the base URL must not",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ndialect='SENTINEL'\n",
            r": profiles\.a\.dialect: must be one of",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\nname='b'\n",
            r": profiles\.a\.name: is not a known",
        ),
        ("[profiles.a]\nbase_url='https://x'\n[profiles.a]\n", r": is not valid TOML: .*line 3"),
        (
            "[profiles.a]\nbase_url='https://x'\ntoken_command=['a',\n3]\n",
            r": profiles\.a\.token_command: must be a list of texts",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\n[profiles.a.findings]\nunused_day = 3\n",
            r": profiles\.a\.findings\.unused_day: .* did you mean 'findings\.unused_days'\?",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\n[profiles.a.findings]\nunused_days = 0\n",
            r": profiles\.a\.findings\.unused_days: must be from 1 to 3650",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\nfindings = 3\n",
            r": profiles\.a\.findings: is not a known setting",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ndialect = 'x'\n",
            r": profiles\.a\.dialect: must be one of generic or openrouter",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ncritical = 1\n",
            r": profiles\.a\.critical: must be true or false",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ntoken_command = 'pass'\n",
            r": profiles\.a\.token_command: must be a list of texts",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ntoken_command = []\n",
            r": profiles\.a\.token_command: must have at least 1 entry",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\ntoken_command = ['a']\ntoken_file = '/b'\n",
            r": profiles\.a: token_command and token_file exclude each other",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\nhistory = 'prometheus'\n",
            r': profiles\.a\.history_url: is required with history = "prometheus"',
        ),
        (
            "[profiles.a]\nbase_url='https://x'\nhistory = 'graphite'\n",
            r": profiles\.a\.history: must be one of file or prometheus",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\nhistory_url = 'prometheus:9090'\n",
            r": profiles\.a\.history_url: must be an address",
        ),
        (
            "[profiles.a]\nbase_url='https://x'\n[profiles.a.check]\nuptime_window = '2m'\n",
            r": profiles\.a\.check\.uptime_window: must be one of 5m, 30m or 1d",
        ),
        ("default = 'b'\n", r": default: there is no profile 'b'"),
        ("defualt = 'b'\n", r": defualt: is not a known key"),
        ("profiles = 3\n", r": profiles: must be tables"),
        ("profiles.a = 3\n", r": profiles\.a: must be a table"),
        ("[profiles.a]\nbase_url='ftp://x'\n", r": profiles\.a\.base_url: the base URL must"),
        ("default = ['b']\n", r": default: there is no profile"),
        ("[profiles.'']\nbase_url='https://x'\n", r": profiles\.: needs a name"),
        ("\n\udcff", r": is not UTF-8"),
        ("#" * 1_100_000, r": is larger"),
    ],
)
def test_a_broken_file_is_refused_with_its_field(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "profiles.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(ProfileError, match=f"profiles.toml{says}") as refused:
        load_profiles(path)
    assert "SENTINEL" not in str(refused.value)


def test_every_field_of_a_profile_has_a_reader() -> None:
    names = {one.name for one in fields(Profile)}
    read = {one.name.removeprefix("findings.").partition(".")[0] for one in FIELDS}
    assert names - {"name"} == read


@pytest.mark.parametrize(
    "text",
    [
        "[profiles.a\n",
        "[profiles.a]\nbase_url = 3\n",
        "profiles = 3\n",
        "profiles = {a = {base_url = 'https://x'}}\n",
        "# long\n" * 200_000,
    ],
    ids=["torn", "wrong", "no table", "inline", "huge"],
)
def test_a_file_that_cannot_be_edited_is_left_as_it_is(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(ProfileError, match=r"profiles\.toml: "):
        put_profile(path, "b", {"base_url": "https://x"})
    with pytest.raises(ProfileError):
        set_default(path, "b")
    assert path.read_text() == text


def test_what_would_not_be_understood_is_not_written(path: Path) -> None:
    for change in (
        lambda: put_profile(path, "work", {"base_url": "ftp://x"}),
        lambda: put_profile(path, "new", {"critical": True}),
        lambda: set_default(path, "none"),
    ):
        with pytest.raises(ProfileError):
            change()
    assert path.read_text() == OWNERS


def test_a_file_of_another_user_is_not_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ProfileError, match="another user"):
        set_default(path, "lab")
    assert path.read_text() == OWNERS


def _add_many(path: Path, start: int, count: int) -> None:
    for number in range(start, start + count):
        put_profile(path, f"p{number}", {"base_url": "https://gw.test"})
        put_profile(path, f"p{number}", {"critical": True}, default=True)


def test_two_processes_that_edit_at_once_lose_nothing(path: Path) -> None:
    count = 12
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_add_many, args=(path, n * count, count)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    found = load_profiles(path, keep_unknown=True)
    assert set(found.profiles) == {"work", "lab", *(f"p{number}" for number in range(2 * count))}
    assert all(found.profiles[f"p{number}"].critical for number in range(2 * count))
    assert [line for line in OWNERS.splitlines() if "#" in line and "default" not in line] == [
        line for line in path.read_text().splitlines() if "#" in line and "default" not in line
    ]
    assert sorted(one.name for one in path.parent.iterdir() if one.is_file()) == [
        ".profiles.toml.lock",
        "profiles.toml",
    ]


def _edit_for_ever(path: Path) -> None:
    for number in itertools.count():
        put_profile(path, "lab", {"token_file": f"/{number}" * (number % 50 + 1)})


def test_a_kill_in_the_middle_leaves_the_file_whole(path: Path) -> None:
    spawn = multiprocessing.get_context("fork")
    for delay in (0.05, 0.08, 0.11):
        worker = spawn.Process(target=_edit_for_ever, args=(path,))
        worker.start()
        time.sleep(delay)
        worker.kill()
        worker.join(10)
        # Complete, and free for the next one.
        put_profile(path, "work", {"critical": True})
        assert set(load_profiles(path, keep_unknown=True).profiles) == {"work", "lab"}
        assert path.read_text().endswith("# the end\n")


def test_a_full_disk_leaves_the_file_and_no_scraps(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(ProfileError, match=r"profiles\.toml: No space left on device"):
            set_default(path, "lab")
    assert path.read_text() == OWNERS
    assert {one.name for one in path.parent.iterdir() if one.is_file()} == {
        ".profiles.toml.lock",
        "profiles.toml",
    }


NAMES = st.sampled_from(["a", "b-1", "c d", "\u00fc.x", "e\u2028f", '"g"'])
COMMENTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8).map(
    lambda text: f"# {text}\n"
)
VALUES = st.one_of(
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=3),
)


@settings(max_examples=60)
@given(st.data())
def test_any_series_of_changes_means_what_it_says_and_keeps_comments(data: st.DataObject) -> None:
    text = "".join(data.draw(st.lists(COMMENTS | st.just("\n"), max_size=3)))
    for _ in range(data.draw(st.integers(1, 6))):
        name = data.draw(NAMES)
        match data.draw(st.sampled_from(["put", "drop", "drop table", "default"])):
            case "put":
                key = data.draw(st.sampled_from("xyz"))
                value = data.draw(VALUES)
                text = with_values(text, {("profiles", name, key): value})
                assert tomllib.loads(text)["profiles"][name][key] == value
            case "drop":
                text = with_values(
                    text, {("profiles", name, data.draw(st.sampled_from("xyz"))): None}
                )
            case "drop table":
                text = without_table(text, "profiles", name)
                assert name not in tomllib.loads(text).get("profiles", {})
            case _:
                text = with_values(text, {("default",): data.draw(VALUES)})
        # A comment that somebody wrote in between stays through everything that follows.
        text += data.draw(COMMENTS)
    comments = [line for line in text.split("\n") if line.startswith("# ")]
    text = with_values(text, {("profiles", "last", "x"): True, ("default",): "last"})
    text = without_table(text, "profiles", "last")
    assert [line for line in text.split("\n") if line.startswith("# ")] == comments


def test_a_windows_file_keeps_its_line_ends() -> None:
    text = "[profiles.a]\r\nx = 1\r\n"
    text = with_values(text, {("profiles", "a", "y"): "z", ("profiles", "b", "y"): "z"})
    assert "\n" not in text.replace("\r\n", "")


def test_a_form_that_would_come_out_wrong_is_refused() -> None:
    with pytest.raises(TomlFileError):
        with_values("profiles = 3\n", {("profiles", "a", "x"): True})
    with pytest.raises(TomlFileError):
        without_table("profiles = {a = {x = 1}}\n", "profiles", "a")
