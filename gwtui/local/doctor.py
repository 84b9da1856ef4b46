"""Checks of this machine for ``gwtui doctor``: terminal, tmux, clipboard, keyring, directories.

Each check returns a line with the result, its severity, and advice.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from gwtui.domain.safe_text import safe_line
from gwtui.local.keyring_store import KeyringUnavailableError, backend_name
from gwtui.local.paths import Paths
from gwtui.local.programs import ProgramError, run_program
from gwtui.local.terminal import DUMB, copy_route

_LEAST = (80, 24)
"""The smallest supported terminal, in columns and rows."""
_ESCAPE = 50
"""The longest acceptable delay of the Escape key in tmux, in milliseconds."""
_OTHERS = 0o077
_SECONDS = 2.0
_TEXT = 80

TmuxOption = Callable[[str], str | None]
"""Returns the value of a tmux option by name; None if tmux did not list it."""

DoctorVerdict = Literal["error", "unknown", "advice", "ok"]
VERDICTS: tuple[DoctorVerdict, ...] = get_args(DoctorVerdict)
"""All verdicts, the worst first."""


@dataclass(frozen=True, slots=True)
class DoctorLine:
    """The result of one check, without secrets.

    ``found`` is the result as text, ``advice`` what to do about it; empty if nothing.
    """

    id: str
    title: str
    verdict: DoctorVerdict
    found: str
    advice: str = ""


def has_errors(lines: Iterable[DoctorLine]) -> bool:
    """Whether any check failed. Advice and unknown results do not count."""
    return any(line.verdict == "error" for line in lines)


@dataclass(frozen=True, slots=True)
class TerminalInfo:
    """The environment variables, size and encoding of a terminal.

    ``size`` is columns and rows, None without a terminal. ``encoding`` is that of stdout.
    """

    environment: Mapping[str, str]
    size: tuple[int, int] | None
    encoding: str

    @classmethod
    def present(cls, environment: Mapping[str, str] = os.environ) -> TerminalInfo:
        """The terminal of this process."""
        size = None
        for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                size = tuple(os.get_terminal_size(stream.fileno()))  # type: ignore[union-attr]
                break
        encoding = getattr(sys.__stdout__, "encoding", "") or ""
        return cls(environment, size, encoding)  # type: ignore[arg-type]


async def machine_lines(
    paths: Paths, terminal: TerminalInfo, *, needs_keyring: bool
) -> list[DoctorLine]:
    """Run every check of this machine. Never raises.

    ``needs_keyring``: the profile has its key in the keyring, so a missing one is an error.
    """
    options = await tmux_options() if terminal.environment.get("TMUX") else {}
    return [
        terminal_line(terminal),
        encoding_line(terminal),
        colours_line(terminal, options.get),
        *tmux_lines(terminal, options.get),
        clipboard_line(terminal, options.get),
        await keyring_line(needs_keyring),
        *directory_lines(paths),
    ]


def terminal_line(terminal: TerminalInfo) -> DoctorLine:
    """Check the type and the size of the terminal."""
    line = partial(DoctorLine, "terminal", "Terminal")
    kind = terminal.environment.get("TERM", "")
    shown = f"TERM is {safe_line(kind or 'not set', _TEXT)}"
    if terminal.size is None:
        return line("unknown", f"{shown}; not running in a terminal", "Run this in a terminal.")
    columns, rows = terminal.size
    result = f"{shown}, {columns} columns and {rows} rows"
    if not kind or kind in DUMB - {"linux"}:
        advice = "Set TERM to the type of this terminal, such as xterm-256color."
        return line("error", result, advice)
    if columns < _LEAST[0] or rows < _LEAST[1]:
        advice = f"Enlarge the terminal: some screens need {_LEAST[0]} x {_LEAST[1]}."
        return line("advice", result, advice)
    return line("ok", result)


def encoding_line(terminal: TerminalInfo) -> DoctorLine:
    """Check that the terminal can show characters beyond ASCII."""
    line = partial(DoctorLine, "encoding", "Encoding")
    if terminal.encoding.replace("-", "").lower() == "utf8":
        return line("ok", "UTF-8")
    name = safe_line(terminal.encoding or "unknown", _TEXT)
    advice = "Set LANG to a UTF-8 locale such as C.UTF-8; over SSH also on the remote machine."
    return line("error", f"The locale's encoding is {name}", advice)


def colours_line(terminal: TerminalInfo, option: TmuxOption) -> DoctorLine:
    """Check how many colours the terminal has."""
    line = partial(DoctorLine, "colors", "Colors")
    environment = terminal.environment
    kind = environment.get("TERM", "")
    if "NO_COLOR" in environment:
        return line("advice", "NO_COLOR is set: no colors are used", "Unset NO_COLOR.")
    if environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"} or "direct" in kind:
        features = f"{option('terminal-features') or ''} {option('terminal-overrides') or ''}"
        if environment.get("TMUX") and not ("RGB" in features or "Tc" in features):
            result = "COLORTERM announces 24-bit color, but tmux does not pass it on"
            return line("advice", result, "In tmux.conf: set -as terminal-features ',*:RGB'")
        return line("ok", "24-bit color")
    result = "256 colors" if "256" in kind else "16 colors or fewer, according to TERM"
    advice = "If the terminal has 24-bit color, set COLORTERM=truecolor (SSH: SendEnv COLORTERM)."
    return line("advice", result, advice)


_TMUX_OPTIONS: Mapping[str, tuple[Callable[[str], bool], str, str]] = {
    "escape-time": (
        lambda value: not value.isdigit() or int(value) <= _ESCAPE,
        "Escape is delayed and may be read as the start of another key.",
        "set -sg escape-time 10",
    ),
    "focus-events": (
        lambda value: value == "on",
        "gwtui keeps reading while its window is not in focus.",
        "set -g focus-events on",
    ),
    "set-clipboard": (
        lambda value: value in {"on", "external"},
        "Copied text stays inside tmux.",
        "set -g set-clipboard on",
    ),
    "default-terminal": (
        lambda value: "256color" in value or "direct" in value,
        "Colours are lost.",
        "set -g default-terminal tmux-256color",
    ),
}
"""For each tmux option: a test of its value, the symptom, and the recommended line."""


def tmux_lines(terminal: TerminalInfo, option: TmuxOption) -> Iterator[DoctorLine]:
    """Check the tmux options if tmux is in use, and for GNU screen."""
    if terminal.environment.get("STY"):
        result = "GNU screen blocks clipboard sequences and some keys"
        yield DoctorLine("screen", "GNU screen", "advice", result, "Use tmux instead.")
    if not terminal.environment.get("TMUX"):
        yield DoctorLine("tmux", "tmux", "ok", "Not in use")
        return
    if option("escape-time") is None:
        yield DoctorLine("tmux", "tmux", "unknown", "tmux did not list its options")
        return
    for name, (is_good, why, setting) in _TMUX_OPTIONS.items():
        line = partial(DoctorLine, f"tmux-{name}", "tmux")
        value = option(name)
        result = f"{name} is {safe_line(value or 'unknown', _TEXT)}"
        if value is None or is_good(value):
            yield line("unknown" if value is None else "ok", result)
        else:
            yield line("advice", result, f"{why} In tmux.conf: {setting}")


def clipboard_line(terminal: TerminalInfo, option: TmuxOption) -> DoctorLine:
    """Check where copied text goes."""
    line = partial(DoctorLine, "clipboard", "Clipboard")
    match copy_route(terminal.environment):
        case "tmux":
            if option("set-clipboard") in {"on", "external"}:
                return line("ok", "Copied text goes to a tmux buffer and on to the terminal")
            return line("advice", "Copied text goes to a tmux buffer and no further")
        case "terminal":
            result = "Copied text is sent to the terminal (OSC 52), which does not confirm it"
            advice = "If it does not arrive, allow clipboard access in the terminal's settings."
            return line("ok", result, advice)
    result = "Copied text goes to a file that only you can read"
    return line("advice", result, "Use tmux to get a paste buffer.")


async def keyring_line(needed: bool) -> DoctorLine:
    """Check that there is a usable keyring, without reading a secret."""
    line = partial(DoctorLine, "keyring", "Keyring")
    try:
        return line("ok", safe_line(await backend_name(), _TEXT))
    except KeyringUnavailableError as error:
        result = safe_line(str(error), 2 * _TEXT)
    advice = (
        "The management key can also come from a command or a private file: see docs/connect.md."
    )
    if needed:
        return line("error", f"The profile needs the keyring: {result}", advice)
    return line("advice", result, advice)


def directory_lines(paths: Paths) -> Iterator[DoctorLine]:
    """Check that the directories are private, without creating or changing them."""
    for name in ("config", "data", "state", "cache"):
        yield _directory_line(name, getattr(paths, name))


def _directory_line(name: str, path: Path) -> DoctorLine:
    line = partial(DoctorLine, f"directory-{name}", f"Directory ({name})")
    shown = safe_line(path, 2 * _TEXT)
    try:
        facts = path.stat()
    except FileNotFoundError:
        return line("ok", f"{shown} does not exist yet")
    except OSError as error:
        return line("error", f"{shown}: {error.strerror or 'not usable'}")
    mode = stat.S_IMODE(facts.st_mode)
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        return line("error", f"{shown} is not a directory of yours")
    if name != "config" and mode & _OTHERS:
        return line("advice", f"Others can enter {shown} (mode {mode:03o})", f"chmod 700 {shown}")
    return line("ok", f"{shown} (mode {mode:03o})")


async def tmux_options() -> Mapping[str, str]:
    """All tmux options of the server, session and window; empty if tmux does not respond."""
    options: dict[str, str] = {}
    for flags in ("-s", "-g"):
        for line in (await _tmux("show-options", flags)).splitlines():
            name, _, value = line.partition(" ")
            # Options that are lists have a line for each entry: name[0] value.
            plain = name.partition("[")[0]
            options[plain] = f"{options[plain]} {value}" if plain in options else value.strip('"')
    return options


async def _tmux(*words: str) -> str:
    try:
        output = await run_program(("tmux", *words), os.environ, limit=_SECONDS)
    except ProgramError:
        return ""
    return output.decode(errors="replace")
