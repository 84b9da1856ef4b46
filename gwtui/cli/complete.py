"""``gwtui complete``: complete a partial command line for a shell.

No gateway is read. Commands come from a file that is written once per version; names come from the
cache of earlier commands and dashboards. A person is waiting, so imports are few, and any error
gives an empty answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gwtui import __version__
from gwtui.local.name_cache import IDENTIFIERS, cache_file, read_names
from gwtui.local.paths import Paths

Node = Mapping[str, Any]
"""A command or argument as JSON values."""
Word = tuple[str, str]
"""A completion and its description."""
_BREAKS = ":="
"""Characters at which bash splits words."""
_QUOTES = "'\""
_SPECIAL = frozenset(" \t\n\"'\\|&;<>()$`*?[]#~%!{}")
_BEGUN = 3
"""Typed length from which identifiers are offered as well as names."""
_MOST = 500
"""Maximum number of completions."""
_ABOUT = 60
_TREE = "commands.json"
_DEMO = "demo"


def answer_shell(arguments: Sequence[str]) -> int:
    """Print the completions that a shell asks for.

    ``arguments`` are "bash LINE POINT", or "zsh" or "fish" and the words up to the cursor.
    Returns 1 if the shell should complete a file name instead, otherwise 0.
    """
    with contextlib.suppress(Exception):
        shell, *rest = arguments
        if shell == "fish":
            # fish passes the current word with its quotes.
            rest = [*rest[:-1], split(rest[-1])[0][-1]]
        words, quote = _of_bash(*rest) if shell == "bash" else (rest, "")
        line = TypedLine(known_tree(), words)
        if line.wants_file:
            return 1
        for word, about in line.candidates():
            if shell == "bash":
                # For bash the current word starts after the last break.
                cut = 0 if quote else max(words[-1].rfind(separator) for separator in _BREAKS) + 1
                shown = word[cut:] if quote else quoted(word[cut:])
            else:
                shown = f"{word}\t{about}" if about else word
            sys.stdout.write(f"{shown}\n")
        sys.stdout.flush()
    return 0


def _of_bash(line: str, point: str) -> tuple[list[str], str]:
    words, quote = split(line.encode()[: int(point)].decode(errors="ignore"))
    return words[1:], quote


def split(line: str) -> tuple[list[str], str]:
    """Split a line like a shell; return the words and the open quote of the last word, or "".

    The last word is empty if the line ends with a blank.
    """
    for quote in ("", *_QUOTES):
        with contextlib.suppress(ValueError):
            *words, last = shlex.split(f"{line}x{quote}")
            return [*words, last[:-1]], quote
    return [""], ""


def quoted(word: str) -> str:
    """Return a word quoted for bash."""
    return "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in word)


class TypedLine:
    """A command line up to the cursor: the command, and the argument being typed."""

    def __init__(self, tree: Node, words: Sequence[str]) -> None:
        *self._before, self._typed = words or [""]
        self._tree = tree
        self._command = tree
        self._front = ""
        """The part of the current word in front of the value: "--output="."""
        self._argument: Node | None = None
        operands = 0
        for word in self._before:
            if self._argument is not None:
                self._argument = None
            elif word.startswith("-"):
                option = self._option(word)
                takes = option is not None and option["takes"] and "=" not in word
                self._argument = option if takes else None
            elif (verb := self._verbs().get(word)) and not operands:
                self._command = verb
            else:
                operands += 1
        self._is_first = not operands and self._argument is None
        if self._argument is None and "=" in self._typed and self._typed.startswith("--"):
            self._argument = self._option(self._typed)
            self._front = f"{self._typed.partition('=')[0]}="
        elif self._argument is None and not self._typed.startswith("-"):
            self._argument = self._operand(operands)

    @property
    def wants_file(self) -> bool:
        """Whether the current word is a file name."""
        return self._argument is not None and self._argument["is_file"]

    def _verbs(self) -> dict[str, Node]:
        return {verb["name"]: verb for verb in self._command["verbs"]}

    def _option(self, word: str) -> Node | None:
        name = word.partition("=")[0]
        every: tuple[Node, ...] = (
            *self._command["arguments"],
            *self._tree["common"],
            *self._tree["arguments"],
        )
        return next((argument for argument in every if name in argument["names"]), None)

    def _operand(self, before: int) -> Node | None:
        arguments: Sequence[Node] = self._command["arguments"]
        operands = [argument for argument in arguments if not argument["option"]]
        if before < len(operands):
            return operands[before]
        return operands[-1] if operands and operands[-1]["several"] else None

    def candidates(self) -> list[Word]:
        """Return the completions of the current word."""
        candidates: dict[str, str] = {}
        for word, about in self._offers():
            if word.startswith(self._typed):
                candidates.setdefault(word, about)
        return list(candidates.items())[:_MOST]

    def _offers(self) -> Iterator[Word]:
        if not self._front and self._typed.startswith("-"):
            for option in (*self._command["arguments"], *self._tree["common"]):
                if option["option"]:
                    yield option["names"][-1], option["help"][:_ABOUT]
            return
        if self._is_first and not self._front:
            for name, verb in self._verbs().items():
                yield name, verb["help"][:_ABOUT]
        if self._argument is not None:
            yield from ((word, "") for word in self._values(self._argument))

    def _values(self, argument: Node) -> Iterator[str]:
        typed, front = self._typed.removeprefix(self._front), self._front
        if argument["joined"] and "," in typed:
            front = f"{front}{typed.rpartition(',')[0]},"
        yield from (f"{front}{value}" for value in argument["values"])
        if argument["kind"]:
            by_id = len(typed) >= _BEGUN
            for name in known_names(argument["kind"], self._before, identifiers=by_id):
                yield f"{front}{name}"


@cache
def _paths() -> Paths:
    return Paths.of_user()


def tree_file() -> Path:
    """Return the path of the cached command tree."""
    return _paths().cache / _TREE


def known_tree() -> Mapping[str, Any]:
    """Return the command tree from the cache, or build it, which takes about a second."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        cached = json.loads(tree_file().read_bytes())
        if cached["version"] == __version__:
            tree: Mapping[str, Any] = cached["tree"]
            return tree
    return make_tree()


def make_tree() -> Mapping[str, Any]:
    """Build the command tree and cache it if possible."""
    from gwtui.cli.commands import plain_tree  # noqa: PLC0415 - not needed to read the cache
    from gwtui.local.private_file import (  # noqa: PLC0415 - who reads must be quick
        ensure_private,
        replace_file,
    )

    tree, path = plain_tree(), tree_file()
    with contextlib.suppress(OSError):
        ensure_private(path.parent)
        replace_file(path, json.dumps({"version": __version__, "tree": tree}).encode())
    return tree


def known_names(kind: str, given: Sequence[str], *, identifiers: bool = False) -> Iterable[str]:
    """Return the cached names of one kind, for the profile of the command line.

    ``given`` are the words of the command line.
    """
    if kind == "profiles":
        return _profiles()[1]

    profile = _profile(given)
    if not profile:
        return ()
    known = read_names(cache_file(_paths().cache, profile))
    further = known.get(f"{kind}{IDENTIFIERS}", ()) if identifiers else ()
    return [*known.get(kind, ()), *further]


def _profile(given: Sequence[str]) -> str:
    for word, following in zip(given, [*given[1:], ""], strict=True):
        if word == "--demo":
            return _DEMO
        if word == "--profile":
            return following
        if word.startswith("--profile="):
            return word.partition("=")[2]
    return os.environ.get("GWTUI_PROFILE") or _profiles()[0]


def _profiles() -> tuple[str, tuple[str, ...]]:
    path = _paths().config / "profiles.toml"
    try:
        # Reading a named pipe would block.
        settings = tomllib.loads(path.read_text(encoding="utf-8") if path.is_file() else "")
        default, profiles = settings.get("default"), settings.get("profiles")
    except (OSError, ValueError):
        return "", ()
    names = tuple(profiles) if isinstance(profiles, dict) else ()
    return (default if isinstance(default, str) else ""), names
