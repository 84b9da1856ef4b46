"""Crash reports: the traceback of an error that ended the program, saved to a private file.

Messages and values are left out, because they may contain a token or a request body.
"""

from __future__ import annotations

import contextlib
import re
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from gwtui import __version__
from gwtui.local.private_file import create, ensure_private

KEPT = 10
"""The number of reports to keep; older ones are deleted."""
_PATTERN = "crash-*.txt"
_ROOT = Path(__file__).resolve().parent.parent.parent
_FRAMES = 60
"""The maximum number of frames per error, half from each end: a recursion has thousands."""
_ERRORS = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}(?:\.[A-Za-z_][A-Za-z0-9_]{0,40}){0,8}")


def crash_report(error: BaseException) -> str:
    """The report of an error as text: its type and traceback, and those of its causes.

    Local variables, messages and notes are left out.
    """
    return (
        "\n".join(
            ["gwtui stopped because of an error in the program.", "", *traceback_lines(error)]
        )
        + "\n"
    )


def traceback_lines(error: BaseException) -> list[str]:
    """The types and tracebacks of an error and its causes, as lines of text."""
    lines: list[str] = []
    for number, (link, relation) in enumerate(_linked(error)):
        lines += ["", relation] if number else []
        if number == _ERRORS:
            return [*lines, "..."]
        lines += [_title(link), *_frames(link.__traceback__)]
    return lines


def _title(error: BaseException) -> str:
    # Names that are missing or cannot be imported are safe to show.
    kind = type(error).__qualname__
    if isinstance(error, ImportError | NameError) and _NAME.fullmatch(error.name or ""):
        return f"{kind} ({error.name})"
    return kind


def _linked(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    visited: set[int] = set()
    waiting: list[tuple[BaseException | None, str]] = [(error, "")]
    while waiting:
        link, relation = waiting.pop()
        if link is None or id(link) in visited:
            continue
        visited.add(id(link))
        yield link, relation
        hidden = link.__suppress_context__ and link.__cause__ is None
        behind = link.__cause__ or (None if hidden else link.__context__)
        waiting.append((behind, "raised while handling"))
        if isinstance(link, BaseExceptionGroup):
            waiting += [(part, "which holds") for part in reversed(link.exceptions)]


def _frames(trace: TracebackType | None) -> list[str]:
    lines = [
        f"  {_place(frame.f_code.co_filename)}:{number} in {frame.f_code.co_name}"
        for frame, number in traceback.walk_tb(trace)
    ]
    if len(lines) > _FRAMES:
        half = _FRAMES // 2
        lines[half:-half] = [f"  ... {len(lines) - _FRAMES} more"]
    return lines


def _place(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_ROOT):
        return str(path.relative_to(_ROOT))
    parts = path.parts
    return "/".join(
        parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts[-2:]
    )


def write_crash_report(state: Path, report: str, now: datetime | None = None) -> Path | None:
    """Write a report to the state directory; returns its path, None if that failed."""
    import secrets  # noqa: PLC0415 - the log loads this module with every start

    moment = now or datetime.now(UTC)
    path = state / f"crash-{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}.txt"
    try:
        text = f"{_circumstances(moment)}\n\n{report}"
        create(ensure_private(state) / path.name, text.encode("utf-8", "backslashreplace"))
    except OSError:
        return None
    with contextlib.suppress(OSError):
        for old in sorted(state.glob(_PATTERN))[:-KEPT]:
            old.unlink()
    return path


def _circumstances(moment: datetime) -> str:
    import platform  # noqa: PLC0415 - the log loads this module with every start

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"gwtui {__version__}, {python}, {platform.system()}, {moment:%Y-%m-%d %H:%M:%S} UTC"
