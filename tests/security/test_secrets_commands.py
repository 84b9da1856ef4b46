"""Secrets on the command line: every command, applied, refused and failing, is searched.

The value of a new key is on stdout if the user asked for it there, and nowhere else. Run with
``-rP`` for the counts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from sentinels import (
    FORMS,
    MARKED,
    Sentinel,
    files,
    leaks,
    logging_into,
    marked,
    minting_marked,
    open_to_others,
)

from gwtui.cli.commands import COMMANDS
from gwtui.embedded.faults import KINDS, FaultInjector
from login_kit import Commands, DictRing, ServedGateway, served_gateway

SECRETS = [marked(name) for name in MARKED]
NEW_KEY = [secret for secret in SECRETS if secret.name == "new key"]
TOKEN, PROVIDER_KEY = MARKED["token"], MARKED["provider key"]
FAULTS = [
    name
    for name, kind in KINDS.items()
    if not kind.streams and not kind.number and name not in {"hang", "hang-after"}
] + [f"{name}=0" for name in ("429", "429-date", "503", "503-after")]
"""All faults except delays and those of streams."""
SEVERAL = {"401", "500", "malformed-type", "reset-before", "half-body"}
"""Faults for every request of every command; others only for writes with a secret."""
OTHER_SIDE = {"gateway"}
"""Commands that print their own key on purpose; other tests search what they store."""


@dataclass
class Case:
    """A command line, its stdin, and whether it may print a new key."""

    words: Sequence[str]
    stdin: str = ""
    prints_key: bool = False
    codes: tuple[int, ...] = (0,)
    environment: bool = True

    def __str__(self) -> str:
        return " ".join(self.words)


CREATE = ("keys", "create", "--set", "name=ci", "--set", "external.user=u1", "--yes")
STORE = ("byok", "create", "--set", "provider=northwind", "--set", "name=Main", "--yes")
TRIED_KEY = f"{MARKED['new key']}0000"
"""The inference key of the gateway."""
TRY = ("try", "chat", "--model", "northwind/atlas-large", "--prompt", MARKED["prompt"])
EMBED = ("try", "embed", "--model", "tessera/vector-3", "--prompt", MARKED["prompt"])
CASES = (
    Case(("whoami",)),
    Case(("whoami", "--output", "json")),
    Case(("check",), codes=(0, 1, 2, 3)),
    Case(("profiles",)),
    Case(("findings", "--output", "json"), codes=(0, 4)),
    Case(("doctor", "--output", "json"), codes=(0, 1)),
    Case(("completion", "bash")),
    Case(("man", "keys")),
    Case(("audit", "--output", "json")),
    Case(("alerts", "rules", "--output", "json")),
    Case(("alerts", "list"), codes=(0, 1)),
    Case(("config", "set", "theme", "gwtui-light")),
    Case(("config", "set", "theme", "none"), codes=(2,)),
    Case(("config", "get", "theme")),
    Case(("config", "list", "--output", "json")),
    Case(("config", "path")),
    Case(("config", "unset", "theme")),
    Case(("watch", "--ndjson", "--count", "1", "--interval", "1"), codes=(0, 1)),
    Case(("export", "metrics"), codes=(0, 1)),
    Case(("keys", "list", "--output", "json")),
    Case(("keys", "list")),
    Case(("key", "get", "--output", "json")),
    Case(("byok", "list", "--output", "ndjson")),
    Case((*CREATE, "--stdin", "external.api_key"), MARKED["external key"], prints_key=True),
    Case((*CREATE, "--stdin", "external.api_key", "--plan"), MARKED["external key"]),
    Case(STORE, PROVIDER_KEY),
    Case((*STORE, "--plan"), PROVIDER_KEY),
    Case(("byok", "replace-key", "Main", "--yes"), MARKED["rotated key"]),
    Case((*STORE, "--set", "keys=1"), PROVIDER_KEY, codes=(2,)),
    Case(STORE, f"{PROVIDER_KEY}\n{TOKEN}"),
    Case((*STORE, "--set", f"key={'x' * 40}"), codes=(2,)),
    Case((*TRY, "--key-stdin"), TRIED_KEY, codes=(0, 1)),
    Case((*TRY, "--key-stdin", "--stream", "--output", "json"), TRIED_KEY, codes=(0, 1)),
    Case((*TRY, "--key-stdin", "--plan"), TRIED_KEY),
    Case((*TRY, "--key-stdin"), f"{TRIED_KEY}wrong", codes=(1,)),
    Case((*TRY, "--key-stdin"), f"{TRIED_KEY} {TRIED_KEY}", codes=(2,)),
    Case((*EMBED, "--key-stdin"), TRIED_KEY, codes=(0, 1)),
    Case(("login", "--profile", "kept", "--save-file"), TOKEN, codes=(0, 1)),
    Case(("login", "--profile", "odd", "--save-file"), f"{TOKEN} {TOKEN}", codes=(1,)),
    Case(("login", "--profile", "ring"), TOKEN),
    Case(("logout", "--profile", "ring"), environment=False),
    Case(("logout", "--profile", "kept"), environment=False),
)


@dataclass
class CommandRunner:
    """Runs commands against a gateway with marked keys, and stores their output."""

    commands: Commands
    gateway: ServedGateway
    faults: FaultInjector
    sinks: dict[str, bytes | str]

    def run(self, case: Case, *, codes: tuple[int, ...] | None = None) -> str:
        patch = self.commands.monkeypatch
        patch.setenv("GWTUI_BASE_URL", self.gateway.base_url)
        if case.environment:
            patch.setenv("GWTUI_TOKEN", TOKEN)
        else:
            patch.delenv("GWTUI_TOKEN", raising=False)
        command, *arguments = case.words
        address = ["--base-url", self.gateway.base_url] if command == "login" else []
        code, out, err = self.commands(command, *address, *arguments, stdin=case.stdin)
        assert code in (codes or case.codes), f"{case}: {code}: {err}"
        number = len(self.sinks)
        self.sinks[f"stderr {number} of {case}"] = err
        self.sinks[f"stdout {number} of {case}"] = "" if case.prints_key else out
        if case.prints_key:
            rest = [secret for secret in SECRETS if secret not in NEW_KEY]
            assert leaks({f"stdout of {case}": out}, rest) == []
        return out


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[ServedGateway, FaultInjector]]:
    faults = FaultInjector()
    with minting_marked(), served_gateway("empty", faults) as gateway:
        assert gateway.management == TOKEN
        yield gateway, faults


@pytest.fixture
def place(
    served: tuple[ServedGateway, FaultInjector],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    private_home: Path,
) -> Iterator[CommandRunner]:
    ring = DictRing()
    monkeypatch.setattr("keyring.get_keyring", lambda: ring)
    gateway, faults = served
    faults.clear()
    with logging_into(private_home / "state" / "gwtui"):
        yield CommandRunner(Commands(monkeypatch, capsys), gateway, faults, {})


def assert_no_leaks(place: CommandRunner, home: Path, paths: int) -> None:
    sinks = {**place.sinks, **files(home)}
    names = {Path(sink).name for sink in sinks}
    assert {"gwtui.log", "audit.jsonl"} <= names
    assert leaks(sinks, SECRETS) == []
    assert open_to_others(home) == []
    print(f"{len(SECRETS)} secrets x {len(FORMS)} forms x {len(sinks)} sinks, {paths} paths")


def test_successful_commands_leak_no_secret(place: CommandRunner, private_home: Path) -> None:
    printed = [place.run(case) for case in CASES]
    created = next(out for case, out in zip(CASES, printed, strict=True) if case.prints_key)
    assert created.startswith(MARKED["new key"])
    saved = files(private_home, apart_from=())
    assert not any(name.endswith(".token") for name in saved), "logout deletes the token file"
    assert_no_leaks(place, private_home, len(CASES))


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_commands_leak_no_secret(
    fault: str, place: CommandRunner, private_home: Path
) -> None:
    place.faults.arm(fault if fault in SEVERAL else f"{fault}:writes")
    cases = [case for case in CASES if fault in SEVERAL or "--yes" in case.words]
    for case in cases:
        place.run(case, codes=(0, 1, 2, 3, 4, 5, 6))
    place.faults.clear()
    assert_no_leaks(place, private_home, len(cases))


def test_a_saved_token_is_only_in_its_own_file(place: CommandRunner, private_home: Path) -> None:
    place.run(Case(("login", "--profile", "kept", "--save-file"), TOKEN))
    place.run(Case(("whoami", "--profile", "kept"), environment=False))
    (saved,) = (private_home / "data").rglob("*.token")
    assert saved.read_text().strip() == TOKEN
    assert leaks({**place.sinks, **files(private_home, apart_from=("*.token",))}, SECRETS) == []


def test_child_processes_never_get_the_token(
    place: CommandRunner, private_home: Path, tmp_path: Path
) -> None:
    """Neither a token command, whose stderr is discarded, nor the command of alerts."""
    program = tmp_path / "token-command"
    trace = tmp_path / "seen"
    source = tmp_path / "source"
    source.write_text(TOKEN)
    program.write_text(
        f"#!/bin/sh\ncat /proc/self/environ /proc/self/cmdline /proc/$PPID/cmdline >> {trace}\n"
        f"cat {source} >&2\ncat {source}\n"
    )
    program.chmod(0o700)
    login = ("login", "--profile", "asked", "--token-command", str(program))
    place.run(Case(login))
    for words in (("whoami", "--profile", "asked"), ("keys", "list", "--profile", "asked")):
        place.run(Case(words, environment=False))
    rules = private_home / "config" / "gwtui" / "alerts.toml"
    rules.write_text(f'[effects]\ncommand = ["{program}"]\n')
    place.run(Case(("alerts", "test")))
    sinks = {**place.sinks, **files(private_home), "seen": trace.read_bytes()}
    assert trace.read_bytes().count(b"XDG_STATE_HOME=") == 4
    assert leaks(sinks, SECRETS) == []


def test_a_served_gateway_stores_no_readable_key(private_home: Path, tmp_path: Path) -> None:
    """Neither its output about requests nor its log, its database and files beside it."""
    database = tmp_path / "database" / "gateway.sqlite3"
    database.parent.mkdir(mode=0o700)
    gateway = [sys.executable, "-m", "gwtui", "gateway", "--log-level", "debug"]
    database_option = ["--database", str(database)]
    serve = [*gateway, "serve", "--empty", "--port", "0", *database_option]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        address = process.stdout.readline().decode().strip()
        issue = subprocess.run(
            [*gateway, "issue-key", "--management", *database_option],
            capture_output=True,
            check=True,
        )
        token = issue.stdout.decode().strip()
        with httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, params={"q": token}
        ) as client:
            body = {"name": "ci", "external": {"user": "u", "api_key": MARKED["external key"]}}
            created_key = client.post("/keys", json=body).raise_for_status().json()["key"]
            stored = {"provider": "northwind", "key": PROVIDER_KEY}
            client.post("/byok", json=stored).raise_for_status()
            client.post("/byok", content=PROVIDER_KEY)
            client.get(f"/keys/{token}")
        stored_files = files(database.parent, private_home)
        process.terminate()
        out, err = process.communicate(timeout=20)
    secrets = [*SECRETS, Sentinel("issued key", token), Sentinel("made key", created_key)]
    sinks = {**stored_files, "stdout": out, "stderr": err, "issuing": issue.stderr}
    sinks |= {
        f"later {name}": content for name, content in files(database.parent, private_home).items()
    }
    assert any(name.endswith("-wal") for name in stored_files)
    assert leaks(sinks, secrets) == []
    assert open_to_others(private_home, database.parent) == []


def test_the_cases_cover_every_command() -> None:
    called = {case.words[0] for case in CASES}
    assert set(COMMANDS) - OTHER_SIDE <= called
