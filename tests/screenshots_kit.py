"""The pictures of the README: real screens of the demo, at common sizes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from board_kit import at_rest, fill
from harness import Harness, pressing

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "screenshots"
_FONT_FACES = re.compile(r"\s*@font-face \{[^}]*\}")
_MAKER = re.compile(r"\s*<!--.*?-->")
_UNIQUE = re.compile(r"terminal-\d+-")


@dataclass(frozen=True)
class Shot:
    """One picture: its start path, the keys to press, and the terminal size."""

    name: str
    start: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 34)
    theme: str = "gwtui-dark"
    recorded: bool = False
    """Whether a day of history is recorded."""


SHOTS = (
    Shot("keys", "keys", ("down",) * 7),
    Shot("endpoints", "models/northwind/atlas-large"),
    Shot("credits", "credits", size=(100, 30)),
    Shot("board", "board", ("minus", "down"), (120, 40), recorded=True),
    Shot("new-key", "keys", ("n", "type nightly", "tab", "type 25"), size=(80, 24)),
    Shot("light", "models", theme="gwtui-light"),
)


async def draw(shot: Shot, record: Callable[[Path], object] = fill) -> str:
    """Return the SVG of one picture, always identical, without hosts to load fonts from.

    ``record`` makes a data directory with a day of history.
    """
    demo = Harness()
    data = demo.folder / "data" if shot.recorded else None
    if data is not None:
        await asyncio.to_thread(record, data)
    try:
        app = demo.make_app(shot.start, theme=shot.theme, data=data)
        async with app.run_test(size=shot.size) as pilot:
            if shot.recorded:
                await at_rest(pilot)
            await pressing(*shot.keys)(pilot)
            if shot.recorded:
                await at_rest(pilot)
            svg = app.export_screenshot(title="gwtui")
    finally:
        demo.close()
    return _UNIQUE.sub("terminal-", _MAKER.sub("", _FONT_FACES.sub("", svg)))


async def write_all(folder: Path) -> None:
    """Draw every picture into a directory."""
    for shot in SHOTS:
        (folder / f"{shot.name}.svg").write_text(await draw(shot), encoding="utf-8")
