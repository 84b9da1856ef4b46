"""``gwtui complete``: what may follow on a command line that is being typed.

A shell asks at every Tab. No gateway is read and nothing is printed but words: the commands come
from a file that is made once for a version of the program, names from what earlier commands and
dashboards left in the cache directory. A person waits: only what is needed is imported, and
whatever goes wrong is an empty answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gwtui import __version__
from gwtui.cli.parsing import VALUE_OPTIONS
from gwtui.local.name_cache import IDENTIFIERS, cache_file, read_names
from gwtui.local.paths import Paths

Node = Mapping[str, Any]
"""A command of ``command_tree`` as plain values."""
Word = tuple[str, str]
"""What may be typed, and what it means."""
_BREAKS = ":="
"""Where bash begins another word."""
_QUOTES = "'\""
_SPECIAL = frozenset(" \t\n\"'\\|&;<>()$`*?[]#~%!{}")
_BEGUN = 3
"""Characters of an identifier from which on identifiers are offered beside names."""
_MOST = 500
"""Words that are offered."""
_ABOUT = 60
_TREE = "commands.json"
_PACKAGE = Path(__file__).resolve().parents[1]
_SOURCES = ("cli", "resources", "contract", "local")
"""Parts of the program that decide what the command line looks like."""
_DEMO = "demo"


def answer_shell(arguments: Sequence[str]) -> int:
    """Print the words for one shell: "bash LINE POINT", or "zsh|fish WORD..." up to the cursor."""
    with contextlib.suppress(Exception):
        shell, *rest = arguments
        if shell == "fish":
            # The present word comes as it is typed, quotes and all.
            rest = [*rest[:-1], split(rest[-1])[0][-1]]
        lines = _for_bash(rest) if shell == "bash" else _described(rest)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
    return 0


def _described(words: Sequence[str]) -> Iterator[str]:
    """A word and what it means in each line, with a tab between."""
    for word, about in candidates(words):
        yield f"{word}\t{about}" if about else word


def _for_bash(arguments: Sequence[str]) -> Iterator[str]:
    """Words for bash: quoted, and without the part that bash takes for an earlier word."""
    line, point = arguments[0], int(arguments[1])
    words, quote = split(line.encode()[:point].decode(errors="ignore"))
    # What bash counts as the present word begins behind the last break that is not quoted.
    typed = words[-1] if words else ""
    cut = 0 if quote else max(typed.rfind(one) for one in _BREAKS) + 1
    for word, _about in candidates(words[1:]):
        yield word[cut:] if quote else quoted(word[cut:])


def split(line: str) -> tuple[list[str], str]:
    """The words of a line as a shell reads them, the last one unfinished; the open quote, if any.

    A line that ends with a blank has an empty last word.
    """
    words, word, quote, begun = [], "", "", False
    signs = iter(line)
    for sign in signs:
        if quote:
            if sign == quote:
                quote = ""
            elif sign == "\\" and quote == '"':
                word += next(signs, "")
            else:
                word += sign
        elif sign in _QUOTES:
            quote, begun = sign, True
        elif sign == "\\":
            word, begun = word + next(signs, ""), True
        elif sign.isspace():
            if word or begun:
                words.append(word)
            word, begun = "", False
        else:
            word += sign
    return [*words, word], quote


def quoted(word: str) -> str:
    """A word that bash reads as itself; the sign behind which more is typed stays as it is."""
    return "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in word)


def candidates(words: Sequence[str]) -> list[Word]:
    """The candidates for the last word, given those before it."""
    *before, typed = words or [""]
    offered = _Line(known_tree(), before).offers(typed)
    found: dict[str, str] = {}
    for word, about in offered:
        if word.startswith(typed):
            found.setdefault(word, about)
    return list(found.items())[:_MOST]


class _Line:
    """The words before the present one: the command that they name, and what it was given."""

    def __init__(self, tree: Node, before: Sequence[str]) -> None:
        self._tree = tree
        self.node = tree
        self.operands: list[str] = []
        self.given: list[str] = [*before]
        self.open: Node | None = None
        """The option whose value is the present word."""
        taken = False
        for word in before:
            if taken:
                taken, self.open = False, None
                continue
            if word.startswith("-"):
                option = self._option(word.partition("=")[0])
                takes = option["takes"] if option is not None else word in VALUE_OPTIONS
                taken = bool(takes) and "=" not in word
                self.open = option if taken else None
                continue
            below = next((one for one in self.node["children"] if one["words"][-1] == word), None)
            if below is not None and not self.operands:
                self.node = below
            else:
                self.operands.append(word)

    def _option(self, name: str) -> Node | None:
        every = (*self.node["options"], *self._tree["options"])
        return next((one for one in every if name in one["names"]), None)

    def offers(self, typed: str) -> Iterator[Word]:
        """The candidates at that place, before they are narrowed to what is typed."""
        if self.open is not None:
            yield from self._values(self.open, typed)
        elif typed.startswith("--") and "=" in typed:
            name, _, rest = typed.partition("=")
            option = self._option(name)
            if option is not None:
                yield from ((f"{name}={one}", why) for one, why in self._values(option, rest))
        elif typed.startswith("-"):
            for option in self.node["options"]:
                yield option["names"][-1], option["help"][:_ABOUT]
        else:
            yield from self._positional(typed)

    def _positional(self, typed: str) -> Iterator[Word]:
        if not self.operands:
            for one in self.node["children"]:
                yield one["words"][-1], one["help"][:_ABOUT]
        operands = self.node["operands"]
        place = min(len(self.operands), len(operands) - 1)
        if operands and (place == len(self.operands) or operands[place]["many"]):
            yield from self._values(operands[place], typed)

    def _values(self, what: Node, typed: str) -> Iterator[Word]:
        """The known values of an option or an operand, behind those that are typed already."""
        front = ""
        if what.get("takes") and what["many"] and "," in typed:
            front = f"{typed.rpartition(',')[0]},"
        for value in what["values"]:
            yield f"{front}{value}", ""
        if what["kind"] == "files":
            yield from _files(typed)
        elif what["kind"]:
            for name in known_names(what["kind"], self.given, identifiers=len(typed) >= _BEGUN):
                yield name, ""


def _files(typed: str) -> Iterator[Word]:
    """The files of the directory that was typed so far; a directory ends with a slash."""
    folder, _, begun = typed.rpartition("/")
    where = Path(folder or ("/" if typed.startswith("/") else ".")).expanduser()
    front = f"{folder}/" if "/" in typed else ""
    with contextlib.suppress(OSError), os.scandir(where) as found:
        for entry in sorted(found, key=lambda one: one.name):
            if entry.name.startswith(begun) and (begun or not entry.name.startswith(".")):
                yield f"{front}{entry.name}{'/' if entry.is_dir() else ''}", ""


@cache
def _paths() -> Paths:
    return Paths.of_user()


def tree_file() -> Path:
    """Where the command line as plain values is kept."""
    return _paths().cache / _TREE


def known_tree() -> Mapping[str, Any]:
    """The command line as plain values; made anew when the program changed: about a second."""
    path, stamp = tree_file(), program_stamp()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(path.read_bytes())
        if found["stamp"] == stamp:
            tree: Mapping[str, Any] = found["tree"]
            return tree
    from gwtui.cli.command_tree import make_tree  # noqa: PLC0415 - loads every declaration

    return make_tree(path, stamp)


def program_stamp() -> str:
    """The version of the program and the newest modification time of its files."""
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

    profile = _profile(given)
    if not profile:
        return ()
    known = read_names(cache_file(_paths().cache, profile))
    further = known.get(f"{kind}{IDENTIFIERS}", ()) if identifiers else ()
    return [*known.get(kind, ()), *further]


def _profile(given: Sequence[str]) -> str:
    """The profile that the words choose, else the default one; empty for none."""
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
