"""Themes and style sheets. All themes define the same variables.

The ``tone-*`` variables are the colours of :data:`gwtui.crud.resource.Tone`. A test requires a
contrast of 4.5 to 1 on background, surface and panel, except with the terminal's own colors.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePath

from textual.theme import Theme

from gwtui.domain.lookup import among

DEFAULT_THEME = "gwtui-dark"

_DARK = Theme(
    name="gwtui-dark",
    primary="#7aa2d6",
    secondary="#8f9fb5",
    accent="#7aa2d6",
    warning="#e0b050",
    error="#f0857d",
    success="#7fc08a",
    foreground="#d6dae0",
    background="#14171c",
    surface="#1a1e25",
    panel="#232932",
    dark=True,
    variables={
        "tone-plain": "#d6dae0",
        "tone-muted": "#98a2b0",
        "tone-good": "#7fc08a",
        "tone-warn": "#e0b050",
        "tone-bad": "#f0857d",
        "tone-accent": "#8ab4e8",
        "badge-foreground": "#14171c",
        "badge-background": "#e0b050",
        "alarm-foreground": "#14171c",
        "alarm-background": "#f0857d",
        "choice-background": "#283648",
        "text-muted": "#98a2b0",
        "foreground-muted": "#98a2b0",
        "text-disabled": "#7f8896",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#2f4f7a",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#d6dae0",
        "block-cursor-blurred-background": "#2a3442",
        "input-selection-background": "#2f4f7a",
        "border": "#7aa2d6",
        "border-blurred": "#3a4350",
        "scrollbar": "#3a4350",
        "scrollbar-hover": "#4a5566",
        "scrollbar-active": "#7aa2d6",
        "scrollbar-background": "#1a1e25",
        "scrollbar-background-hover": "#1a1e25",
        "scrollbar-background-active": "#1a1e25",
        "scrollbar-corner-color": "#1a1e25",
    },
)

_LIGHT = Theme(
    name="gwtui-light",
    primary="#1f5fa8",
    secondary="#4c5866",
    accent="#1f5fa8",
    warning="#805000",
    error="#b3261e",
    success="#1c6b34",
    foreground="#1d2430",
    background="#fbfbfa",
    surface="#f2f3f4",
    panel="#e6e9ed",
    dark=False,
    variables={
        "tone-plain": "#1d2430",
        "tone-muted": "#525d6b",
        "tone-good": "#1c6b34",
        "tone-warn": "#7a4b00",
        "tone-bad": "#b3261e",
        "tone-accent": "#1f5fa8",
        "badge-foreground": "#ffffff",
        "badge-background": "#7a4b00",
        "alarm-foreground": "#ffffff",
        "alarm-background": "#b3261e",
        "choice-background": "#d9e6f5",
        "text-muted": "#525d6b",
        "foreground-muted": "#525d6b",
        "text-disabled": "#616b78",
        "block-cursor-foreground": "#0b1a2e",
        "block-cursor-background": "#bcd6f5",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#1d2430",
        "block-cursor-blurred-background": "#dde4ec",
        "input-selection-background": "#bcd6f5",
        "border": "#1f5fa8",
        "border-blurred": "#b8c0ca",
        "scrollbar": "#b8c0ca",
        "scrollbar-hover": "#98a2b0",
        "scrollbar-active": "#1f5fa8",
        "scrollbar-background": "#f2f3f4",
        "scrollbar-background-hover": "#f2f3f4",
        "scrollbar-background-active": "#f2f3f4",
        "scrollbar-corner-color": "#f2f3f4",
    },
)

_HIGH_CONTRAST = Theme(
    name="gwtui-contrast",
    primary="#6fd3ff",
    secondary="#ffffff",
    accent="#6fd3ff",
    warning="#ffd75f",
    error="#ff8f87",
    success="#7dff9a",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    dark=True,
    variables={
        "tone-plain": "#ffffff",
        "tone-muted": "#d0d0d0",
        "tone-good": "#7dff9a",
        "tone-warn": "#ffd75f",
        "tone-bad": "#ff8f87",
        "tone-accent": "#6fd3ff",
        "badge-foreground": "#000000",
        "badge-background": "#ffd75f",
        "alarm-foreground": "#000000",
        "alarm-background": "#ff8f87",
        "choice-background": "#303030",
        "text-muted": "#d0d0d0",
        "foreground-muted": "#d0d0d0",
        "text-disabled": "#b0b0b0",
        "block-cursor-foreground": "#000000",
        "block-cursor-background": "#ffd75f",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "#ffffff",
        "block-cursor-blurred-background": "#3a3a3a",
        "input-selection-background": "#005f87",
        "border": "#ffffff",
        "border-blurred": "#9e9e9e",
        "scrollbar": "#9e9e9e",
        "scrollbar-hover": "#d0d0d0",
        "scrollbar-active": "#ffffff",
        "scrollbar-background": "#1c1c1c",
        "scrollbar-background-hover": "#1c1c1c",
        "scrollbar-background-active": "#1c1c1c",
        "scrollbar-corner-color": "#1c1c1c",
    },
)

_TERMINAL = Theme(
    name="gwtui-terminal",
    ansi=True,
    primary="ansi_blue",
    secondary="ansi_cyan",
    accent="ansi_blue",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "tone-plain": "ansi_default",
        "tone-muted": "ansi_default",
        "tone-good": "ansi_green",
        "tone-warn": "ansi_yellow",
        "tone-bad": "ansi_red",
        "tone-accent": "ansi_blue",
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "badge-foreground": "ansi_black",
        "badge-background": "ansi_yellow",
        "alarm-foreground": "ansi_bright_white",
        "alarm-background": "ansi_red",
        "choice-background": "ansi_bright_black",
        "text-muted": "ansi_default",
        "foreground-muted": "ansi_default",
        "text-disabled": "ansi_default",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_cyan",
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": "ansi_default",
        "block-cursor-blurred-background": "ansi_default",
        "block-cursor-blurred-text-style": "bold",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
        "border": "ansi_blue",
        "border-blurred": "ansi_default",
    },
)

THEMES: tuple[Theme, ...] = (_DARK, _LIGHT, _HIGH_CONTRAST, _TERMINAL)

_PREFIX = "gwtui-"
TITLES = {
    "gwtui-dark": "Dark",
    "gwtui-light": "Light",
    "gwtui-contrast": "High contrast",
    "gwtui-terminal": "The terminal's own colors",
}
"""The titles in the theme picker, by theme name."""


def known_theme(name: str) -> str:
    """The full name of a theme, given as "gwtui-dark" or "dark".

    Raises ValueError with the known names.
    """
    for known in (name, f"{_PREFIX}{name}"):
        if known in TITLES:
            return known
    raise ValueError(f"there is no theme {name!r}{among(name, theme_names())}")


def theme_names() -> tuple[str, ...]:
    """The short names of all themes, such as "dark"."""
    return tuple(name.removeprefix(_PREFIX) for name in TITLES)


@cache
def styles_dir() -> Path:
    """The folder of the style sheets. Raises RuntimeError if it is missing.

    The folder inside the package comes first: a folder of that name next to an installed package
    may belong to another program.
    """
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "styles", package.parent / "styles"):
        if (candidate / "app.tcss").is_file():
            return candidate
    raise RuntimeError("the style sheets of gwtui are missing from this installation")


def style_sheets() -> list[PurePath]:
    """Paths of all style sheets, ``app.tcss`` first."""
    sheets = styles_dir().glob("*.tcss")
    return sorted(sheets, key=lambda sheet: (sheet.name != "app.tcss", sheet.name))
