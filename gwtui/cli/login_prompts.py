"""Asking for a gateway and its key on the terminal, each again until the gateway takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gwtui.cli.output import narrate
from gwtui.cli.prompts import NoAnswerGivenError, PromptLeftError, read_line, read_token
from gwtui.cli.whoami import read_current_key
from gwtui.client.connection import Connection
from gwtui.client.errors import (
    ForbiddenError,
    GatewayError,
    NotFoundError,
    ServerError,
    StatusError,
    UnauthorizedError,
)
from gwtui.contract.current_key import CurrentKey
from gwtui.domain.known_secrets import Secret
from gwtui.local.profiles import Profile, ProfileError

_EXAMPLE = "example: https://gateway.example/api/v1; its path may be left out"


def ask_address(profile_of: Callable[[str], Profile]) -> Profile:
    """The gateway whose address a person types, once there is one at it.

    What was typed stands in the line again to be corrected. ``profile_of`` may raise ProfileError.
    Raises PromptLeftError, and NoAnswerGivenError where there is no terminal to ask on.
    """
    narrate(_EXAMPLE)
    typed = ""
    while True:
        typed = read_line("Address of the gateway: ", typed)
        if not typed:
            continue
        try:
            profile = profile_of(typed)
            asyncio.run(_find_gateway(profile.connection(None, "")))
        except ProfileError as error:
            narrate(str(error))
        except GatewayError as error:
            narrate(f"no gateway answers at this address: {error.message}")
        else:
            return profile


async def _find_gateway(connection: Connection) -> None:
    """Raises GatewayError where no gateway answers; that it wants a key is an answer, too."""
    try:
        await read_current_key(connection)
    except (NotFoundError, ServerError):
        raise
    except StatusError:
        return


def ask_key(profile: Profile) -> tuple[Secret, CurrentKey]:
    """The key that a person types unseen, once the gateway knows it, and what it may do.

    A key that could not be checked need not be typed again. Raises PromptLeftError.
    """
    typed: Secret | None = None
    while True:
        again = "" if typed is None else " (Enter for the one you typed)"
        try:
            typed = read_token(f"Management key for {profile.host}{again}: ", empty=typed)
            return typed, asyncio.run(read_current_key(profile.connection(typed, "prompt")))
        except PromptLeftError:
            raise
        except (NoAnswerGivenError, ProfileError, UnauthorizedError, ForbiddenError) as error:
            typed = None
            narrate(str(error))
        except GatewayError as error:
            narrate(error.message)
