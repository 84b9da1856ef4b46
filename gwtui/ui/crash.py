"""What is printed when the program itself fails: where, but neither values nor messages."""

from __future__ import annotations

import traceback
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent.parent


def crash_report(error: BaseException) -> str:
    """The types and places of an error and its causes.

    Locals and exception arguments are left out: they may hold a token or a body.
    """
    lines = ["gwtui stopped because of an error in the program.", ""]
    seen: BaseException | None = error
    while seen is not None:
        lines.append(type(seen).__qualname__)
        lines += [
            f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}"
            for frame in traceback.extract_tb(seen.__traceback__)
        ]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
        if seen is not None:
            lines += ["", "raised while handling"]
    return "\n".join(lines) + "\n"


def _place(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_ROOT):
        return str(path.relative_to(_ROOT))
    parts = path.parts
    return "/".join(
        parts[parts.index("site-packages") + 1 :] if "site-packages" in parts else parts[-2:]
    )
