"""Where the style sheets are: beside the package in a checkout, inside it once installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePath


@cache
def styles_dir() -> Path:
    """The folder of style sheets.

    The package is looked at first: beside an installed package a folder of that name may belong
    to anybody. RuntimeError when neither place has it.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "styles", package.parent / "styles"):
        if (candidate / "app.tcss").is_file():
            return candidate
    raise RuntimeError("the style sheets of gwtui are missing from this installation")


def frame_sheet() -> PurePath:
    """The style sheet of the frame, which is all that the first paint needs."""
    return styles_dir() / "app.tcss"


def further_sheets() -> list[PurePath]:
    """Every other style sheet."""
    frame = frame_sheet()
    return [sheet for sheet in sorted(styles_dir().glob("*.tcss")) if sheet != frame]


def style_sheets() -> list[str | PurePath]:
    """Every style sheet, the frame's own first."""
    return [frame_sheet(), *further_sheets()]
