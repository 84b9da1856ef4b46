"""Profiles: their files, how they are read and edited, and the sources of tokens."""

from __future__ import annotations

import asyncio
import errno
import itertools
import multiprocessing
import os
import stat
import sys
import threading
import time
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import urlsplit

import keyring
import keyring.backends.chainer
import keyring.backends.fail
import keyring.errors
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gwtui.local.paths import Paths
from gwtui.local.private_file import PrivateDirectoryError, ensure_private
from gwtui.local.profiles import (
    FIELDS,
    Profile,
    ProfileBook,
    ProfileError,
    load_profiles,
    put_profile,
    remove_profile,
    resolve,
    set_default,
)
from gwtui.local.tokens import (
    TokenError,
    find_token,
    take_from_environment,
    token_from_command,
    token_from_file,
)
from gwtui.local.toml_file import TomlFileError, with_values, without_table

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
    created = ensure_private(tmp_path / "a" / "b")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (created, created.parent)] == [
        0o700,
        0o700,
    ]
    created.chmod(0o755)
    assert stat.S_IMODE(ensure_private(created).stat().st_mode) == 0o700


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
    result = book(tmp_path, GOOD)
    work = result.profiles["work"]
    assert (work.base_url, work.token_command) == ("https://gw.test/api/v1", ("pass", "gw"))
    assert (work.critical, work.read_only, work.dialect) == (True, True, "generic")
    assert result.profiles["my-lab"].dialect == "openrouter"
    connection = result.profiles["my-lab"].connection(None, "none")
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


ENV_URL = {"GWTUI_BASE_URL": "https://env.test"}


@pytest.mark.parametrize(
    ("name", "url", "environ", "chosen"),
    [
        (None, None, {}, ("work", "gw.test")),
        (None, None, {"GWTUI_PROFILE": "my-lab"}, ("my-lab", "lab.test")),
        ("work", None, {"GWTUI_PROFILE": "my-lab"}, ("work", "gw.test")),
        (None, None, ENV_URL, ("", "env.test")),
        (None, "https://arg.test", ENV_URL, ("", "arg.test")),
        ("work", None, ENV_URL, ("work", "gw.test")),
    ],
)
def test_arguments_win_over_environment_over_file(
    tmp_path: Path,
    name: str | None,
    url: str | None,
    environ: dict[str, str],
    chosen: tuple[str, str],
) -> None:
    profile = resolve(name, url, None, False, environ, book=book(tmp_path, GOOD))
    assert (profile.name, urlsplit(profile.base_url).hostname) == chosen
    assert profile.read_only == (chosen[0] == "work")
    changed = resolve("my-lab", None, "generic", True, {}, book=book(tmp_path, GOOD))
    assert (changed.read_only, changed.dialect) == (True, "generic")


def test_a_profiles_token_never_goes_to_another_host(tmp_path: Path) -> None:
    result = book(tmp_path, GOOD)
    foreign = resolve("work", "https://elsewhere.test", None, False, {}, book=result)
    assert (foreign.name, foreign.token_command) == ("", None)
    assert (foreign.critical, foreign.read_only) == (True, True)
    lab = resolve("my-lab", "http://elsewhere.test", None, False, {}, book=result)
    with pytest.raises(ProfileError, match="plain http"):
        lab.connection(None, "none")
    same_host = resolve("work", "https://gw.test:443/other", None, False, {}, book=result)
    assert same_host.token_command == ("pass", "gw")
    assert same_host.base_url.endswith("/other")


@pytest.mark.parametrize(
    ("name", "url", "says"),
    [
        (None, None, "--base-url"),
        ("nope", None, "no profile 'nope'; none exist"),
        (None, "nonsense", "https://"),
    ],
)
def test_an_unclear_gateway_is_explained(name: str | None, url: str | None, says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        resolve(name, url, None, False, {}, book=ProfileBook())


# Tokens


async def test_environment_tokens_come_first_and_are_removed() -> None:
    environ = {"GWTUI_TOKEN": f" {SECRET}\n", "PATH": "x"}
    result = await find_token(replace(PLAIN, token_command=("false",)), environ)
    assert (result.token.get_secret_value(), result.source) == (SECRET, "environment")
    assert environ == {"PATH": "x"}
    assert SECRET not in repr(result)
    assert take_from_environment({"GWTUI_TOKEN": "  "}) is None


async def token_of(profile: Profile) -> tuple[str | None, str]:
    result = await find_token(profile, {})
    return result.token and result.token.get_secret_value(), result.source


LEFT_BEHIND = "import subprocess; subprocess.Popen(['sleep', '10'], start_new_session=True)"
"""A program that ends and leaves a child process, which keeps its stdout open."""


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
        (printing(f"print('{SECRET} and more')"), "more than the key alone"),
        (printing(f"import sys; sys.stdout.buffer.write(b'{SECRET}' + bytes([255]))"), "more than"),
        (printing(f"print('{SECRET}' * 100_000)"), "did not end within 0.5 s"),
        (printing("import time; time.sleep(60)"), "did not end within 0.5 s"),
        (("sh", "-c", "sleep 60 & sleep 60"), "did not end within 0.5 s"),
    ],
)
async def test_a_command_that_fails_is_an_error_without_its_output(
    command: tuple[str, ...], says: str
) -> None:
    # Only a program that does not end reaches the limit: a busy machine starts Python slowly.
    limit = 0.5 if "0.5 s" in says else 30
    started = time.monotonic()
    with pytest.raises(TokenError, match=says) as caught:
        await token_from_command(command, dict(os.environ), limit=limit)
    assert time.monotonic() - started < limit + 4.5
    assert SECRET not in str(caught.value).replace(repr(command), "")


async def test_a_token_command_gets_no_stdin_and_no_shell() -> None:
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
    profile_with_history = replace(
        PLAIN,
        token_file=tmp_path / "absent",
        history="prometheus",
        history_url="https://prometheus.test",
    )

    async def history_token(profile: Profile) -> str | None:
        server = profile.connection(None, "none").history
        assert server.url == "https://prometheus.test"
        token = await server.find_token()
        return None if token is None else token.get_secret_value()

    assert await history_token(profile_with_history) is None
    assert (
        await history_token(replace(profile_with_history, history_token_file=token_file(tmp_path)))
        == SECRET
    )
    command = printing("print('of-the-history')")
    assert (
        await history_token(replace(profile_with_history, history_token_command=command))
        == "of-the-history"
    )
    monkeypatch.setenv("GWTUI_HISTORY_TOKEN", SECRET)
    assert await history_token(profile_with_history) == SECRET
    assert "GWTUI_HISTORY_TOKEN" not in os.environ
    elsewhere = resolve(
        "work",
        "https://other.test",
        None,
        False,
        {},
        book=ProfileBook({"work": profile_with_history}),
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
        ("token", f"{SECRET} x", "more than the key"),
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
    """A keyring with scripted answers."""

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
        (Ring(None), "no management key for profile work"),
        (Ring(keyring.errors.KeyringLocked("locked")), "the keyring is locked"),
        (Ring(RuntimeError(SECRET)), "cannot be used (RuntimeError)"),
        (Ring(EOFError()), "cannot be used (EOFError)"),
    ],
)
async def test_an_unusable_keyring_is_a_note(
    backend: object, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, backend)
    result = await find_token(PLAIN, {})
    assert (result.token, result.source) == (None, "none")
    assert note in result.notes[0]
    assert SECRET not in result.notes[0]


async def test_a_bogus_backend_name_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    def bogus() -> object:
        raise ModuleNotFoundError("no.such.backend")

    monkeypatch.setattr(keyring, "get_keyring", bogus)
    assert "cannot be used" in (await find_token(PLAIN, {})).notes[0]


async def test_a_chained_keyring_is_used_only_if_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = keyring.backends.chainer.ChainerBackend()
    monkeypatch.setattr(
        type(chain), "backends", [AltRing("plain-text"), PlainRing("low"), Ring(SECRET)]
    )
    use(monkeypatch, chain)
    result = await find_token(PLAIN, {})
    assert result.token.get_secret_value() == SECRET


async def test_a_hanging_keyring_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    class Waiting(Ring):
        def get_password(self, service: str, username: str) -> str | None:
            release.wait(30)
            return None

    Waiting.__module__ = Ring.__module__
    use(monkeypatch, Waiting(None))
    result = await find_token(PLAIN, {}, keyring_limit=0.1)
    assert result.token is None
    assert "did not respond in 0.1 s" in result.notes[0]
    assert all(t.daemon for t in threading.enumerate() if t.name == "keyring")
    release.set()
    await asyncio.sleep(0.05)


# Edits --------------------------------------------------------------------------------------------


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
    assert sorted(item.name for item in tmp_path.iterdir()) == ["config", "profiles.toml"]


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
            r": profiles\.a\.name: unknown setting",
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
            r": profiles\.a\.findings: unknown setting",
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
    names = {field.name for field in fields(Profile)}
    readable = {field.name.removeprefix("findings.").partition(".")[0] for field in FIELDS}
    assert names - {"name"} == readable


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


def test_invalid_edits_are_not_written(path: Path) -> None:
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


def test_two_processes_that_edit_at_once_lose_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A process that edits without a pause can hold the lock back from the other for long.
    monkeypatch.setattr("gwtui.local.private_file.LOCK_PATIENCE", 60.0)
    count = 12
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_add_many, args=(path, n * count, count)) for n in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    result = load_profiles(path, keep_unknown=True)
    assert set(result.profiles) == {"work", "lab", *(f"p{number}" for number in range(2 * count))}
    assert all(result.profiles[f"p{number}"].critical for number in range(2 * count))
    assert [line for line in OWNERS.splitlines() if "#" in line and "default" not in line] == [
        line for line in path.read_text().splitlines() if "#" in line and "default" not in line
    ]
    assert sorted(item.name for item in path.parent.iterdir() if item.is_file()) == [
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
        # Complete, and unlocked.
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
    assert {item.name for item in path.parent.iterdir() if item.is_file()} == {
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
def test_any_series_of_edits_reads_back_and_keeps_comments(data: st.DataObject) -> None:
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
        # A comment added in between survives all following edits.
        text += data.draw(COMMENTS)
    comments = [line for line in text.split("\n") if line.startswith("# ")]
    text = with_values(text, {("profiles", "last", "x"): True, ("default",): "last"})
    text = without_table(text, "profiles", "last")
    assert [line for line in text.split("\n") if line.startswith("# ")] == comments


def test_a_windows_file_keeps_its_line_ends() -> None:
    text = "[profiles.a]\r\nx = 1\r\n"
    text = with_values(text, {("profiles", "a", "y"): "z", ("profiles", "b", "y"): "z"})
    assert "\n" not in text.replace("\r\n", "")


def test_an_edit_that_would_not_read_back_is_refused() -> None:
    with pytest.raises(TomlFileError):
        with_values("profiles = 3\n", {("profiles", "a", "x"): True})
    with pytest.raises(TomlFileError):
        without_table("profiles = {a = {x = 1}}\n", "profiles", "a")
