"""Removing stored keys from this machine, and saying what became of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from gwtui.cli import exits
from gwtui.cli.output import narrate
from gwtui.local.keyring_store import KeyringUnavailableError, NoKeyringError, remove_secret
from gwtui.local.paths import Paths
from gwtui.local.profile_file import put_profile, remove_profile
from gwtui.local.profiles import FILE_NAME, Profile, ProfileBook
from gwtui.local.saved_tokens import remove_saved_token, saved_token_path
from gwtui.local.tokens import TokenError


class StillThereError(Exception):
    """A key could not be removed; the message says from where and why."""


def forget(profile_name: str, place: Literal["keyring", "saved file"], data: Path) -> bool:
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
        raise StillThereError(
            f"a key of profile {profile_name} may still be in the {place}: {error}"
        ) from None
    if removed:
        narrate(f"removed the key of profile {profile_name} from the {place}")
    return removed


def forget_everywhere(name: str, book: ProfileBook, paths: Paths, *, and_profile: bool) -> int:
    """Remove the key of a profile wherever this program may have put it; returns an exit code.

    What is a person's own, a command or a file, stays and is named. Raises ProfileError.
    """
    profile = book.profiles.get(name)
    removed, failed = _from_every_place(name, profile, paths.data)
    if profile is None:
        if not removed and not failed:
            narrate(f"there is no profile {name!r}")
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


def _from_every_place(name: str, profile: Profile | None, data: Path) -> tuple[bool, bool]:
    """Whether something was removed, and whether something that matters could not be."""
    removed = failed = False
    places: tuple[Literal["saved file", "keyring"], ...] = ("saved file", "keyring")
    for place in places:
        try:
            removed |= forget(name, place, data)
        except StillThereError as error:
            # A keyring that this profile does not use may well be absent.
            if place == "saved file" or profile is None or profile.uses_keyring:
                narrate(str(error))
                failed = True
    return removed, failed


def _name_what_stays(profile: Profile, data: Path) -> None:
    if profile.token_command is not None:
        narrate(f"what {profile.token_command[0]} knows is yours and stays")
    elif profile.token_file not in {None, saved_token_path(data, profile.name)}:
        narrate(f"{profile.token_file} is yours and stays")
