"""``gwtui profiles`` and ``gwtui logout``: list known gateways, and remove their keys."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gwtui.cli import exits
from gwtui.cli.command import COLUMNS, ROWS_OUTPUT, Argument, Command, Run
from gwtui.cli.output import narrate, print_rows
from gwtui.domain.lookup import among
from gwtui.local.keyring_store import (
    KeyringUnavailableError,
    NoKeyringError,
    remove_secret,
)
from gwtui.local.paths import Paths
from gwtui.local.profiles import (
    FILE_NAME,
    Profile,
    ProfileBook,
    ProfileError,
    load_profiles,
    put_profile,
    remove_profile,
    set_default,
)
from gwtui.local.tokens import (
    TOKEN_VARIABLE,
    TokenError,
    remove_saved_token,
    saved_token_path,
)

KeyLocation = Literal["keyring", "saved file"]
"""The places where gwtui itself stores keys."""


class KeyNotRemovedError(Exception):
    """A stored key could not be removed."""


def remove_key(profile_name: str, place: KeyLocation, data: Path) -> bool:
    """Remove the key of a profile from one place; return whether there was one.

    Raises KeyNotRemovedError.
    """
    try:
        if place == "keyring":
            removed = asyncio.run(remove_secret(profile_name))
        else:
            removed = remove_saved_token(data, profile_name)
    except NoKeyringError:
        return False
    except (KeyringUnavailableError, TokenError) as error:
        raise KeyNotRemovedError(
            f"the key of profile {profile_name} may still be in the {place}: {error}"
        ) from None
    if removed:
        narrate(f"removed the key of profile {profile_name} from the {place}")
    return removed


def _remove_everywhere(name: str, book: ProfileBook, paths: Paths, *, and_profile: bool) -> int:
    # A token command or token file belongs to the user: it is named, but never removed.
    profile = book.profiles.get(name)
    removed, failed = _from_every_place(name, profile, paths)
    if profile is None:
        if not removed and not failed:
            narrate(f"there is no profile {name!r}{among(name, book.profiles)}")
            return exits.USAGE
        return exits.FAILED if failed else exits.OK
    saved = saved_token_path(paths.data, name)
    if profile.token_command is not None:
        narrate(f"the key that {profile.token_command[0]} prints is not removed")
    elif profile.token_file not in {None, saved}:
        narrate(f"{profile.token_file} is your own file and is not removed")
    if and_profile:
        remove_profile(paths.config / FILE_NAME, name)
        narrate(f"removed profile {name}")
    elif profile.token_file == saved and not failed:
        put_profile(paths.config / FILE_NAME, name, {"token_file": None})
    if removed:
        narrate("the key itself keeps working until it is deleted at the gateway")
    elif not failed:
        narrate(f"no key of profile {name} was stored here")
    return exits.FAILED if failed else exits.OK


def _from_every_place(name: str, profile: Profile | None, paths: Paths) -> tuple[bool, bool]:
    places: tuple[KeyLocation, ...] = ("saved file", "keyring")
    removed = failed = False
    for place in places:
        try:
            removed |= remove_key(name, place, paths.data)
        except KeyNotRemovedError as error:
            # A broken keyring does not matter to a profile that does not use it.
            if place == "saved file" or profile is None or profile.uses_keyring:
                narrate(str(error))
                failed = True
    return removed, failed


def _of_book(work: Callable[[ProfileBook, argparse.Namespace], int]) -> Run:
    @exits.reporting(ProfileError)
    def run(arguments: argparse.Namespace) -> int:
        return work(load_profiles(_file(), keep_unknown=True), arguments)

    return run


def _file() -> Path:
    return Paths.of_user().config / FILE_NAME


def _log_out(book: ProfileBook, arguments: argparse.Namespace) -> int:
    name = arguments.profile or os.environ.get("GWTUI_PROFILE") or book.default
    if not name or arguments.base_url:
        raise exits.CommandError("name the profile to log out of with --profile", exits.USAGE)
    code = _remove_everywhere(name, book, Paths.of_user(), and_profile=False)
    if os.environ.get(TOKEN_VARIABLE):
        narrate(f"{TOKEN_VARIABLE} is still set in this shell")
    return code


def _default(_book: ProfileBook, arguments: argparse.Namespace) -> int:
    set_default(_file(), arguments.name)
    narrate(f"profile {arguments.name} is now the default")
    return exits.OK


def _remove(book: ProfileBook, arguments: argparse.Namespace) -> int:
    return _remove_everywhere(arguments.name, book, Paths.of_user(), and_profile=True)


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


LOGOUT = Command(run=_of_book(_log_out))
_NAME = Argument("name", kind="profiles", help="name of the profile")
COMMAND = Command(
    verbs=(
        Command("list", "list the profiles", _of_book(_list), (ROWS_OUTPUT, COLUMNS)),
        Command("default", "set the default profile", _of_book(_default), (_NAME,)),
        Command("remove", "remove a profile and its stored key", _of_book(_remove), (_NAME,)),
    ),
    verb="list",
)
