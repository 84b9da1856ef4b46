"""``gwtui profiles``: which gateways are known, which is the default; no key is read."""

from __future__ import annotations

import argparse

from gwtui.cli import exits
from gwtui.cli.logout import forget_everywhere
from gwtui.cli.output import narrate, print_table
from gwtui.cli.rows import add_row_options, print_rows
from gwtui.local.paths import Paths
from gwtui.local.profiles import (
    FILE_NAME,
    Profile,
    ProfileBook,
    ProfileError,
    load_profiles,
    set_default,
)

_HEADINGS = ("name", "host", "dialect", "writes", "critical", "key from")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--output`` and ``--columns``, ``default`` and ``remove``."""
    add_row_options(parser)
    commands = parser.add_subparsers(dest="profiles_command", metavar="COMMAND")
    default = commands.add_parser("default", help="choose what a start without a name means")
    default.add_argument("name", metavar="NAME")
    remove = commands.add_parser("remove", help="remove a profile and the key stored for it")
    remove.add_argument("name", metavar="NAME")


def run(arguments: argparse.Namespace) -> int:
    """List, or change; returns an exit code."""
    paths = Paths.of_user()
    file = paths.config / FILE_NAME
    try:
        if arguments.profiles_command == "default":
            set_default(file, arguments.name)
            narrate(f"profile {arguments.name} is the default now")
            return exits.OK
        book = load_profiles(file, keep_unknown=True)
        if arguments.profiles_command == "remove":
            return forget_everywhere(arguments.name, book, paths, and_profile=True)
    except ProfileError as error:
        narrate(str(error))
        return exits.USAGE
    _list(book, paths, arguments.output, arguments.columns)
    return exits.OK


_VALUES = (
    *("name", "default", "base_url", "host", "dialect", "read_only", "critical"),
    "token_source",
)


def _list(book: ProfileBook, paths: Paths, form: str, columns: str | None) -> None:
    for note in book.unknown:
        narrate(note)
    if form != "table" or columns is not None:
        rows = [_json(profile, book) for profile in book.profiles.values()]
        print_rows(rows, form, known=_VALUES, usual={}, columns=columns)
    elif book.profiles:
        print_table([_HEADINGS, *(_row(profile, book) for profile in book.profiles.values())])
    else:
        narrate(f"there are no profiles in {paths.config / FILE_NAME}: run gwtui login")


def _row(profile: Profile, book: ProfileBook) -> tuple[str, ...]:
    default = " (default)" if profile.name == book.default else ""
    return (
        profile.name + default,
        profile.host,
        profile.dialect,
        "read-only" if profile.read_only else "allowed",
        "CRITICAL" if profile.critical else "no",
        profile.key_from,
    )


def _json(profile: Profile, book: ProfileBook) -> dict[str, object]:
    return {
        "name": profile.name,
        "default": profile.name == book.default,
        "base_url": profile.base_url,
        "host": profile.host,
        "dialect": profile.dialect,
        "read_only": profile.read_only,
        "critical": profile.critical,
        "token_source": profile.token_source,
    }
