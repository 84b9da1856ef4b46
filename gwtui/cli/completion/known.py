"""What completion knows: the command line as data, kept in a file, and names from the cache."""

from __future__ import annotations

import contextlib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gwtui import __version__

if TYPE_CHECKING:
    from gwtui.local.paths import Paths

_TREE = "commands.json"
_PACKAGE = Path(__file__).resolve().parents[2]
_SOURCES = ("cli", "resources", "contract", "local")
"""Parts of the program that decide what the command line looks like."""
_DEMO = "demo"


@cache
def _paths() -> Paths:
    from gwtui.local.paths import Paths  # noqa: PLC0415

    return Paths.of_user()


def known_tree() -> Mapping[str, Any]:
    """The command line as plain values; made anew when the program changed: about a second."""
    path, stamp = _paths().cache / _TREE, program_stamp()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(path.read_bytes())
        if found["stamp"] == stamp:
            tree: Mapping[str, Any] = found["tree"]
            return tree
    return make_tree(path, stamp)


def make_tree(path: Path | None = None, stamp: str = "") -> Mapping[str, Any]:
    """The command line from its parsers, kept for the next time where that is possible."""
    from gwtui.cli.command_tree import command_tree  # noqa: PLC0415 - loads every declaration
    from gwtui.local.paths import PrivateDirectoryError, ensure_private  # noqa: PLC0415
    from gwtui.local.private_file import replace_file  # noqa: PLC0415

    path = path or _paths().cache / _TREE
    tree = command_tree().as_json()
    with contextlib.suppress(OSError, PrivateDirectoryError):
        ensure_private(path.parent)
        kept = {"stamp": stamp or program_stamp(), "tree": tree}
        replace_file(path, json.dumps(kept).encode())
    return tree


def program_stamp() -> str:
    """What tells this program from a later one: its version, and when its files were written."""
    newest = 0
    for part in _SOURCES:
        for folder, _, names in os.walk(_PACKAGE / part):
            for name in names:
                if name.endswith(".py"):
                    newest = max(newest, Path(folder, name).stat().st_mtime_ns)
    return f"{__version__} {newest}"


def known_names(kind: str, given: Sequence[str], *, identifiers: bool = False) -> Iterable[str]:
    """The names of one kind at the gateway that the words mean, as they were read last."""
    if kind == "profiles":
        return _profiles()[1]
    from gwtui.local.name_cache import IDENTIFIERS, cache_file, read_names  # noqa: PLC0415

    profile = _profile(given)
    if not profile:
        return ()
    known = read_names(cache_file(_paths().cache, profile))
    further = known.get(f"{kind}{IDENTIFIERS}", ()) if identifiers else ()
    return [*known.get(kind, ()), *further]


def _profile(given: Sequence[str]) -> str:
    """What the gateway is called that the words mean; empty where nobody can tell."""
    for word, following in zip(given, [*given[1:], ""], strict=True):
        if word == "--demo":
            return _DEMO
        if word == "--profile":
            return following
        if word.startswith("--profile="):
            return word.partition("=")[2]
    return os.environ.get("GWTUI_PROFILE") or _profiles()[0]


def _profiles() -> tuple[str, tuple[str, ...]]:
    """The default profile, and every profile, of the person's file."""
    path = _paths().config / "profiles.toml"
    try:
        # Nobody waits for what is no file.
        found = tomllib.loads(path.read_text(encoding="utf-8") if path.is_file() else "")
        default, profiles = found.get("default"), found.get("profiles")
    except (OSError, ValueError):
        return "", ()
    names = tuple(profiles) if isinstance(profiles, dict) else ()
    return (default if isinstance(default, str) else ""), names
