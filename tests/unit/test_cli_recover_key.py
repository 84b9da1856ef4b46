"""``gwtui recover-key``: the value alone on stdout, everything else on stderr, wiped when asked."""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.cli.main import main
from gwtui.local.sealed_keys import DIRECTORY, SealedKeys

URL = "https://gateway.example/api/v1"
TOKEN = "management-token"
WHERE = ["--base-url", URL]


@pytest.fixture
def folder(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GWTUI_TOKEN", TOKEN)
    return private_home / "state" / "gwtui" / DIRECTORY


def seal(folder: Path, *names: str, token: str = TOKEN, url: str = URL, value: str = "") -> None:
    """As another process that shows these keys at this moment would have left them."""
    keys = SealedKeys(folder, url, SecretStr(token), lambda: datetime.now(UTC))
    for name in names:
        secret = SecretStr(value or f"value of {name}")
        keys.seal(f"plan-{name}", secret, name=name, key_hash=f"{name}-hash", made_at=None)
    keys.close()


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_the_one_key_is_printed_and_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seal(folder, "ci")
    assert main(["recover-key", *WHERE]) == exits.OK
    out, err = said(capsys)
    assert out == "value of ci\n"
    assert "“ci”" in err
    assert "ci-hash" in err
    assert "stays sealed until" in err
    assert "value of ci" not in err
    assert len(list(folder.iterdir())) == 1


def test_it_is_wiped_when_that_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(folder, "ci")
    assert main(["recover-key", *WHERE, "--acknowledge"]) == exits.OK
    assert said(capsys)[0] == "value of ci\n"
    assert list(folder.iterdir()) == []


def test_a_key_that_another_process_shows_is_printed_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = SealedKeys(folder, URL, SecretStr(TOKEN), lambda: datetime.now(UTC))
    keys.seal("p", SecretStr("value"), name="ci", key_hash="h", made_at=None)
    assert main(["recover-key", *WHERE]) == exits.OK
    assert said(capsys)[0] == "value\n"
    keys.close()


@pytest.mark.parametrize("wanted", ["build", "build-h"])
def test_of_several_one_must_be_named(
    folder: Path, capsys: pytest.CaptureFixture[str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(folder, "ci", "build")
    assert main(["recover-key", *WHERE]) == exits.USAGE
    out, err = said(capsys)
    assert out == ""
    assert "“ci”" in err
    assert "“build”" in err
    monkeypatch.setenv("GWTUI_TOKEN", TOKEN)
    assert main(["recover-key", *WHERE, wanted]) == exits.OK
    assert said(capsys)[0] == "value of build\n"


def test_what_cannot_be_opened_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seal(folder, "one", token="rotated-since")
    seal(folder, "two", url="https://other.example/api/v1")
    (folder / "junk.sealed").write_bytes(b"junk")
    assert main(["recover-key", *WHERE]) == exits.FAILED
    out, err = said(capsys)
    assert out == ""
    assert "no key waits" in err
    assert "sealed under another token" in err
    assert "https://other.example/api/v1" in err
    assert "Damaged: 1" in err
    assert len(list(folder.iterdir())) == 3


def test_an_unknown_name_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seal(folder, "ci")
    assert main(["recover-key", *WHERE, "other"]) == exits.FAILED
    assert "no such key" in said(capsys)[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_hostile_value_cannot_reach_the_terminal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(folder, "ci", value="gw\x1b]52;c;cm0=\x07")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["recover-key", *WHERE]) == exits.OK
    assert terminal.getvalue() == "gw␛]52;c;cm0=␇\n"


def test_without_a_token_nothing_is_tried(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seal(folder, "ci")
    monkeypatch.delenv("GWTUI_TOKEN")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert main(["recover-key", *WHERE]) == exits.FAILED
    assert said(capsys)[0] == ""
