"""What may be told of a failure of the program itself: where it happened, no value, no message."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_ROOT = Path(__file__).resolve().parent.parent.parent
_FRAMES = 60
"""Places of one error that are told, half of them from either end: a recursion has thousands."""
_ERRORS = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}(?:\.[A-Za-z_][A-Za-z0-9_]{0,40}){0,8}")


def crash_report(error: BaseException) -> str:
    """The types and places of an error and its causes, for a person.

    Locals, exception arguments, messages and notes are left out: they may hold a token or a body.
    """
    return (
        "\n".join(["gwtui stopped because of an error in the program.", "", *places(error)]) + "\n"
    )


def places(error: BaseException) -> list[str]:
    """In lines: the type of an error and where it came from, then the same of its causes."""
    lines: list[str] = []
    for number, (link, how) in enumerate(_linked(error)):
        lines += ["", how] if number else []
        if number == _ERRORS:
            return [*lines, "..."]
        lines += [_title(link), *_frames(link.__traceback__)]
    return lines


def _title(error: BaseException) -> str:
    """The type; with the name of what is missing in the program's own code."""
    kind = type(error).__qualname__
    if isinstance(error, ImportError | NameError) and _NAME.fullmatch(error.name or ""):
        return f"{kind} ({error.name})"
    return kind


def _linked(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    """An error and everything behind it, each once, and what ties it to the one before."""
    seen: set[int] = set()
    waiting: list[tuple[BaseException | None, str]] = [(error, "")]
    while waiting:
        link, how = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link, how
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
