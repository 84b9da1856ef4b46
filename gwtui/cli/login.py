"""``gwtui login``: check a management key at its gateway, then keep it where it is safe."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.cli.asking import NoAnswerGivenError, read_token
from gwtui.cli.forgetting import Place, StillThereError, forget, stored_token
from gwtui.cli.key_facts import ask_gateway, in_short
from gwtui.cli.login_plan import LoginPlan, plan_login
from gwtui.cli.new_keys import NewKeysWaitError, add_discard_option, refuse_to_lock_out
from gwtui.cli.output import narrate
from gwtui.client.errors import GatewayError
from gwtui.contract.keys import CurrentKey
from gwtui.local.keyring_store import (
    KeyringSilentError,
    KeyringUnavailableError,
    read_secret,
    store_secret,
)
from gwtui.local.paths import Paths
from gwtui.local.profile_file import put_profile
from gwtui.local.profile_text import load_profiles
from gwtui.local.profiles import FILE_NAME, ProfileError
from gwtui.local.saved_tokens import save_token
from gwtui.local.tokens import (
    TokenError,
    take_from_environment,
    token_from_command,
    token_from_file,
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what the profile says, and where the key is kept."""
    rules = parser.add_argument_group("profile")
    rules.add_argument(
        "--critical", action="store_true", help="look different, and ask for the name to confirm"
    )
    rules.add_argument(
        "--allow-plain-http", action="store_true", help="send the key in clear over http"
    )
    rules.add_argument(
        "--use-proxy", action="store_true", help="obey the proxy variables of the environment"
    )
    add_discard_option(parser)
    place = parser.add_argument_group(
        "where the key is kept", "The key is typed unseen, or read from stdin; never an argument."
    ).add_mutually_exclusive_group()
    place.add_argument(
        "--keyring", action="store_true", help="in the keyring (where a new profile keeps it)"
    )
    place.add_argument(
        "--save-file", action="store_true", help="in plain text, in a file that only you can read"
    )
    place.add_argument(
        "--token-file", type=Path, metavar="PATH", help="in this file of yours, mode 0600"
    )
    place.add_argument(
        "--token-command",
        nargs=argparse.REMAINDER,
        metavar="PROGRAM",
        help="this program and its arguments print it; the last option",
    )


def run(arguments: argparse.Namespace) -> int:
    """Log in; returns an exit code."""
    paths = Paths.of_user()
    # Not used: taken out so that no child process inherits it.
    if take_from_environment(os.environ) is not None:
        narrate("GWTUI_TOKEN is set in this shell and goes before any key that is kept")
    try:
        book = load_profiles(paths.config / FILE_NAME, keep_unknown=True)
        plan = plan_login(arguments, book, os.environ, paths.data)
    except ProfileError as error:
        narrate(str(error))
        return exits.USAGE
    try:
        _log_in(plan, paths)
    except (NoAnswerGivenError, TokenError, ProfileError) as error:
        narrate(str(error))
        return exits.FAILED
    except NewKeysWaitError as error:
        narrate(f"{error}; nothing was stored")
        return exits.FAILED
    except GatewayError as error:
        narrate(f"{error.message}; nothing was stored")
        return exits.FAILED
    return exits.OK


def _log_in(plan: LoginPlan, paths: Paths) -> None:
    profile = plan.profile
    if plan.before and plan.before.host != profile.host:
        narrate(f"profile {profile.name} led to {plan.before.host} so far, now to {profile.host}")
    token = _token(plan)
    key = asyncio.run(ask_gateway(profile.connection(token, "")))
    _tell(profile.host, key)
    reachable = _check_former(plan, paths, token)
    _store(plan, paths, token)
    if plan.changes or plan.becomes_default:
        put_profile(
            paths.config / FILE_NAME, profile.name, plan.changes, default=plan.becomes_default
        )
    if plan.becomes_default:
        narrate(f"profile {profile.name} is the default now: run gwtui")
    else:
        narrate(f"profile {profile.name} is ready: run gwtui --profile {profile.name}")
    if reachable and plan.left_behind is not None:
        _tidy(plan.profile.name, plan.left_behind, paths)


def _token(plan: LoginPlan) -> SecretStr:
    """The key that is to be kept. Raises NoAnswerGivenError or TokenError."""
    profile = plan.profile
    if plan.storage == "elsewhere":
        if profile.token_command is not None:
            narrate(f"running {' '.join(profile.token_command)}")
            return asyncio.run(token_from_command(profile.token_command, os.environ))
        if profile.token_file is not None:
            return token_from_file(profile.token_file)
    if plan.storage == "keyring":
        _require_keyring(profile.name)
    return read_token(f"Management key for {profile.host}: ")


def _require_keyring(name: str) -> None:
    """Nobody is to type a key that cannot be kept. Raises TokenError."""
    try:
        asyncio.run(read_secret(name))
    except KeyringUnavailableError as error:
        raise TokenError(
            f"{error}; nothing was stored. Use --token-command or --token-file for a key that is "
            "kept elsewhere, --save-file to keep it in plain text in a file that only you can "
            "read, or GWTUI_TOKEN for one session"
        ) from None


def _tell(host: str, key: CurrentKey) -> None:
    narrate(f"{host} knows this key: {in_short(key)}")
    if key.is_management_key is False:
        narrate("it is not a management key: nothing can be changed with it, and little be seen")


def _check_former(plan: LoginPlan, paths: Paths, token: SecretStr) -> bool:
    """Whether the copy that is left behind can be reached.

    Raises NewKeysWaitError where the key that goes opens what the new one does not.
    """
    places: tuple[Place, ...] = ("keyring", "saved file")
    reachable = True
    for place in places:
        if plan.before is None or place not in {plan.storage, plan.left_behind}:
            continue
        try:
            former = stored_token(plan.profile.name, place, paths.data)
        except StillThereError as error:
            narrate(str(error))
            reachable = False
            continue
        if former != token and not plan.discard_new_keys:
            refuse_to_lock_out(former, plan.before, paths.state)
    return reachable


def _store(plan: LoginPlan, paths: Paths, token: SecretStr) -> None:
    if plan.storage == "keyring":
        try:
            asyncio.run(store_secret(plan.profile.name, token))
        except KeyringSilentError as error:
            raise TokenError(f"{error}; the key may be stored all the same") from None
        except KeyringUnavailableError as error:
            raise TokenError(f"{error}; nothing was stored") from None
        narrate("stored in the keyring")
    elif plan.storage == "saved file":
        path = save_token(paths.data, plan.profile.name, token)
        narrate(f"stored in plain text in {path}, which only you can read")


def _tidy(profile_name: str, place: Place, paths: Paths) -> None:
    """Take away the copy that is no longer looked for."""
    try:
        forget(profile_name, place, paths.data)
    except StillThereError as error:
        narrate(str(error))
