"""``gwtui profiles``: which gateways are known, which is the default; no key is read."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, ROWS_OUTPUT, Argument, Command, Run
from gwtui.cli.logout import forget_everywhere
from gwtui.cli.output import narrate, print_rows
from gwtui.local.paths import Paths
from gwtui.local.profiles import (
    FILE_NAME,
    ProfileBook,
    ProfileError,
    load_profiles,
    set_default,
)


def _of_book(work: Callable[[ProfileBook, argparse.Namespace], int]) -> Run:
    """What a verb does with the profiles."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            return work(load_profiles(_file(), keep_unknown=True), arguments)
        except ProfileError as error:
            raise exits.CommandError(str(error), exits.USAGE) from None

    return run


def _file() -> Path:
    return Paths.of_user().config / FILE_NAME


def _default(_book: ProfileBook, arguments: argparse.Namespace) -> int:
    set_default(_file(), arguments.name)
    narrate(f"profile {arguments.name} is the default now")
    return exits.OK


def _remove(book: ProfileBook, arguments: argparse.Namespace) -> int:
    return forget_everywhere(arguments.name, book, Paths.of_user(), and_profile=True)


_VALUES = (
    *("name", "default", "host", "dialect", "read_only", "critical", "key_from"),
    *("token_source", "base_url"),
)


def _list(book: ProfileBook, arguments: argparse.Namespace) -> int:
    for note in book.unknown:
        narrate(note)
    if not book.profiles:
        narrate(f"there are no profiles in {_file()}: run gwtui login")
    rows = [
        {
            **{name: getattr(profile, name) for name in _VALUES if name != "default"},
            "default": profile.name == book.default,
        }
        for profile in book.profiles.values()
    ]
    print_rows(rows, arguments, _VALUES)
    return exits.OK


_NAME = Argument("name", kind="profiles", help="name of the profile")
COMMAND = Command(
    verbs=(
        Command("list", "list them", _of_book(_list), (ROWS_OUTPUT, COLUMNS)),
        Command(
            "default", "choose what a start without a name means", _of_book(_default), (_NAME,)
        ),
        Command(
            "remove", "remove a profile and the key stored for it", _of_book(_remove), (_NAME,)
        ),
    ),
    verb="list",
)
