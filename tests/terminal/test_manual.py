"""Every command of the README and the manual is run, page by page, from the first to the last.

A page is read as a person would: in a home of one's own, against a gateway with a database of its
own. A headless command must end with the code that the manual promises, a dashboard must show data
and be left with q, a server must start and be ended. A line that nobody knows how to run fails.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from gwtui.cli import exits
from gwtui.embedded.gateway import EmbeddedGateway
from loaded_program import run
from login_kit import Commands, DictRing, served_gateway
from manual_kit import DOCUMENTS, MANUAL, README, ROOT, blocks, mentioned, shell_words
from manual_reader import PATIENCE, Reader

WITH_BLOCKS = [page for page in DOCUMENTS if blocks(page)]


@pytest.fixture(scope="session")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the database of a simulated account."""
    folder = tmp_path_factory.mktemp("founded")
    EmbeddedGateway.open(folder / "gateway.sqlite3").close()
    return folder


@pytest.fixture
def reader(
    founded: Path,
    demo_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Reader]:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copytree(founded, folder / "served")
    ring = DictRing()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    monkeypatch.setenv("PATH", f"{demo_home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(folder)
    with served_gateway(database=folder / "served" / "gateway.sqlite3", speed=20) as gateway:
        found = Reader(demo_home, folder, gateway, ring, Commands(monkeypatch, capsys))
        found.settle_in()
        try:
            yield found
        finally:
            found.leave()


def lose_new_keys(reader: Reader) -> None:
    """New keys whose values could not be handed over: the disk is full."""
    for name in ("ci", "deploy"):
        words = ("keys", "create", "--set", f"name={name}", "--yes")
        with Path("/dev/full").open("w") as full:
            made = run(*words, env=reader.environment(), stdout=full, timeout=PATIENCE)
        assert made.returncode == exits.INCOMPLETE


BEFORE = {"recovery.md": lose_new_keys}
"""What happened to the reader before a page."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_typed_from_top_to_bottom(page: Path, reader: Reader) -> None:
    if page.name not in {"README.md", "connect.md"}:
        reader.log_in()
    BEFORE.get(page.name, lambda _reader: None)(reader)
    for block in blocks(page):
        match block.language:
            case "sh":
                for where, line in block.commands():
                    reader.type(where, line)
            case "toml":
                reader.write(block)
            case "python":
                reader.program_of(block)
            case "":
                assert "gwtui " not in block.text
            case _:
                pytest.fail(f"{page}: nobody knows what to do with {block.language}")
    if page.name == "alerts.md":
        assert json.loads((reader.folder / "paged").read_text())


MENTIONED = sorted(
    {span for page in MANUAL for span in mentioned(page) if re.match(r"gwtui( |$)", span)}
)


def test_the_commands_in_the_prose_exist(reader: Reader) -> None:
    """They take the options that they are mentioned with: what follows them is their help."""
    assert MENTIONED
    for span in MENTIONED:
        words = reader.words(shell_words(span)[1:])
        code, out, _ = reader.commands(*words, "--help")
        assert code == exits.OK, span
        assert "usage: gwtui" in out, span


def test_the_marked_commands_are_those_that_ci_reads() -> None:
    text = README.read_text(encoding="utf-8")
    for marker in ("run-command", "test-command"):
        (command,) = re.findall(rf"<!-- {marker} -->\n```sh\n(.+)\n```\n", text)
        assert command.startswith("python3 -m venv .venv && ")


def test_a_line_that_nobody_knows_fails(reader: Reader) -> None:
    with pytest.raises(pytest.fail.Exception, match="nobody knows how to run"):
        reader.type("here", "curl https://gateway.example")
    reader.log_in()
    with pytest.raises(AssertionError, match="ended with 2"):
        reader.type("here", "gwtui keys list --sideways")
    with pytest.raises(AssertionError, match="nobody knows what"):
        reader.type("here", "gwtui kyes")
