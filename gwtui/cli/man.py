"""``gwtui man``: manual pages, made from the same registry of commands as the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.output import data_on_stdout, narrate
from gwtui.domain.lookup import among

if TYPE_CHECKING:
    from gwtui.cli.command_tree import TreeCommand


def configure(parser: argparse.ArgumentParser) -> None:
    """Which page, or where to write all of them."""
    parser.add_argument(
        "page", nargs="?", metavar="PAGE", help="a command or a resource; gwtui itself without one"
    )
    parser.add_argument(
        "--directory", type=Path, metavar="DIR", help="write every page there, such as man/man1"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a page as roff, or write all; returns an exit code."""
    from gwtui.cli.command_tree import command_tree  # noqa: PLC0415 - loads every declaration
    from gwtui.cli.man_pages import page_name, pages  # noqa: PLC0415

    tree = command_tree()
    if arguments.directory is not None:
        return _write(tree, arguments.directory)
    found = {page_name(one): text for one, text in pages(tree)}
    name = "gwtui" if arguments.page in (None, "gwtui") else f"gwtui-{arguments.page}"
    if name not in found:
        known = [one.removeprefix("gwtui-") for one in found]
        asked = arguments.page
        narrate(f"there is no page {asked!r}{among(asked, known)}")
        return exits.USAGE
    text = found[name]
    with data_on_stdout():
        print(text, end="")
    return exits.OK


def _write(tree: TreeCommand, directory: Path) -> int:
    from gwtui.cli.man_pages import page_name, pages  # noqa: PLC0415 - loaded by then

    written = 0
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for one, text in pages(tree):
            (directory / f"{page_name(one)}.1").write_text(text, encoding="utf-8")
            written += 1
    except OSError as error:
        narrate(f"{directory}: {error.strerror or 'cannot be written'}")
        return exits.FAILED
    narrate(f"{written} pages in {directory}")
    return exits.OK
