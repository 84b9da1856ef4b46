"""``gwtui logout``: remove the key of a profile from this machine."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from typing import Literal

from gwtui.cli import exits
from gwtui.cli.command import Argument, Command
from gwtui.cli.output import narrate
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
)
from gwtui.local.tokens import (
    TOKEN_VARIABLE,
    TokenError,
    remove_saved_token,
    saved_token_path,
)

KeyLocation = Literal["keyring", "saved file"]
""""""


class StillThereError(Exception):
    """A key could not be removed; the message has the place and the reason."""


def forget(profile_name: str, place: KeyLocation, data: Path) -> bool:
    """Remove the key of a profile from one place; False when there was none.

    Says so on stderr. Raises StillThereError.
    """
    try:
        if place == "keyring":
            removed = asyncio.run(remove_secret(profile_name))
        else:
            removed = remove_saved_token(data, profile_name)
    except NoKeyringError:
        return False
    except (KeyringUnavailableError, TokenError) as error:
        raise _still_there(profile_name, place, error) from None
    if removed:
        narrate(f"removed the key of profile {profile_name} from the {place}")
    return removed


def _still_there(profile_name: str, place: KeyLocation, error: Exception) -> StillThereError:
    return StillThereError(f"a key of profile {profile_name} may still be in the {place}: {error}")


def forget_everywhere(name: str, book: ProfileBook, paths: Paths, *, and_profile: bool) -> int:
    """Remove the key of a profile wherever this program may have put it; returns an exit code.

    What is a person's own, a command or a file, stays and is named. Raises ProfileError.
    """
    profile = book.profiles.get(name)
    removed, failed = _from_every_source(name, profile, paths)
    if profile is None:
        if not removed and not failed:
            narrate(f"there is no profile {name!r}{among(name, book.profiles)}")
            return exits.USAGE
        return exits.FAILED if failed else exits.OK
    _name_what_stays(profile, paths.data)
    if and_profile:
        remove_profile(paths.config / FILE_NAME, name)
        narrate(f"removed profile {name}")
    elif profile.token_file == saved_token_path(paths.data, name) and not failed:
        put_profile(paths.config / FILE_NAME, name, {"token_file": None})
    if removed:
        narrate("the key itself still works until it is deleted at the gateway")
    elif not failed:
        narrate(f"no key of profile {name} was stored here")
    return exits.FAILED if failed else exits.OK


def _from_every_source(name: str, profile: Profile | None, paths: Paths) -> tuple[bool, bool]:
    """Whether something was removed, and whether something that matters could not be."""
    places: tuple[KeyLocation, ...] = ("saved file", "keyring")
    removed = failed = False
    for place in places:
        try:
            removed |= forget(name, place, paths.data)
        except StillThereError as error:
            # A keyring that this profile does not use may well be out of order.
            if place == "saved file" or profile is None or profile.uses_keyring:
                narrate(str(error))
                failed = True
    return removed, failed


def _name_what_stays(profile: Profile, data: Path) -> None:
    if profile.token_command is not None:
        narrate(f"what {profile.token_command[0]} knows is yours and stays")
    elif profile.token_file not in {None, saved_token_path(data, profile.name)}:
        narrate(f"{profile.token_file} is yours and stays")


def run(arguments: argparse.Namespace) -> int:
    """Log out; returns an exit code. Raises CommandError."""
    paths = Paths.of_user()
    try:
        book = load_profiles(paths.config / FILE_NAME, keep_unknown=True)
        name = arguments.profile or os.environ.get("GWTUI_PROFILE") or book.default
        if not name or arguments.base_url:
            raise exits.CommandError(
                "logging out goes by profile: name one with --profile", exits.USAGE
            )
        code = forget_everywhere(name, book, paths, and_profile=arguments.forget)
    except ProfileError as error:
        raise exits.CommandError(str(error), exits.USAGE) from None
    if os.environ.get(TOKEN_VARIABLE):
        narrate(f"{TOKEN_VARIABLE} is still set in this shell")
    return code


COMMAND = Command(
    run=run,
    arguments=(Argument("--forget", action="store_true", help="remove the profile, too"),),
)
