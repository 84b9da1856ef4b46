"""Which gateway a command talks to, and with which key."""

from __future__ import annotations

import argparse
import asyncio
import os

from gwtui.cli import exits
from gwtui.cli.asking import NoAnswerGivenError, read_token
from gwtui.cli.output import narrate
from gwtui.cli.reach import NoTargetError
from gwtui.client.connection import Connection
from gwtui.local.paths import Paths
from gwtui.local.profile_text import load_profiles
from gwtui.local.profiles import FILE_NAME, Profile, ProfileError, resolve
from gwtui.local.tokens import TokenError, find_token


def open_target(
    arguments: argparse.Namespace, paths: Paths, *, may_ask: bool
) -> tuple[Profile, Connection]:
    """The gateway of a profile or an address, with the key of the first source that has one.

    With ``may_ask``, a person is asked for it where no source has one. Raises NoTargetError.
    """
    profile = find_profile(arguments, paths)
    try:
        return profile, _connection(profile, may_ask=may_ask)
    except (ProfileError, TokenError, NoAnswerGivenError) as error:
        raise NoTargetError(str(error), exits.FAILED) from None


def find_profile(arguments: argparse.Namespace, paths: Paths) -> Profile:
    """The gateway of a profile or an address, without its key. Raises NoTargetError."""
    try:
        return resolve(
            arguments.profile,
            arguments.base_url,
            arguments.dialect,
            arguments.read_only,
            os.environ,
            book=load_profiles(paths.config / FILE_NAME),
        )
    except ProfileError as error:
        raise NoTargetError(str(error), exits.USAGE) from None


def _connection(profile: Profile, *, may_ask: bool) -> Connection:
    found = asyncio.run(find_token(profile))
    for note in found.notes:
        narrate(note)
    if found.token is not None:
        return profile.connection(found.token, found.source)
    if not may_ask:
        raise TokenError(f"there is no key for {profile.label}: run gwtui login")
    # Refused before anybody types: plain http, for one.
    profile.connection(None, "prompt")
    prompt = f"Management key for {profile.label} (for this session; gwtui login keeps one): "
    return profile.connection(read_token(prompt), "prompt")
