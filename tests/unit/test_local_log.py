"""The log file: private, small, shared by processes, and without secrets."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.client.errors import GatewayError
from gwtui.domain.known_secrets import remember
from gwtui.local.log import FILE_NAME, LogFile, crash_report, open_log, traceback_lines

TOKEN = "SENTINEL-4c1d0f9a7e"
"""A secret without a recognizable format."""


class Telling:
    """An object whose every representation contains the token."""

    def __repr__(self) -> str:
        return f"Telling({TOKEN})"

    __str__ = __repr__


class Raising:
    def __repr__(self) -> str:
        raise ValueError(TOKEN)

    __str__ = __repr__


class TellingText(str):
    def __str__(self) -> str:
        return TOKEN

    def __format__(self, spec: str) -> str:
        return TOKEN


@pytest.fixture
def secret(own_secrets_only: None) -> SecretStr:
    """The only known secret."""
    token = SecretStr(TOKEN)
    remember(token)
    return token


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state" / "gwtui"


@pytest.fixture
def restored_loggers() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("gwtui")
    before = list(root.handlers), ours.level, logging.raiseExceptions
    yield
    root.handlers[:], ours.level, logging.raiseExceptions = before
    ours.setLevel(before[1])


@pytest.fixture
def log(state: Path, secret: SecretStr, restored_loggers: None) -> logging.Logger:
    assert open_log(state, "debug") is not None
    return logging.getLogger("gwtui.test")


def log_text(state: Path) -> str:
    text = "".join(path.read_text() for path in sorted(state.glob(f"{FILE_NAME}*")))
    assert TOKEN not in text
    assert TOKEN[:12] not in text
    return text


def test_the_log_file_is_created_with_its_first_record(log: logging.Logger, state: Path) -> None:
    assert not state.exists()
    log.info("begins")
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / FILE_NAME).stat().st_mode & 0o777 == 0o600
    (line,) = log_text(state).splitlines()
    assert line.endswith(f"Z INFO [{os.getpid()}] gwtui.test: begins")


PLAIN: dict[str, tuple[Any, ...]] = {
    "the token": ("%s", TOKEN),
    "in words": ("cannot send %s to %s", f"Bearer {TOKEN}", "host"),
    "in the text itself": (f"cannot send {TOKEN}",),
    "cut in the middle": ("%s", "x" * 295 + TOKEN),
    "with a control character": ("%s", f"\x1b[2J{TOKEN}\r\n"),
    "by name": ("%(token)s", {"token": TOKEN}),
    "as bytes": ("%s", TOKEN.encode()),
    "in a list": ("%s", [TOKEN]),
    "in a mapping": ("%r", {TOKEN: TOKEN}),
    "an object": ("%s and %r", Telling(), Telling()),
    "an object in the place of a text": (Telling(),),
    "an object that fails": ("%s", Raising()),
    "a text that is none": ("%s", TellingText("harmless")),
    "an error": ("%s", ValueError(TOKEN)),
    "an error of the system": ("%s", OSError(2, "No such file", f"/{TOKEN}")),
    "an error of ours": ("%s", GatewayError(f"key {TOKEN} is unknown")),
    "arguments that do not fit": ("%d", TOKEN),
    "too few": ("%s %s %s", TOKEN, 1),
}


@pytest.mark.parametrize("arguments", PLAIN.values(), ids=PLAIN.keys())
@pytest.mark.parametrize("name", ["gwtui.test", "asyncio", "httpx", "uvicorn.error"])
def test_records_never_contain_the_token(
    arguments: tuple[Any, ...],
    name: str,
    log: logging.Logger,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A server that ran in this process may have detached its loggers from the root.
    for item in (name, name.partition(".")[0]):
        monkeypatch.setattr(logging.getLogger(item), "propagate", True)
        monkeypatch.setattr(logging.getLogger(item), "disabled", False)
        monkeypatch.setattr(logging.getLogger(item), "level", logging.NOTSET)
    logging.getLogger(name).warning(*arguments)
    assert name in log_text(state)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        (True, "True"),
        (Decimal("1.50"), "1.50"),
        (date(2026, 11, 21), "2026-11-21"),
        (Path("/etc/gwtui"), "/etc/gwtui"),
        ("two\nlines", "two␊lines"),
        (b"bytes", "<bytes>"),
        (["a list"], "<list>"),
        (object(), "<object>"),
        (ValueError("of others"), "<ValueError>"),
        (GatewayError("of ours"), "GatewayError: of ours"),
        (FileNotFoundError(2, "No such file", "/a/name"), "FileNotFoundError: No such file"),
    ],
)
def test_plain_values_are_logged_and_others_by_type(
    value: object, text: str, log: logging.Logger, state: Path
) -> None:
    log.info("met %s", value)
    assert log_text(state).endswith(f"met {text}\n")


async def test_other_libraries_log_warnings_without_their_text(
    log: logging.Logger, state: Path
) -> None:
    async def fail() -> None:
        raise RuntimeError(TOKEN)

    def call(_token: str) -> None:
        raise LookupError(TOKEN)

    logging.getLogger("httpx").info("HTTP Request: GET %s", "https://gateway.test")
    lost = asyncio.create_task(fail(), name=TOKEN)
    asyncio.get_running_loop().call_soon(call, TOKEN)
    await asyncio.sleep(0.01)
    del lost
    text = log_text(state)
    for words in (
        "Task exception was never retrieved",
        "Exception in callback",
        "RuntimeError",
        "LookupError",
    ):
        assert words in text
    assert "httpx" not in text


def test_log_records_never_reach_the_screen(
    log: logging.Logger, state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text("in the way")
    log.error("cannot be written %d", "no number")
    logging.getLogger("asyncio").error("lost")
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("restored_loggers")
def test_level_off_writes_nothing(state: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert open_log(state, "off") is None
    logging.getLogger("gwtui").error("lost")
    logging.getLogger("asyncio").error("lost")
    assert not state.exists()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("make", ["symlink_to", "mkdir", "mkfifo"])
def test_links_pipes_and_directories_are_not_written_to(
    make: str, state: Path, tmp_path: Path
) -> None:
    path, other = state / FILE_NAME, tmp_path / "other"
    state.mkdir(parents=True)
    other.write_text("theirs")
    {
        "symlink_to": lambda: path.symlink_to(other),
        "mkdir": path.mkdir,
        "mkfifo": lambda: os.mkfifo(path),
    }[make]()
    LogFile(path).emit(record("hello"))
    assert other.read_text() == "theirs"


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("gwtui.test", logging.INFO, "", 1, text, (), None)


def test_full_files_are_set_aside_and_the_oldest_goes(state: Path) -> None:
    handler = LogFile(state / FILE_NAME, full=400, kept=2)
    for number in range(30):
        handler.emit(record(f"line {number:03}"))
    files = sorted(state.iterdir())
    names = {file.name for file in files}
    rotated = {f"{FILE_NAME}.1", f"{FILE_NAME}.2"}
    assert rotated <= names <= {FILE_NAME, *rotated}
    for file in files:
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.stat().st_size < 500
    newest = "".join(file.read_text() for file in sorted(files, reverse=True))
    numbers = [int(line[-3:]) for line in newest.splitlines()]
    assert numbers == list(range(numbers[0], 30))


# Crash reports ------------------------------------------------------------------------------------


def report_of(error: BaseException) -> list[str]:
    lines = traceback_lines(error)
    assert TOKEN not in "\n".join(lines)
    return lines


def test_a_report_contains_the_traceback_and_every_cause() -> None:
    def fail() -> None:
        try:
            {}[TOKEN]
        except KeyError:
            raise ValueError(TOKEN) from OSError(TOKEN)

    with pytest.raises(ValueError, match=TOKEN) as caught:
        fail()
    lines = report_of(caught.value)
    assert lines[0] == "ValueError"
    assert lines[-3:] == ["", "raised while handling", "OSError"]
    assert any(line.startswith("  tests/unit/test_local_log.py:") for line in lines)
    assert lines[2].endswith(" in fail")


def test_suppressed_context_is_not_reported() -> None:
    error = ValueError(TOKEN)
    error.__context__ = KeyError(TOKEN)
    error.__suppress_context__ = True
    assert report_of(error) == ["ValueError"]


def test_groups_are_reported_in_full_and_without_cycles() -> None:
    first, second = KeyError(TOKEN), OSError(TOKEN)
    first.__context__, second.__context__ = second, first
    group = ExceptionGroup(TOKEN, [first, ExceptionGroup(TOKEN, [second, first])])
    lines = [line for line in report_of(group) if line]
    reported = [line for line in lines if "which" not in line and "handling" not in line]
    assert sorted(reported) == ["ExceptionGroup", "ExceptionGroup", "KeyError", "OSError"]


def test_a_recursion_report_keeps_both_ends() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    lines = report_of(caught.value)
    assert len(lines) < 100
    assert any("more" in line for line in lines)


def test_a_long_chain_is_cut() -> None:
    error: BaseException = ValueError(TOKEN)
    for _ in range(1000):
        outer = ValueError(TOKEN)
        outer.__cause__ = error
        error = outer
    assert len(report_of(error)) < 100


def test_missing_modules_are_named_and_foreign_names_are_not() -> None:
    with pytest.raises(ImportError) as missing:
        importlib.import_module("gwtui.no_such_module")
    assert report_of(missing.value)[0] == "ModuleNotFoundError (gwtui.no_such_module)"
    assert report_of(ImportError(TOKEN, name=TOKEN))[0] == "ImportError"
    assert report_of(NameError(TOKEN, name=TOKEN))[0] == "NameError"
    assert report_of(AttributeError(TOKEN, name=TOKEN))[0] == "AttributeError"


def test_a_report_begins_with_a_sentence() -> None:
    assert crash_report(ValueError(TOKEN)) == (
        "gwtui stopped because of an error in the program.\n\nValueError\n"
    )
