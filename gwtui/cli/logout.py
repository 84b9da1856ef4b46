"""``gwtui logout``: remove the key of a profile from this machine."""

from __future__ import annotations

import argparse
import os

from gwtui.cli import exits
from gwtui.cli.forgetting import forget_everywhere
from gwtui.cli.new_keys import NewKeysWaitError, add_discard_option
from gwtui.cli.output import narrate
from gwtui.local.environment import TOKEN_VARIABLE
from gwtui.local.paths import Paths
from gwtui.local.profile_text import load_profiles
from gwtui.local.profiles import FILE_NAME, ProfileError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--forget``."""
    parser.add_argument("--forget", action="store_true", help="remove the profile, too")
    add_discard_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Log out; returns an exit code."""
    paths = Paths.of_user()
    try:
        book = load_profiles(paths.config / FILE_NAME, keep_unknown=True)
        name = arguments.profile or os.environ.get("GWTUI_PROFILE") or book.default
        if not name or arguments.base_url:
            narrate("logging out goes by profile: name one with --profile")
            return exits.USAGE
        code = forget_everywhere(
            name,
            book,
            paths,
            and_profile=arguments.forget,
            discard_new_keys=arguments.discard_new_keys,
        )
    except ProfileError as error:
        narrate(str(error))
        return exits.USAGE
    except NewKeysWaitError as error:
        narrate(str(error))
        return exits.FAILED
    if os.environ.get(TOKEN_VARIABLE):
        narrate(f"{TOKEN_VARIABLE} is still set in this shell")
    return code
