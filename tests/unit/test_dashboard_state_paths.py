"""The paths that were gone to: kept between runs, few, private, and never a secret."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.domain.known_secrets import may_be_secret, remember
from gwtui.local.dashboard_state import MOST_PATHS, PathHistory

pytestmark = pytest.mark.usefixtures("own_secrets_only")


def file(folder: Path) -> Path:
    return folder / "state" / "paths.txt"


def test_paths_are_kept_between_runs_each_once_the_newest_last(tmp_path: Path) -> None:
    first = PathHistory(file(tmp_path))
    for path in ("keys/ci", "ws", "keys/ci", "ctx staging", "keys/ö x"):
        first.add(path)
    wanted = ("ws", "keys/ci", "ctx staging", "keys/ö x")
    assert first.paths == PathHistory(file(tmp_path)).paths == wanted
    assert stat.S_IMODE(file(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE(file(tmp_path).parent.stat().st_mode) == 0o700


def test_the_file_stays_small(tmp_path: Path) -> None:
    history = PathHistory(file(tmp_path))
    for number in range(900):
        history.add(f"keys/{'name ' * 8}{number}")
    assert len(history.paths) == MOST_PATHS
    assert history.paths[-1].endswith(" 899")
    assert file(tmp_path).stat().st_size < 40_000
    assert PathHistory(file(tmp_path)).paths == history.paths


SECRET = SecretStr("hunter2-of-mine")


@pytest.mark.parametrize(
    "path",
    [
        "keys/gw-v1-0123456789abcdef0123456789abcdef",
        "gw-v1-0123456789abcdef",
        "sk-own-0123456789abcdef",
        "keys/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "keys/ghp1A2b3C4d5E6f7G8h",
        "Bearer abcdefgh12345678",
        "keys/hunter2-of-mine",
        "keys/" + "abcdefgh" * 5,
        "keys/a\nb",
        "keys/\x1b[31m",
        "",
        "x" * 300,
    ],
)
def test_what_could_be_a_secret_or_no_path_is_never_stored(path: str, tmp_path: Path) -> None:
    remember(SECRET)
    history = PathHistory(file(tmp_path))
    history.add(path)
    assert history.paths == ()
    assert not file(tmp_path).exists()


@pytest.mark.parametrize(
    "path",
    [
        "models/anthropic/claude-3.5-sonnet-20241022",
        "workspaces/d4df0f3c-0c34-482a-82ce-094758731cca",
        "keys/voice-hotline",
        "members/production/ana@example.com",
        "generation/gen-1732233600-abcdefghij",
    ],
)
def test_names_and_identifiers_are_no_secrets(path: str) -> None:
    assert not may_be_secret(path)


def test_lines_that_somebody_else_put_there_are_passed_over(tmp_path: Path) -> None:
    file(tmp_path).parent.mkdir(mode=0o700)
    lines = [
        "keys",
        "",
        "gw-v1-0123456789abcdef0123456789abcdef",
        "\x1b]52;c;AAAA\x07",
        "models",
    ]
    file(tmp_path).write_text("\n".join(lines))
    assert PathHistory(file(tmp_path)).paths == ("keys", "models")


def test_a_file_that_cannot_be_used_keeps_nobody_from_going_anywhere(tmp_path: Path) -> None:
    file(tmp_path).parent.mkdir(mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    file(tmp_path).symlink_to(elsewhere)
    history = PathHistory(file(tmp_path))
    history.add("keys/ci")
    assert history.paths == ("keys/ci",)
    assert elsewhere.read_text() == ""


def test_two_dashboards_keep_the_paths_of_both(tmp_path: Path) -> None:
    one, other = PathHistory(file(tmp_path)), PathHistory(file(tmp_path))
    assert one.paths == other.paths == ()
    one.add("keys")
    other.add("models")
    one.add("byok")
    assert PathHistory(file(tmp_path)).paths == ("keys", "models", "byok")
