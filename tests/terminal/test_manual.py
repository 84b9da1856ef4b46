"""Every command of the README and the manual is run, page by page, in order.

Each page runs in a home of its own, against a gateway with its own database. A headless command
must end with the exit code that the manual promises, a dashboard must show data and close with q, a
server must start and be stopped. An unknown kind of line fails the test.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import metadata
from itertools import pairwise
from pathlib import Path
from typing import Any

import keyring
import pytest

from gwtui.cli import exits
from gwtui.cli.command import positionals
from gwtui.cli.commands import COMMANDS, DASHBOARD
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.resources.registry import COMMAND_RESOURCES
from loaded_program import GWTUI, run, start
from login_kit import Commands, DictRing, ServedGateway, served_gateway
from manual_kit import DOCUMENTS, MANUAL, README, ROOT, Block, blocks, mentioned, shell_words
from pty_terminal import pty_terminal

GATEWAY = "https://gateway.example/api/v1"
MODEL = "northwind/atlas-large"
PATIENCE = 60.0

PLACEHOLDERS = {
    "NAME": "work",
    "RESOURCE": "keys",
    "VERB": "list",
    "8088": "0",
    "8089": "0",
    "127.0.0.1:9750": "127.0.0.1:0",
}
"""Values for placeholders, and free ports in place of those that may be taken."""

SEVERITIES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
"""The output of ``gwtui check``, in the order of its exit codes."""

DASHBOARD_TEXTS = {
    "keys": "airflow-staging",
    "board": " left",
    "watch": " left",
    f"models/{MODEL}": "Northwind /flex",
}
"""Text that a dashboard shows of the simulated account, by start path."""

SERVERS = {
    ("gateway", "serve"): ("/api/v1", exits.OK),
    ("export", "metrics", "--listen"): ("serving http", exits.OK),
    ("export", "metrics", "--textfile"): ("gwtui_build_info", exits.OK),
    ("watch", "--ndjson"): ('"credits"', exits.TERMINATED),
}
"""Commands that run until stopped: words -> text that reports readiness, and exit code."""
ENDING_OPTIONS = {"--once", "--count", "--help"}
"""Options with which they end by themselves."""


@dataclass
class Reader:
    """A user who types what a page says, in a directory of their own."""

    home: Path
    folder: Path
    gateway: ServedGateway
    ring: DictRing
    commands: Commands
    processes: ExitStack = field(default_factory=ExitStack)

    def config(self, name: str) -> Path:
        """A settings file."""
        return self.home / "config" / "gwtui" / f"{name}.toml"

    def prepare(self) -> None:
        """Create the files and programs that pages refer to."""
        (self.folder / "new.key").write_text("nw_0123456789abcdef0123456789abcdef")
        (self.folder / "names.txt").write_text("ngozi notebook\nsearch-ranking\n")
        key_file = self.home / ".secrets" / "gateway"
        key_file.parent.mkdir(mode=0o700)
        key_file.touch(mode=0o600)
        key_file.write_text(self.gateway.management)
        self.program("gwtui", f'exec {" ".join(GWTUI)} "$@"')
        self.program("pass", f'[ "$1" = gateway/management ] && exec cat {key_file}')
        self.program("page-oncall", f'[ "$1" = --stdin ] && exec cat > {self.folder / "paged"}')
        if shutil.which("promtool") is None:
            self.program("promtool", '[ "$1 $2" = "test rules" ] && exec test -s "$3"')

    def create_profiles(self) -> None:
        """Create the profiles of ``gwtui login``: a default one and a critical one."""
        self.config("profiles").parent.mkdir(mode=0o700, exist_ok=True)
        for name in ("work", "prod"):
            self.ring.held["gwtui", name] = self.gateway.management
        self.config("profiles").write_text(
            f'default = "work"\n\n[profiles.work]\nbase_url = "{self.gateway.base_url}"\n'
            f'\n[profiles.prod]\nbase_url = "{self.gateway.base_url}"\ncritical = true\n'
        )

    def program(self, name: str, script: str) -> None:
        """Put a program of this name on the path."""
        path = self.home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)

    def environment(self) -> dict[str, str]:
        """The environment of processes, without a keyring."""
        return {**os.environ, "GWTUI_TOKEN": self.gateway.management}

    def clean_up(self) -> None:
        """Stop running processes, and delete files that contain an unmasked key."""
        self.processes.close()
        for path in (*self.folder.glob("*.key"), self.home / ".secrets" / "gateway"):
            path.unlink(missing_ok=True)

    # Typing

    def words(self, words: Sequence[str]) -> list[str]:
        """Replace examples in a command with the reader's own values."""
        return [self._substituted(word) for word in words]

    def _substituted(self, word: str) -> str:
        if word == "ID":
            return self._newest_generation()
        if word.startswith("/var/lib/node_exporter/"):
            return str(self.folder / Path(word).name)
        if word.startswith("~/"):
            return str(self.home / word.removeprefix("~/"))
        substituted = word.replace(GATEWAY, self.gateway.base_url).replace("AUTHOR/SLUG", MODEL)
        return PLACEHOLDERS.get(substituted, substituted)

    def _newest_generation(self) -> str:
        database = str(self.folder / "served" / "gateway.sqlite3")
        code, out, err = self.commands("gateway", "generations", "--database", database)
        assert code == exits.OK, err
        return out.splitlines()[1].split()[0]

    def type(self, source_line: str, line: str) -> None:
        """Run one line; fails if it does not do what the manual promises."""
        words = shell_words(line)
        if "|" in words:
            self.run_program(source_line, ["bash", "-o", "pipefail", "-c", line], self.folder)
            return
        for part in _parts(words):
            program, *rest = part
            if Path(program).name == "gwtui":
                # A dashboard that several pages open is opened only once.
                if OPENED_BY.get(tuple(rest), source_line) == source_line:
                    self.run_gwtui(source_line, self.words(rest))
            elif program in NOT_RUN:
                _check_paths(source_line, rest)
            elif program == "promtool":
                self.run_program(source_line, part, ROOT)
            else:
                pytest.fail(f"{source_line}: no way to run {part}")

    def run_program(self, source_line: str, words: Sequence[str], folder: Path) -> None:
        process = subprocess.run(
            list(words),
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert process.returncode == exits.OK, f"{source_line}: {process.stderr}"

    def run_gwtui(self, source_line: str, words: list[str]) -> None:
        words, stdin_file, stdout_file = _redirected(words)
        server = next((command for command in SERVERS if _begins(words, command)), None)
        if server is not None and not ENDING_OPTIONS.intersection(words):
            self.serve(source_line, words, *SERVERS[server])
        elif _is_dashboard(words):
            self.look(source_line, words)
        else:
            # Without --yes the command would ask on a terminal.
            self.run_headless(
                source_line, words + ["--yes"] * _asks(words), stdin_file, stdout_file
            )

    def run_headless(
        self, source_line: str, words: list[str], stdin_file: str, stdout_file: str
    ) -> None:
        """Run a command that ends by itself, in this process; the default code is 0."""
        stdin = (self.folder / stdin_file).read_text() if stdin_file else ""
        if _begins(words, ("login",)) and not {"--token-file", "--token-command"} & set(words):
            stdin = self.gateway.management
        code, out, err = self.commands(*words, stdin=stdin)
        if stdout_file:
            assert out.strip(), f"{source_line}: nothing was written to {stdout_file}"
            (self.folder / stdout_file).write_text(out)
        if _begins(words, ("check",)) and "--help" not in words:
            severity = out.removeprefix("GWTUI ").partition(":")[0]
            assert code == SEVERITIES.index(severity), f"{source_line}: {out}"
            assert severity != "UNKNOWN" or "--alerts" in words, f"{source_line}: {out}"
            return
        assert code == exits.OK, f"{source_line}: {words} ended with {code}: {err}"
        assert "Traceback" not in err

    def look(self, source_line: str, words: list[str]) -> None:
        """Open a dashboard on a terminal, and close it with q."""
        places = positionals(words, DASHBOARD.arguments)
        start = words[places[0]] if places else "keys"
        assert start in DASHBOARD_TEXTS, f"{source_line}: no expected text for dashboard {start}"
        with pty_terminal(
            [*GWTUI, *words], columns=120, rows=34, environment=self.environment()
        ) as terminal:
            terminal.wait_for(DASHBOARD_TEXTS[start], PATIENCE)
            if "--read-only" in words or start == "watch":
                terminal.wait_for("READ-ONLY")
            terminal.send("q")
            assert terminal.wait_exit(PATIENCE) == exits.OK, source_line
            assert terminal.left_over_modes() == []

    def serve(self, source_line: str, words: list[str], ready_text: str, code: int) -> None:
        """Run a server: it must report that it works, and ends after the page."""
        output = self.folder / f"server-{time.monotonic_ns()}"
        with output.open("w") as file:
            process = start(
                *words,
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

        def end() -> None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == code, f"{source_line}: {output.read_text()}"

        self.processes.callback(process.kill)
        self.processes.callback(end)
        textfile = self.folder / "gwtui.prom"
        deadline = time.monotonic() + PATIENCE
        while not any(
            ready_text in path.read_text() for path in (output, textfile) if path.exists()
        ):
            assert process.poll() is None, f"{source_line}: {output.read_text()}"
            assert time.monotonic() < deadline, f"{source_line}: never printed {ready_text!r}"
            time.sleep(0.05)

    # Blocks other than commands

    def write(self, block: Block) -> None:
        """Write a file of the reader; the commands that use it must accept it."""
        text = block.text.replace(GATEWAY, self.gateway.base_url).replace("author/slug", MODEL)
        tables = tomllib.loads(text)
        if "samples" in tables:
            (self.folder / "samples.toml").write_text(text)
            return
        if {"theme", "lists"} & set(tables):
            self.config("preferences").write_text(text)
            self.run_headless(str(block.page), ["config", "list"], "", "")
            return
        if "profiles" not in tables:
            self.config("alerts").write_text(text)
            self.run_headless(str(block.page), ["alerts", "rules"], "", "")
            return
        replaces_all, profiles = "default" in tables, self.config("profiles")
        profiles.write_text(text if replaces_all else f"{profiles.read_text()}\n{text}")
        if replaces_all:
            self.ring.held.clear()
        code, out, err = self.commands("whoami", "--output", "json")
        assert code == exits.OK, err
        assert not replaces_all or json.loads(out)["token_source"] == "token command"
        self.run_headless(str(block.page), ["check"], "", "")

    def program_of(self, block: Block) -> None:
        """Run a Python program, which may await; ``token`` is the management key."""
        text = block.text.replace(GATEWAY, self.gateway.base_url)
        code = compile(text, str(block.page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names: dict[str, Any] = {"token": self.gateway.management}
        assert code.co_flags & inspect.CO_COROUTINE

        async def run() -> None:
            await eval(code, names)  # noqa: S307 - the manual's own text

        asyncio.run(run())
        assert names["created"].key is not None


def _parts(words: Sequence[str]) -> Iterator[list[str]]:
    """The commands of a line, separated by ``&&``."""
    part: list[str] = []
    for word in words:
        if word == "&&":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _redirected(words: Sequence[str]) -> tuple[list[str], str, str]:
    """The words without ``< FILE`` and ``> FILE``, and the two files."""
    remaining, files = [*words], {"<": "", ">": ""}
    for operator in files:
        if operator in remaining:
            index = remaining.index(operator)
            files[operator] = remaining[index + 1]
            del remaining[index : index + 2]
    assert not {"<", ">", ">>", ";", "&", "(", ")"}.intersection(remaining), words
    return remaining, files["<"], files[">"]


def _begins(words: Sequence[str], command: Sequence[str]) -> bool:
    """Whether the operands begin with these words; options may stand anywhere."""
    operands = tuple(words[place] for place in positionals(words, DASHBOARD.arguments))
    expected = tuple(word for word in command if not word.startswith("-"))
    options = {word for word in command if word.startswith("-")}
    return operands[: len(expected)] == expected and options <= set(words)


def _is_dashboard(words: Sequence[str]) -> bool:
    if "--help" in words or ("--fault", "list") in pairwise(words):
        return False
    operands = [words[place] for place in positionals(words, DASHBOARD.arguments)]
    if operands[:1] == ["watch"]:
        return "--ndjson" not in words
    return not operands or (operands[0] not in COMMANDS and len(operands) == 1)


def _asks(words: Sequence[str]) -> bool:
    """Whether a command changes something and would ask for confirmation."""
    operands = [words[place] for place in positionals(words, DASHBOARD.arguments)]
    changes = (
        len(operands) > 1
        and operands[0] in COMMAND_RESOURCES
        and operands[1] not in {"list", "get", "test", "acknowledge"}
    )
    return changes and not {"--yes", "--plan", "--help"}.intersection(words)


# Programs that are not run: they install, or they run this test -----------------------------------

NOT_RUN = frozenset({"pipx", "uv", "python3", "python", ".ci/run"}) | {
    f".venv/bin/{name}" for name in ("pip", "python", "ruff", "mypy", "lint-imports")
}
"""Programs that are not run: ``test_packaging`` covers the installation."""


def _check_paths(source_line: str, words: Sequence[str]) -> None:
    """Check that every path exists, and that every extra belongs to the package."""
    for word in " ".join(words).split():
        if extras := re.fullmatch(r"\.\[([\w,]+)\]", word):
            assert {*extras[1].split(",")} <= {*metadata("gwtui").get_all("Provides-Extra", [])}
        elif re.search(r"\.(py|txt)$|^tests/", word):
            assert list(ROOT.glob(word)), f"{source_line}: there is no {word}"


# Dashboards that several pages open ---------------------------------------------------------------


def _dashboards() -> Iterator[tuple[tuple[str, ...], str]]:
    for block in (block for page in DOCUMENTS for block in blocks(page)):
        for source_line, line in block.commands() if block.language == "sh" else ():
            for program, *words in _parts(shell_words(line)):
                if Path(program).name == "gwtui" and _is_dashboard(words):
                    yield tuple(words), source_line


OPENED_BY = dict(reversed([*_dashboards()]))
"""The words of each dashboard command -> its first line in the documents."""


WITH_BLOCKS = [page for page in DOCUMENTS if blocks(page)]


@pytest.fixture(scope="session")
def account_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the database of a simulated account."""
    folder = tmp_path_factory.mktemp("account")
    EmbeddedGateway(folder / "gateway.sqlite3").close()
    return folder


@pytest.fixture
def reader(
    account_folder: Path,
    demo_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Reader]:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copytree(account_folder, folder / "served")
    ring = DictRing()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    monkeypatch.setenv("PATH", f"{demo_home / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(folder)
    with served_gateway(database=folder / "served" / "gateway.sqlite3", speed=20) as gateway:
        result = Reader(demo_home, folder, gateway, ring, Commands(monkeypatch, capsys))
        result.prepare()
        try:
            yield result
        finally:
            result.clean_up()


def lose_new_keys(reader: Reader) -> None:
    """New keys whose values could not be written, because the disk is full."""
    for name in ("ci", "deploy"):
        words = ("keys", "create", "--set", f"name={name}", "--yes")
        with Path("/dev/full").open("w") as full:
            created = run(*words, env=reader.environment(), stdout=full, timeout=PATIENCE)
        assert created.returncode == exits.INCOMPLETE


PREPARATIONS = {"recovery.md": lose_new_keys}
"""Preparations before a page."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_works(page: Path, reader: Reader) -> None:
    if page.name not in {"README.md", "connect.md"}:
        reader.create_profiles()
    PREPARATIONS.get(page.name, lambda _reader: None)(reader)
    for block in blocks(page):
        match block.language:
            case "sh":
                for source_line, line in block.commands():
                    reader.type(source_line, line)
            case "toml":
                reader.write(block)
            case "python":
                reader.program_of(block)
            case "":
                assert "gwtui " not in block.text
            case _:
                pytest.fail(f"{page}: no way to run a block of {block.language}")
    if page.name == "alerts.md":
        assert json.loads((reader.folder / "paged").read_text())


MENTIONED = sorted(
    {span for page in MANUAL for span in mentioned(page) if re.match(r"gwtui( |$)", span)}
)


def test_commands_in_prose_exist(reader: Reader) -> None:
    """Their options exist too: each is run with --help."""
    assert MENTIONED
    for span in MENTIONED:
        words = reader.words(shell_words(span)[1:])
        code, out, _ = reader.commands(*words, "--help")
        assert code == exits.OK, span
        assert "usage: gwtui" in out, span


def test_readme_marks_the_commands_for_ci() -> None:
    text = README.read_text(encoding="utf-8")
    for marker in ("run-command", "test-command"):
        (command,) = re.findall(rf"<!-- {marker} -->\n```sh\n(.+)\n```\n", text)
        assert command.startswith("python3 -m venv .venv && ")


def test_unknown_lines_fail(reader: Reader) -> None:
    with pytest.raises(pytest.fail.Exception, match="no way to run"):
        reader.type("here", "curl https://gateway.example")
    reader.create_profiles()
    with pytest.raises(AssertionError, match="ended with 2"):
        reader.type("here", "gwtui keys list --sideways")
    with pytest.raises(AssertionError, match="no expected text"):
        reader.type("here", "gwtui kyes")
