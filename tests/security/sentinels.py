"""Marked secrets, and the search for them in output, files and objects of the program."""

from __future__ import annotations

import base64
import gc
import html
import json
import logging
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gwtui.contract.dialects import Dialect
from gwtui.embedded.auth import MintedKey, key_hash
from gwtui.local.log import open_log

EDGE = 4
"""Number of characters at either end that labels may show."""
MIDDLE = 24


@dataclass(frozen=True)
class Sentinel:
    """A secret that must not leak; its middle part identifies it."""

    name: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        assert len(self.value) >= MIDDLE + 2 * EDGE, self.name

    @property
    def middle(self) -> str:
        begin = (len(self.value) - MIDDLE) // 2
        return self.value[begin : begin + MIDDLE]

    @property
    def piece(self) -> str:
        """The part of a secret that may remain where it is broken over lines or cut."""
        return self.middle[-10:]

    def forms(self) -> dict[str, bytes]:
        """The encoded forms of a secret's middle, by the name of the encoding."""
        text, data = self.middle, self.middle.encode()
        results = {
            "plain": data,
            "reversed": data[::-1],
            "hex": data.hex().encode(),
            "upper-case hex": data.hex().upper().encode(),
            "utf-16": text.encode("utf-16-le"),
            "json": json.dumps(text)[1:-1].encode(),
            "json in json": json.dumps(json.dumps(text))[3:-3].encode(),
            "\\u escapes": "".join(f"\\u{ord(char):04x}" for char in text).encode(),
            "url": quote(text, safe="").encode(),
            "xml": text.replace("&", "&amp;").replace("<", "&lt;").encode(),
            "html": html.escape(text).encode(),
            "piece": self.piece.encode(),
            "python": repr(text)[1:-1].encode(),
        }
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + data)[4 if shift else 0 : -4]
            results[f"base64 at {shift}"] = encoded
            results[f"url-safe base64 at {shift}"] = encoded.translate(
                bytes.maketrans(b"+/", b"-_")
            )
        return results


FORMS = tuple(Sentinel("any", "x" * 40).forms())

MARKED = {
    "token": "gw-mgmt-v1-S%ENTI+NEL/=&\\\"'<t0k3n>;4c1d0f9a7e55aa",
    "provider key": "sk-S%ENTI+NEL/=&\\\"'<pr0v1der>;9e2b61c07d41bb",
    "rotated key": "sk-S%ENTI+NEL/=&\\\"'<r0tated>;75d3fa4160c9cc",
    "external key": "ext-S%ENTI+NEL/=&\\\"'<ext3rnal>;bb20c88e1a36dd",
    "new key": "gw-v1-S%ENTI+NEL/=&\\\"'<n3wk3y>;0fd4a5be9921ee",
    "prompt": "S%ENTI+NEL/=&\\\"'<pr0mpt>;31c7d2aa5b80ff",
}
"""Secrets with every character that some encoding escapes."""


def marked(name: str) -> Sentinel:
    return Sentinel(name, MARKED[name])


def leaks(sinks: Mapping[str, bytes | str], sentinels: Iterable[Sentinel]) -> list[str]:
    """Which secret leaked where, and in what form."""
    expected = [
        (sentinel.name, form, data)
        for sentinel in sentinels
        for form, data in sentinel.forms().items()
    ]
    return [
        f"{name} ({form}) in {sink}"
        for sink, content in sinks.items()
        for encoded in [_bytes(content)]
        for name, form, data in expected
        if data in encoded
    ]


def _bytes(content: bytes | str) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


# Sinks ------------------------------------------------------------------------------------------


def files(*folders: Path, apart_from: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Name and content of every file; for a link, its target."""
    results: dict[str, bytes] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                results[str(path)] = str(path.readlink()).encode()
            elif path.is_file() and not any(path.match(pattern) for pattern in apart_from):
                results[str(path)] = str(path).encode() + b"\n" + path.read_bytes()
    return results


def open_to_others(*folders: Path) -> list[str]:
    """Files and directories that others than their owner may use."""
    return [
        f"{path}: {path.stat().st_mode:o}"
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.exists() and path.stat().st_mode & 0o077
    ]


def error_text(error: BaseException) -> str:
    """Everything that an error could show, except local variables."""
    parts: list[str] = []
    visited: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in visited:
            continue
        visited.add(id(link))
        parts += [str(link), repr(link), repr(link.args), repr(vars(link))]
        parts += [repr(note) for note in getattr(link, "__notes__", ())]
        parts += traceback.format_exception(link)
        waiting += [link.__cause__, link.__context__, *getattr(link, "exceptions", ())]
    return "\n".join(parts)


def our_objects(package: str = "gwtui") -> Iterator[Any]:
    """Every living object of this program, without classes and modules."""
    gc.collect()
    own_kinds: dict[type, bool] = {}
    for item in gc.get_objects():
        kind = type(item)
        if kind not in own_kinds:
            own_kinds[kind] = _module(kind).partition(".")[0] == package
        if own_kinds[kind]:
            yield item


def _module(kind: type) -> str:
    return "" if issubclass(kind, type) else str(kind.__module__)


def representations() -> dict[str, str]:
    """The repr of each kind of object of this program, and the fields of dataclasses."""
    by_kind: dict[str, list[str]] = {}
    for item in our_objects():
        kind = f"repr of {type(item).__module__}.{type(item).__qualname__}"
        by_kind.setdefault(kind, []).extend(_representations_of(item))
    return {kind: "\n".join(texts) for kind, texts in by_kind.items()}


def _representations_of(item: Any) -> Iterator[str]:
    for show in (repr, str):
        try:
            yield show(item)
        except Exception as error:
            yield error_text(error)
    # The embedded gateway is excluded: a response in preparation contains a new key.
    if is_dataclass(item) and not type(item).__module__.startswith("gwtui.embedded"):
        try:
            yield repr(_as_plain_data(item))
        except Exception as error:
            yield error_text(error)


def _as_plain_data(item: Any) -> Any:
    """Like ``dataclasses.asdict`` without copies, which fail for parts of an event loop."""
    if is_dataclass(item) and not isinstance(item, type):
        return {field.name: _as_plain_data(getattr(item, field.name)) for field in fields(item)}
    if isinstance(item, dict):
        return {repr(_as_plain_data(name)): _as_plain_data(value) for name, value in item.items()}
    if isinstance(item, list | tuple):
        return [_as_plain_data(part) for part in item]
    return item


def processes(pid: int) -> dict[str, bytes]:
    """Command line and environment of a process and its descendants, as others can read them."""
    results: dict[str, bytes] = {}
    for item in (pid, *_descendants(pid)):
        for name in ("cmdline", "environ"):
            try:
                results[f"{name} of {item}"] = Path(f"/proc/{item}/{name}").read_bytes()
            except OSError:
                continue
    return results


def _descendants(pid: int) -> Iterator[int]:
    if sys.platform != "linux":
        return
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in tasks.read_text().split():
            yield int(child)
            yield from _descendants(int(child))


@dataclass
class Minter:
    """Makes keys with the marked values; inference keys differ at their end."""

    numbers: Iterator[int] = field(default_factory=count)

    def __call__(
        self, _dialect: Dialect, *, management: bool, body: str | None = None
    ) -> MintedKey:
        assert body is None, "the demo's key is derived: it cannot be a marked one"
        name = "token" if management else "new key"
        value = MARKED[name] + ("" if management else f"{next(self.numbers):04}")
        return MintedKey(value, key_hash(value), f"{value[:3]}...{value[-3:]}")


@contextmanager
def minting_marked() -> Iterator[None]:
    """Let embedded gateways make marked keys; the management key of each is the token."""
    minter = Minter()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gwtui.embedded.auth.mint", minter)
        patch.setattr("gwtui.embedded.routes.keys.mint", minter)
        yield


@contextmanager
def logging_into(folder: Path) -> Iterator[None]:
    """Send all log records to where the program would write them."""
    root, own_logger = logging.getLogger(), logging.getLogger("gwtui")
    saved = list(root.handlers), logging.raiseExceptions
    level = own_logger.level
    open_log(folder, "debug")
    try:
        yield
    finally:
        root.handlers[:], logging.raiseExceptions = saved
        own_logger.setLevel(level)
