"""What the doctor finds on this machine: terminal, tmux, clipboard, colours, keyring, directories.

A line for each of them: what was found, whether it is wrong, what to do about it.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from gwtui.domain.safe_text import safe_line
from gwtui.local.keyring_store import KeyringUnavailableError, backend_name
from gwtui.local.paths import Paths
from gwtui.local.programs import ProgramError, run_program
from gwtui.local.terminal import DUMB, copy_route

_LEAST = (80, 24)
"""Columns and rows that every screen has room in."""
_ESCAPE = 50
"""Milliseconds that tmux may hold an Escape back."""
_OTHERS = 0o077
_SECONDS = 2.0
_TEXT = 80

TmuxOption = Callable[[str], str | None]
"""The value of an option of tmux by its name; None where it does not tell."""

DoctorVerdict = Literal["wrong", "unknown", "advice", "well"]
VERDICTS: tuple[DoctorVerdict, ...] = get_args(DoctorVerdict)
"""The gravest first."""


@dataclass(frozen=True, slots=True)
class DoctorLine:
    """One thing that the doctor looked at; sentences without a secret."""

    id: str
    title: str
    verdict: DoctorVerdict
    found: str
    advice: str = ""


def is_wrong(lines: Iterable[DoctorLine]) -> bool:
    """Whether something is wrong; advice and what cannot be known is not."""
    return any(line.verdict == "wrong" for line in lines)


@dataclass(frozen=True, slots=True)
class TerminalFacts:
    """What is known of the terminal. ``size`` is None without one, ``encoding`` that of stdout."""

    environment: Mapping[str, str]
    size: tuple[int, int] | None
    encoding: str

    @classmethod
    def present(cls, environment: Mapping[str, str] = os.environ) -> TerminalFacts:
        """Those of this process."""
        size = None
        for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                size = tuple(os.get_terminal_size(stream.fileno()))  # type: ignore[union-attr]
                break
        encoding = getattr(sys.__stdout__, "encoding", "") or ""
        return cls(environment, size, encoding)  # type: ignore[arg-type]


async def machine_lines(
    paths: Paths, facts: TerminalFacts, *, needs_keyring: bool
) -> list[DoctorLine]:
    """Everything of this machine. Never raises; a program that does not answer is unknown.

    ``needs_keyring``: the token is looked for in the keyring.
    """
    options = await tmux_options() if facts.environment.get("TMUX") else {}
    return [
        terminal_line(facts),
        encoding_line(facts),
        colours_line(facts, options.get),
        *tmux_lines(facts, options.get),
        clipboard_line(facts, options.get),
        await keyring_line(needs_keyring),
        *directory_lines(paths),
    ]


def terminal_line(facts: TerminalFacts) -> DoctorLine:
    """Its kind and its size."""
    kind = facts.environment.get("TERM", "")
    called = safe_line(kind or "not said", _TEXT)
    if facts.size is None:
        found = f"TERM is {called}; there is no terminal here"
        return DoctorLine("terminal", "Terminal", "unknown", found, "Run it in the terminal.")
    columns, rows = facts.size
    found = f"TERM is {called}, {columns} columns and {rows} rows"
    if not kind or kind in DUMB - {"linux"}:
        return DoctorLine(
            "terminal", "Terminal", "wrong", found, "Set TERM to what the terminal is."
        )
    if columns < _LEAST[0] or rows < _LEAST[1]:
        advice = f"Below {_LEAST[0]} x {_LEAST[1]} some screens have no room: enlarge it."
        return DoctorLine("terminal", "Terminal", "advice", found, advice)
    return DoctorLine("terminal", "Terminal", "well", found)


def encoding_line(facts: TerminalFacts) -> DoctorLine:
    """Whether signs beyond ASCII can be shown."""
    name = safe_line(facts.encoding or "not known", _TEXT)
    if facts.encoding.replace("-", "").lower() == "utf8":
        return DoctorLine("encoding", "Encoding", "well", "UTF-8")
    advice = "Set LANG to a UTF-8 locale, such as C.UTF-8, also on the far side of SSH."
    return DoctorLine("encoding", "Encoding", "wrong", f"The locale's encoding is {name}", advice)


def colours_line(facts: TerminalFacts, option: TmuxOption) -> DoctorLine:
    """How many colours there are."""
    environment = facts.environment
    kind = environment.get("TERM", "")
    if "NO_COLOR" in environment:
        found, advice = "NO_COLOR is set: no colours are used", "Unset NO_COLOR for colours."
        return DoctorLine("colours", "Colours", "advice", found, advice)
    if environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"} or "direct" in kind:
        if environment.get("TMUX") and not _passes_rgb(option):
            return DoctorLine(
                "colours",
                "Colours",
                "advice",
                "All colours are announced, but tmux is not told that the terminal has them",
                "In tmux.conf: set -as terminal-features ',*:RGB'",
            )
        return DoctorLine("colours", "Colours", "well", "All colours (24 bit)")
    many = "256" in kind
    found = "256 colours" if many else "16 colours or fewer, as far as TERM tells"
    advice = "Where the terminal has all colours, set COLORTERM=truecolor (SSH: SendEnv COLORTERM)."
    return DoctorLine("colours", "Colours", "advice", found, advice)


def _passes_rgb(option: TmuxOption) -> bool:
    told = f"{option('terminal-features') or ''} {option('terminal-overrides') or ''}"
    return "RGB" in told or "Tc" in told


def tmux_lines(facts: TerminalFacts, option: TmuxOption) -> Iterator[DoctorLine]:
    """What tmux is set to, where it runs."""
    if facts.environment.get("STY"):
        found = "GNU screen swallows the clipboard's sequence and some keys"
        yield DoctorLine("screen", "GNU screen", "advice", found, "tmux passes both on.")
    if not facts.environment.get("TMUX"):
        yield DoctorLine("tmux", "tmux", "well", "It does not run here")
        return
    escape = option("escape-time")
    if escape is None:
        yield DoctorLine("tmux", "tmux", "unknown", "It does not tell its options")
        return
    slow = escape.isdigit() and int(escape) > _ESCAPE
    yield _tmux_line(
        "escape-time", f"{escape} ms", "set -sg escape-time 10", "advice" if slow else "well"
    )
    for name, wanted, line in (
        ("focus-events", ("on",), "set -g focus-events on"),
        ("set-clipboard", ("on", "external"), "set -g set-clipboard on"),
        ("default-terminal", (), "set -g default-terminal tmux-256color"),
    ):
        value = option(name)
        if value is None:
            yield _tmux_line(name, "not told", line, "unknown")
            continue
        good = value in wanted if wanted else "256color" in value or "direct" in value
        yield _tmux_line(name, value, line, "well" if good else "advice")


_TMUX_WHY = {
    "escape-time": "Escape comes late, and may be taken for the start of another key.",
    "focus-events": "Readings go on though nobody looks.",
    "set-clipboard": "What is copied stays in tmux.",
    "default-terminal": "Colours are lost.",
}


def _tmux_line(name: str, value: str, line: str, verdict: DoctorVerdict) -> DoctorLine:
    advice = f"{_TMUX_WHY[name]} In tmux.conf: {line}" if verdict == "advice" else ""
    found = f"{name} is {safe_line(value, _TEXT)}"
    return DoctorLine(f"tmux-{name}", "tmux", verdict, found, advice)


def clipboard_line(facts: TerminalFacts, option: TmuxOption) -> DoctorLine:
    """By which way a copied text leaves."""
    match copy_route(facts.environment):
        case "tmux":
            on = option("set-clipboard") in {"on", "external"}
            further = "and by it to the terminal" if on else "and stays there"
            found = f"A copied text goes into a tmux buffer {further}"
            return DoctorLine("clipboard", "Clipboard", "well" if on else "advice", found)
        case "terminal":
            found = "A copied text is sent to the terminal (OSC 52), which does not confirm"
            advice = "Where it does not arrive, allow clipboard access in the terminal's settings."
            return DoctorLine("clipboard", "Clipboard", "well", found, advice)
    found = "A copied text goes into a file that only you can read"
    return DoctorLine("clipboard", "Clipboard", "advice", found, "tmux has a buffer for it.")


async def keyring_line(needed: bool) -> DoctorLine:
    """Whether a keyring can be trusted with a token; it is opened for nothing."""
    try:
        name = await backend_name()
    except KeyringUnavailableError as error:
        found = safe_line(str(error), 2 * _TEXT)
        other = "A token can come from a command or a private file, too: docs/connect.md."
        if needed:
            return DoctorLine(
                "keyring", "Keyring", "wrong", f"The profile needs it: {found}", other
            )
        return DoctorLine("keyring", "Keyring", "advice", found, other)
    return DoctorLine("keyring", "Keyring", "well", safe_line(name, _TEXT))


def directory_lines(paths: Paths) -> Iterator[DoctorLine]:
    """Whether others can look into the directories; nothing is made or changed."""
    for name in ("config", "data", "state", "cache"):
        path: Path = getattr(paths, name)
        title = f"Directory ({name})"
        shown = safe_line(path, 2 * _TEXT)
        try:
            found = path.stat()
        except FileNotFoundError:
            yield DoctorLine(f"directory-{name}", title, "well", f"{shown} is not there yet")
            continue
        except OSError as error:
            why = error.strerror or "not usable"
            yield DoctorLine(f"directory-{name}", title, "wrong", f"{shown}: {why}")
            continue
        mode = stat.S_IMODE(found.st_mode)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            yield DoctorLine(
                f"directory-{name}", title, "wrong", f"{shown} is no directory of yours"
            )
        elif name != "config" and mode & _OTHERS:
            advice = f"chmod 700 {shown}"
            text = f"Others can look into {shown} (mode {mode:03o})"
            yield DoctorLine(f"directory-{name}", title, "advice", text, advice)
        else:
            yield DoctorLine(f"directory-{name}", title, "well", f"{shown} (mode {mode:03o})")


async def tmux_options() -> Mapping[str, str]:
    """Every option of the server, the session and the window; empty where tmux does not answer."""
    found: dict[str, str] = {}
    for flags in ("-s", "-g"):
        for line in (await _tmux("show-options", flags)).splitlines():
            name, _, value = line.partition(" ")
            # Options that are lists have a line for each entry: name[0] value.
            plain = name.partition("[")[0]
            found[plain] = f"{found[plain]} {value}" if plain in found else value.strip('"')
    return found


async def _tmux(*words: str) -> str:
    try:
        output = await run_program(("tmux", *words), os.environ, limit=_SECONDS)
    except ProgramError:
        return ""
    return output.decode(errors="replace")
