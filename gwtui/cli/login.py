"""``gwtui login``: verify a management key at its gateway and store it for a profile."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.cli.command import FILES, Argument, Command
from gwtui.cli.output import narrate, narrate_lines
from gwtui.cli.profiles import KeyNotRemovedError, remove_key
from gwtui.cli.prompts import NoAnswerGivenError, PromptLeftError, read_line, read_token
from gwtui.cli.whoami import key_summary, read_current_key
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError, NotFoundError, ServerError, StatusError
from gwtui.contract.keys import CurrentKey
from gwtui.local.keyring_store import (
    KeyringSilentError,
    KeyringUnavailableError,
    read_secret,
    store_secret,
)
from gwtui.local.paths import Paths
from gwtui.local.profiles import (
    FILE_NAME,
    Profile,
    ProfileBook,
    ProfileError,
    ad_hoc_profile,
    load_profiles,
    profile_of,
    put_profile,
)
from gwtui.local.tokens import (
    TokenError,
    save_token,
    saved_token_path,
    take_from_environment,
    token_from_command,
    token_from_file,
)
from gwtui.local.toml_file import TomlValue, WrongSettingError

Storage = Literal["keyring", "saved file", "elsewhere"]
"""Where the key is stored; "elsewhere" is the user's own command or file, which is only read."""

_EXAMPLE = "https://gateway.example/api/v1"
_FLAGS = ("read_only", "critical", "allow_plain_http", "use_proxy")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class LoginPlan:
    """The profile as it will be stored; nothing is written yet."""

    profile: Profile
    storage: Storage
    changes: Mapping[str, TomlValue | None]
    """The fields to write; None removes a field."""
    becomes_default: bool
    before: Profile | None
    """The current profile; None for a new one."""


def plan_login(arguments: argparse.Namespace, paths: Paths) -> LoginPlan:
    """Plan the login; prompts for an address if none is given. Raises ProfileError."""
    book = load_profiles(paths.config / FILE_NAME, keep_unknown=True)
    data = paths.data
    address = arguments.base_url or (
        None if arguments.profile else os.environ.get("GWTUI_BASE_URL") or None
    )
    name = arguments.profile or os.environ.get("GWTUI_PROFILE")
    name = name or (None if address else book.default)
    if address is None and (name is None or name not in book.profiles):
        address = ask_gateway(arguments).base_url
    if name is None:
        name = _name_for(str(address), book)
    present = book.profiles.get(name)
    given: dict[str, TomlValue | None] = {"base_url": address} if address else {}
    given |= {flag: True for flag in _FLAGS if getattr(arguments, flag)}
    if arguments.dialect:
        given["dialect"] = arguments.dialect
    storage, source = _chosen_storage(arguments, present, data, name)
    before = present.values() if present else {}
    profile = _validated(name, {**before, **given, **source}, new=present is None)
    after = profile.values()
    return LoginPlan(
        profile,
        storage,
        {key: after.get(key) for key in (*given, *source) if after.get(key) != before.get(key)},
        becomes_default=book.default is None,
        before=present,
    )


def ask_gateway(arguments: argparse.Namespace) -> Profile:
    """Prompt until a gateway answers; return an unnamed profile for its address.

    Raises PromptLeftError, and ProfileError without a terminal.
    """
    while True:
        try:
            typed = read_line(f"Gateway URL, such as {_EXAMPLE}: ")
        except PromptLeftError:
            raise
        except NoAnswerGivenError:
            raise ProfileError(
                f"no gateway is given: use --base-url URL, such as {_EXAMPLE}"
            ) from None
        try:
            profile = replace(
                ad_hoc_profile(typed),
                allow_plain_http=arguments.allow_plain_http,
                use_proxy=arguments.use_proxy,
            )
            asyncio.run(_find_gateway(profile.connection(None, "")))
        except ProfileError as error:
            narrate(str(error))
        except GatewayError as error:
            narrate(f"no gateway responds at this address: {error.message}")
        else:
            return profile


async def _find_gateway(connection: Connection) -> None:
    # A gateway that refuses the request because it has no key counts as an answer.
    try:
        await read_current_key(connection)
    except (NotFoundError, ServerError):
        raise
    except StatusError:
        return


def ask_key(profile: Profile) -> tuple[SecretStr, CurrentKey]:
    """Prompt until the gateway accepts a key; return its value and its properties.

    Raises PromptLeftError.
    """
    while True:
        try:
            typed = read_token(f"Management key for {profile.host}: ")
            return typed, asyncio.run(read_current_key(profile.connection(typed, "prompt")))
        except PromptLeftError:
            raise
        except (NoAnswerGivenError, ProfileError, GatewayError) as error:
            narrate(str(error))


def _name_for(address: str, book: ProfileBook) -> str:
    host = ad_hoc_profile(address).host
    known = [name for name, profile in book.profiles.items() if profile.host == host]
    if len(known) > 1:
        raise ProfileError(f"several profiles use {host}: choose one with --profile")
    if known:
        return known[0]
    name = re.sub(r"[^A-Za-z0-9]+", "-", urlsplit(f"//{host}").hostname or "").strip("-")
    if not name or name in book.profiles:
        raise ProfileError("name the profile with --profile")
    return name


def _chosen_storage(
    arguments: argparse.Namespace, present: Profile | None, data: Path, name: str
) -> tuple[Storage, dict[str, TomlValue | None]]:
    saved = saved_token_path(data, name)
    if arguments.token_command is not None:
        if not arguments.token_command:
            raise ProfileError("--token-command needs a program")
        return "elsewhere", {"token_command": arguments.token_command, "token_file": None}
    if arguments.token_file is not None:
        path = arguments.token_file.expanduser().absolute()
        return "elsewhere", {"token_command": None, "token_file": str(path)}
    if arguments.save_file:
        return "saved file", {"token_command": None, "token_file": str(saved)}
    if arguments.keyring or present is None:
        return "keyring", {"token_command": None, "token_file": None}
    return _storage(present, data), {}


def _storage(profile: Profile, data: Path) -> Storage:
    if profile.uses_keyring:
        return "keyring"
    is_ours = profile.token_file == saved_token_path(data, profile.name)
    return "saved file" if is_ours else "elsewhere"


def _validated(name: str, given: Mapping[str, TomlValue | None], *, new: bool) -> Profile:
    if new and not _NAME.fullmatch(name):
        raise ProfileError(
            "a profile name consists of at most 64 letters, digits, dots, dashes and underscores"
        )
    try:
        profile = profile_of(name, {key: given[key] for key in given if given[key] is not None})
    except WrongSettingError as error:
        raise ProfileError(str(error)) from None
    profile.connection(None, "")  # raises for plain http to another machine
    return profile


def run(arguments: argparse.Namespace) -> int:
    """Log in; returns an exit code. Raises CommandError."""
    paths = Paths.of_user()
    if take_from_environment(os.environ) is not None:
        narrate("GWTUI_TOKEN is set in this shell and takes precedence over stored keys")
    with exits.reporting(ProfileError):
        plan = plan_login(arguments, paths)
    profile = plan.profile
    if plan.before and plan.before.host != profile.host:
        narrate(f"profile {profile.name} moves from {plan.before.host} to {profile.host}")
    try:
        token, key = _token_and_key(plan)
        narrate(f"{profile.host} accepts this key: {key_summary(key)}")
        if key.is_management_key is False:
            narrate("not a management key: it cannot change anything and can read very little")
        _keep(plan, paths, token)
    except (NoAnswerGivenError, TokenError, ProfileError) as error:
        raise exits.CommandError(str(error)) from None
    except GatewayError as error:
        raise exits.CommandError(f"{error.message}; nothing was stored") from None
    return exits.OK


def _keep(plan: LoginPlan, paths: Paths, token: SecretStr) -> None:
    """Store the key and write the profile. Raises TokenError and ProfileError."""
    profile = plan.profile
    _store(plan, paths, token)
    if plan.changes or plan.becomes_default:
        put_profile(
            paths.config / FILE_NAME, profile.name, plan.changes, default=plan.becomes_default
        )
    if plan.becomes_default:
        narrate(f"profile {profile.name} is now the default: run gwtui")
    else:
        narrate(f"profile {profile.name} is ready: run gwtui --profile {profile.name}")
    before = plan.before and _storage(plan.before, paths.data)
    if before and before not in {plan.storage, "elsewhere"}:
        try:
            remove_key(profile.name, before, paths.data)
        except KeyNotRemovedError as error:
            narrate(str(error))


def _token_and_key(plan: LoginPlan) -> tuple[SecretStr, CurrentKey]:
    profile = plan.profile
    if plan.storage == "keyring":
        _require_keyring(profile.name)
    if profile.token_command is not None:
        narrate(f"running {' '.join(profile.token_command)}")
        token = asyncio.run(token_from_command(profile.token_command, os.environ))
    elif plan.storage == "elsewhere" and profile.token_file is not None:
        token = token_from_file(profile.token_file)
    elif sys.stdin.isatty():
        return ask_key(profile)
    else:
        token = read_token("")
    return token, asyncio.run(read_current_key(profile.connection(token, "")))


def keyring_problem(name: str) -> str | None:
    """Return why the keyring cannot store the key of this profile; None if it can."""
    try:
        asyncio.run(read_secret(name))
    except KeyringUnavailableError as error:
        return str(error)
    return None


def _require_keyring(name: str) -> None:
    # Fail before the user types a key that cannot be stored.
    error = keyring_problem(name)
    if error is not None:
        raise TokenError(
            f"{error}; nothing was stored. Use --token-command or --token-file for a key that is "
            "stored elsewhere, --save-file to store it in a plain-text file that only you can "
            "read, or GWTUI_TOKEN for one session"
        )


def _store(plan: LoginPlan, paths: Paths, token: SecretStr) -> None:
    if plan.storage == "keyring":
        try:
            asyncio.run(store_secret(plan.profile.name, token))
        except KeyringSilentError as error:
            raise TokenError(f"{error}; the key may have been stored") from None
        except KeyringUnavailableError as error:
            raise TokenError(f"{error}; nothing was stored") from None
        narrate("stored in the keyring")
    elif plan.storage == "saved file":
        path = save_token(paths.data, plan.profile.name, token)
        narrate(f"stored in plain text in {path}, which only you can read")


_STORAGE = "source of the key"
COMMAND = Command(
    run=run,
    arguments=(
        Argument(
            "--critical",
            action="store_true",
            group="profile",
            help="mark the profile as critical: confirmations require its name",
        ),
        Argument(
            "--allow-plain-http",
            action="store_true",
            group="profile",
            help="allow sending the key unencrypted over http",
        ),
        Argument(
            "--use-proxy",
            action="store_true",
            group="profile",
            help="use HTTP_PROXY and related environment variables",
        ),
        Argument(
            "--keyring",
            action="store_true",
            group=_STORAGE,
            either="place",
            help="read the key from the terminal, without echo, or from stdin, and store it in the "
            "keyring (default for a new profile)",
        ),
        Argument(
            "--save-file",
            action="store_true",
            group=_STORAGE,
            either="place",
            help="read the key likewise, and store it in a plain-text file that only you can read",
        ),
        Argument(
            "--token-file",
            type=Path,
            metavar="PATH",
            kind=FILES,
            group=_STORAGE,
            either="place",
            help="do not store the key; read it from this file (mode 0600) on each run",
        ),
        Argument(
            "--token-command",
            nargs=argparse.REMAINDER,
            metavar="PROGRAM",
            group=_STORAGE,
            either="place",
            help="do not store the key; run this program to read it; must be the last option",
        ),
    ),
)


# The first start ---------------------------------------------------------------------------------

_WELCOME = """\
gwtui administers an AI-model gateway from the terminal. No gateway is set up
on this machine yet. How do you want to start?

  d  Explore the demo: a simulated gateway with a week of recorded history.
     It works offline, needs no key and costs nothing.
  l  Log in to a gateway with a management key and save it as a profile.
  w  Watch a gateway read-only: log in, but never change anything.
  q  Quit.

To skip this question: gwtui --demo, gwtui login, gwtui login --read-only.
"""
_KEEP = """
Where do you want to store the key?

{keyring}
  f  In a plain-text file that only you can read.
  q  Quit.
"""
_KEYRING = "  k  In the keyring of this machine."
_NO_KEYRING = "     (The keyring is not available: {problem}.)"


def welcome(arguments: argparse.Namespace) -> argparse.Namespace | None:
    """Ask the user how to start, and log in if the user chooses that.

    Returns the arguments to run the dashboard with, None if the user quits. Raises CommandError.
    """
    narrate_lines(_WELCOME.splitlines())
    match _choice("dlwq"):
        case "d":
            return _with(arguments, demo=True)
        case "l":
            return _logged_in(arguments)
        case "w":
            route = arguments.route or "board"
            return _logged_in(_with(arguments, read_only=True, route=route))
    return None


def _logged_in(arguments: argparse.Namespace) -> argparse.Namespace | None:
    login = _with(COMMAND.parse(()), **vars(arguments))
    with exits.reporting(PromptLeftError, ProfileError, code=exits.FAILED):
        gateway = ask_gateway(login)
    place = _place(gateway.host)
    if place == "q":
        return None
    run(_with(login, base_url=gateway.base_url, keyring=place == "k", save_file=place == "f"))
    return arguments


def _place(host: str) -> str:
    problem = keyring_problem(host)
    keyring = _NO_KEYRING.format(problem=problem) if problem else _KEYRING
    narrate_lines(_KEEP.format(keyring=keyring).splitlines())
    return _choice("fq" if problem else "kfq")


def _with(arguments: argparse.Namespace, **changes: object) -> argparse.Namespace:
    return argparse.Namespace(**{**vars(arguments), **changes})


def _choice(letters: str) -> str:
    prompt = f"Choose {', '.join(letters[:-1])} or {letters[-1]}: "
    try:
        while (chosen := read_line(prompt).lower()) not in letters or not chosen:
            continue
    except PromptLeftError:
        return "q"
    return chosen
