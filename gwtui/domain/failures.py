"""What may be told of a failure of the program itself: where it happened, no value, no message."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

_ROOT = Path(__file__).resolve().parent.parent.parent
_FRAMES = 60
"""Places of one error that are told, half of them from either end: a recursion has thousands."""
_ERRORS = 20


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
        lines += [type(link).__qualname__, *_frames(link.__traceback__)]
    return lines


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
