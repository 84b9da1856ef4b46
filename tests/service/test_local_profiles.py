"""Profiles, private directories and token sources of this machine."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import keyring
import keyring.backends.chainer
import keyring.backends.fail
import keyring.errors
import pytest

from gwtui.local.paths import Paths
from gwtui.local.private_file import PrivateDirectoryError, ensure_private
from gwtui.local.profiles import Profile, ProfileBook, ProfileError, load_profiles, resolve
from gwtui.local.tokens import (
    TokenError,
    find_token,
    take_from_environment,
    token_from_command,
    token_from_file,
)

SECRET = "gw-v1-SENTINEL-local"
PLAIN = Profile(name="work", base_url="https://gw.test")


# Directories


def test_the_users_directories_follow_the_platform(private_home: Path) -> None:
    paths = Paths.of_user()
    assert paths.config == private_home / "config" / "gwtui"
    assert paths.state == private_home / "state" / "gwtui"
    assert paths.runtime == private_home / "run" / "gwtui"


def test_a_private_directory_is_closed_to_others_with_its_new_parents(tmp_path: Path) -> None:
    os.umask(os.umask(0))
    made = ensure_private(tmp_path / "a" / "b")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made, made.parent)] == [0o700, 0o700]
    made.chmod(0o755)
    assert stat.S_IMODE(ensure_private(made).stat().st_mode) == 0o700


def test_a_directory_that_cannot_be_private_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(PrivateDirectoryError, match="file"):
            ensure_private(path)


def test_a_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PrivateDirectoryError, match="another user"):
        ensure_private(tmp_path / "d")


# Profiles


def book(tmp_path: Path, text: str) -> ProfileBook:
    path = tmp_path / "profiles.toml"
    path.write_text(text)
    path.chmod(0o600)
    return load_profiles(path)


GOOD = """
default = "work"
[profiles.work]
base_url = "https://gw.test"
token_command = ["pass", "gw"]
critical = true
read_only = true
[profiles.my-lab]
base_url = "http://lab.test/api/v1"
dialect = "openrouter"
allow_plain_http = true
token_file = "~/token"
"""


def test_profiles_are_read(tmp_path: Path) -> None:
    found = book(tmp_path, GOOD)
    work = found.profiles["work"]
    assert (work.base_url, work.token_command) == ("https://gw.test/api/v1", ("pass", "gw"))
    assert (work.critical, work.read_only, work.dialect) == (True, True, "generic")
    assert found.profiles["my-lab"].dialect == "openrouter"
    connection = found.profiles["my-lab"].connection(None, "none")
    assert (connection.label, connection.dialect.name) == ("my-lab", "openrouter")
    assert not connection.critical
    guarded = work.connection(None, "keyring")
    assert (guarded.critical, guarded.read_only, guarded.token_source) == (True, True, "keyring")


def test_a_file_that_everyone_can_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "profiles.toml"
    path.write_text(GOOD)
    path.chmod(0o666)
    with pytest.raises(ProfileError, match="chmod 600"):
        load_profiles(path)


def test_arguments_win_over_environment_over_file(tmp_path: Path) -> None:
    found = book(tmp_path, GOOD)

    def chosen(name: str | None = None, url: str | None = None, **environ: str) -> Profile:
        return resolve(name, url, None, False, environ, book=found)

    assert chosen().name == "work"
    assert chosen(GWTUI_PROFILE="my-lab").name == "my-lab"
    assert chosen("work", GWTUI_PROFILE="my-lab").name == "work"
    assert chosen(GWTUI_BASE_URL="https://env.test").base_url == "https://env.test/api/v1"
    assert chosen(None, "https://arg.test", GWTUI_BASE_URL="https://env.test").label == "arg.test"
    assert chosen("work", GWTUI_BASE_URL="https://env.test").base_url == "https://gw.test/api/v1"
    assert resolve("my-lab", None, "generic", True, {}, book=found).read_only
    assert resolve("my-lab", None, "generic", True, {}, book=found).dialect == "generic"
    assert resolve("work", None, None, False, {}, book=found).read_only


def test_a_profiles_token_never_goes_to_another_host(tmp_path: Path) -> None:
    found = book(tmp_path, GOOD)
    foreign = resolve("work", "https://elsewhere.test", None, False, {}, book=found)
    assert (foreign.name, foreign.token_command) == ("", None)
    assert (foreign.critical, foreign.read_only) == (True, True)
    lab = resolve("my-lab", "http://elsewhere.test", None, False, {}, book=found)
    with pytest.raises(ProfileError, match="plain http"):
        lab.connection(None, "none")
    same = resolve("work", "https://gw.test:443/other", None, False, {}, book=found)
    assert same.token_command == ("pass", "gw")
    assert same.base_url.endswith("/other")


@pytest.mark.parametrize(
    ("name", "url", "says"),
    [
        (None, None, "--base-url"),
        ("nope", None, r"no profile 'nope' \(known: there are none\)"),
        (None, "nonsense", "https://"),
    ],
)
def test_an_unclear_gateway_is_explained(name: str | None, url: str | None, says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        resolve(name, url, None, False, {}, book=ProfileBook())


# Tokens


async def test_the_environment_comes_first_and_is_emptied() -> None:
    environ = {"GWTUI_TOKEN": f" {SECRET}\n", "PATH": "x"}
    found = await find_token(replace(PLAIN, token_command=("false",)), environ)
    assert (found.token.get_secret_value(), found.source) == (SECRET, "environment")
    assert environ == {"PATH": "x"}
    assert SECRET not in repr(found)
    assert take_from_environment({"GWTUI_TOKEN": "  "}) is None


async def token_of(profile: Profile) -> tuple[str | None, str]:
    found = await find_token(profile, {})
    return found.token and found.token.get_secret_value(), found.source


LEFT_BEHIND = "import subprocess; subprocess.Popen(['sleep', '10'], start_new_session=True)"
"""A program that ends and leaves another one behind, which holds what it would print into."""


def printing(program: str) -> tuple[str, ...]:
    return (sys.executable, "-c", program)


async def test_a_command_prints_the_token() -> None:
    started = time.monotonic()
    profile = replace(PLAIN, token_command=printing(f"print('{SECRET}'); {LEFT_BEHIND}"))
    assert await token_of(profile) == (SECRET, "token command")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("/no/such/program",), "No such file"),
        (printing(f"print('{SECRET}'); raise SystemExit(3)"), "ended with status 3"),
        (printing(""), "gave nothing"),
        (printing(f"print('{SECRET} and more')"), "more than the token alone"),
        (printing(f"import sys; sys.stdout.buffer.write(b'{SECRET}' + bytes([255]))"), "more than"),
        (printing(f"print('{SECRET}' * 100_000)"), "did not end within 0.5 s"),
        (printing("import time; time.sleep(60)"), "did not end within 0.5 s"),
        (("sh", "-c", "sleep 60 & sleep 60"), "did not end within 0.5 s"),
    ],
)
async def test_a_command_that_fails_is_an_error_without_its_output(
    command: tuple[str, ...], says: str
) -> None:
    started = time.monotonic()
    with pytest.raises(TokenError, match=says) as caught:
        await token_from_command(command, dict(os.environ), limit=0.5)
    assert time.monotonic() - started < 5
    assert SECRET not in str(caught.value).replace(repr(command), "")


async def test_a_command_has_no_keyboard_and_no_shell() -> None:
    program = "import sys; print('[' + sys.stdin.read() + sys.argv[1] + ']')"
    token = await token_from_command((*printing(program), "$HOME;x"), dict(os.environ))
    assert token.get_secret_value() == "[$HOME;x]"


def token_file(tmp_path: Path, content: str = f"{SECRET}\n", mode: int = 0o600) -> Path:
    path = tmp_path / "token"
    path.write_text(content)
    path.chmod(mode)
    return path


async def test_the_token_of_the_history_has_sources_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", "of-the-gateway")
    where = replace(
        PLAIN,
        token_file=tmp_path / "absent",
        history="prometheus",
        history_url="https://prometheus.test",
    )

    async def found(profile: Profile) -> str | None:
        server = profile.connection(None, "none").history
        assert server.url == "https://prometheus.test"
        token = await server.find_token()
        return None if token is None else token.get_secret_value()

    assert await found(where) is None
    assert await found(replace(where, history_token_file=token_file(tmp_path))) == SECRET
    command = printing("print('of-the-history')")
    assert await found(replace(where, history_token_command=command)) == "of-the-history"
    monkeypatch.setenv("GWTUI_HISTORY_TOKEN", SECRET)
    assert await found(where) == SECRET
    assert "GWTUI_HISTORY_TOKEN" not in os.environ
    elsewhere = resolve(
        "work", "https://other.test", None, False, {}, book=ProfileBook({"work": where})
    )
    assert elsewhere.connection(None, "none").history is None


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o644, 0o640, 0o604, 0o620])
async def test_a_private_file_holds_the_token(tmp_path: Path, mode: int) -> None:
    path = token_file(tmp_path, mode=mode)
    if mode & 0o077:
        with pytest.raises(TokenError, match="chmod 600"):
            token_from_file(path)
    else:
        assert await token_of(replace(PLAIN, token_file=path)) == (SECRET, "token file")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none", None, "No such file"),
        ("pipe", None, "not a regular file"),
        (".", None, "directory"),
        ("token", "", "gave nothing"),
        ("token", f"{SECRET} x", "more than the token"),
        ("token", SECRET * 9_999, "larger than 64 KiB"),
    ],
    ids=["none", "pipe", "directory", "empty", "two", "huge"],
)
def test_a_file_with_anything_but_a_token_is_refused(
    tmp_path: Path, name: str, content: str | None, says: str
) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    if content is not None:
        token_file(tmp_path, content)
    with pytest.raises(TokenError, match=says) as caught:
        token_from_file(tmp_path / name)
    assert SECRET not in str(caught.value)


class Ring:
    """A keyring that answers as told."""

    priority = 5.0

    def __init__(self, answer: str | Exception | None) -> None:
        self.answer = answer

    def get_password(self, service: str, username: str) -> str | None:
        assert (service, username) == ("gwtui", "work")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class PlainRing(Ring):
    priority = 0.5


class AltRing(Ring):
    pass


Ring.__module__ = PlainRing.__module__ = "keyring.backends.SecretService"
AltRing.__module__ = "keyrings.alt.file"


def use(monkeypatch: pytest.MonkeyPatch, backend: object) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: backend)


async def test_the_keyring_has_the_token_of_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Ring(SECRET))
    assert await token_of(PLAIN) == (SECRET, "keyring")
    assert await token_of(Profile(base_url="https://gw.test")) == (None, "none")


@pytest.mark.parametrize(
    ("backend", "note"),
    [
        (keyring.backends.fail.Keyring(), "there is no keyring"),
        (PlainRing(SECRET), "there is no keyring"),
        (AltRing(SECRET), "there is no keyring"),
        (Ring(None), "no token for profile work"),
        (Ring(keyring.errors.KeyringLocked("locked")), "the keyring is locked"),
        (Ring(RuntimeError(SECRET)), "cannot be used (RuntimeError)"),
        (Ring(EOFError()), "cannot be used (EOFError)"),
    ],
)
async def test_a_keyring_that_does_not_help_is_a_note(
    backend: object, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, backend)
    found = await find_token(PLAIN, {})
    assert (found.token, found.source) == (None, "none")
    assert note in found.notes[0]
    assert SECRET not in found.notes[0]


async def test_a_bogus_backend_name_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def bogus() -> object:
        raise ModuleNotFoundError("no.such.backend")

    monkeypatch.setattr(keyring, "get_keyring", bogus)
    assert "cannot be used" in (await find_token(PLAIN, {})).notes[0]


async def test_a_chain_is_asked_only_where_it_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = keyring.backends.chainer.ChainerBackend()
    monkeypatch.setattr(
        type(chain), "backends", [AltRing("plain-text"), PlainRing("low"), Ring(SECRET)]
    )
    use(monkeypatch, chain)
    found = await find_token(PLAIN, {})
    assert found.token.get_secret_value() == SECRET


async def test_a_keyring_that_never_answers_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    class Waiting(Ring):
        def get_password(self, service: str, username: str) -> str | None:
            release.wait(30)
            return None

    Waiting.__module__ = Ring.__module__
    use(monkeypatch, Waiting(None))
    found = await find_token(PLAIN, {}, keyring_limit=0.1)
    assert found.token is None
    assert "did not respond in 0.1 s" in found.notes[0]
    assert all(t.daemon for t in threading.enumerate() if t.name == "keyring")
    release.set()
    await asyncio.sleep(0.05)
