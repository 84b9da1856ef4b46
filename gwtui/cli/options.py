"""Options that every command takes. No token is ever an argument: other users can read those."""

from __future__ import annotations

import argparse

from gwtui.cli.process import DEFAULT_LOG_LEVEL, LOG_LEVELS, LOG_OPTION
from gwtui.contract.dialects import DIALECTS


def add_connection_options(parser: argparse.ArgumentParser) -> None:
    """Which gateway, and how far to trust this run."""
    group = parser.add_argument_group("connection")
    group.add_argument("--profile", metavar="NAME", help="profile to use (GWTUI_PROFILE)")
    group.add_argument(
        "--base-url", metavar="URL", help="gateway to use, ending in /api/v1 (GWTUI_BASE_URL)"
    )
    group.add_argument(
        "--dialect", choices=sorted(DIALECTS), help="names that the gateway uses on the wire"
    )
    group.add_argument(
        "--read-only", action="store_true", help="never send anything that changes something"
    )
    add_log_option(parser)


def add_log_option(parser: argparse.ArgumentParser, default: str = DEFAULT_LOG_LEVEL) -> None:
    """How much is logged: read before anything can be, by ``process.take_over``; here checked."""
    parser.add_argument(
        LOG_OPTION,
        choices=LOG_LEVELS,
        default=default,
        help=f"how much goes to the log file in the state directory ({DEFAULT_LOG_LEVEL})",
    )


def add_display_options(parser: argparse.ArgumentParser) -> None:
    """How a full-screen dashboard looks."""
    group = parser.add_argument_group("display")
    group.add_argument(
        "--theme",
        type=_theme,
        metavar="NAME",
        help="gwtui-dark (usual), gwtui-light, gwtui-contrast, or gwtui-terminal: its own colours",
    )
    group.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def _theme(name: str) -> str:
    from gwtui.ui.themes import known_theme  # noqa: PLC0415 - loads Textual

    try:
        return known_theme(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
