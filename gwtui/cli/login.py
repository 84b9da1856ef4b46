"""``gwtui login``: check a management key at its gateway, then keep it where it is safe."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from gwtui.cli import exits
from gwtui.cli.command import FILES, Argument, Command
from gwtui.cli.logout import KeyLocation, StillThereError, forget
from gwtui.cli.output import narrate
from gwtui.cli.prompts import NoAnswerGivenError, PromptLeftError, read_line, read_token
from gwtui.cli.whoami import key_summary, read_current_key
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
"""Where the key is put: "elsewhere" is a command or a file of the person's own, only read."""

_EXAMPLE = "example: https://gateway.example/api/v1; its path may be left out"
_FLAGS = ("read_only", "critical", "allow_plain_http", "use_proxy")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class LoginPlan:
    """The profile as it will be; nothing has happened yet."""

    profile: Profile
    storage: Storage
    changes: Mapping[str, TomlValue | None]
    """Fields to write; None removes one."""
    becomes_default: bool
    left_behind: KeyLocation | None
    """Where an earlier key would lie on without being looked for."""
    before: Profile | None
    """The profile as it is in the file, None for a new one."""


def plan_login(arguments: argparse.Namespace, paths: Paths) -> LoginPlan:
    """The plan of the arguments; asks for an address that nothing gives. Raises ProfileError."""
    book = load_profiles(paths.config / FILE_NAME, keep_unknown=True)
    data = paths.data
    address = arguments.base_url or (
        None if arguments.profile else os.environ.get("GWTUI_BASE_URL") or None
    )
    name = arguments.profile or os.environ.get("GWTUI_PROFILE")
    name = name or (None if address else book.default)
    if address is None and (name is None or name not in book.profiles):
        address = prompted_gateway(arguments).base_url
    if name is None:
        name = _name_for(str(address), book)
    present = book.profiles.get(name)
    wanted: dict[str, TomlValue | None] = {"base_url": address} if address else {}
    wanted |= {flag: True for flag in _FLAGS if getattr(arguments, flag)}
    if arguments.dialect:
        wanted["dialect"] = arguments.dialect
    storage, source = _chosen_storage(arguments, present, data, name)
    before = present.values() if present else {}
    profile = _validated(name, {**before, **wanted, **source}, new=present is None)
    after = profile.values()
    return LoginPlan(
        profile,
        storage,
        {key: after.get(key) for key in (*wanted, *source) if after.get(key) != before.get(key)},
        becomes_default=book.default is None,
        left_behind=_left_behind(present, storage, data),
        before=present,
    )


def prompted_gateway(arguments: argparse.Namespace) -> Profile:
    """The gateway at the address that a person types, without a name. Raises ProfileError."""

    def profile_of(address: str) -> Profile:
        return replace(
            ad_hoc_profile(address),
            allow_plain_http=arguments.allow_plain_http,
            use_proxy=arguments.use_proxy,
        )

    try:
        return ask_address(profile_of)
    except NoAnswerGivenError:
        raise ProfileError("no gateway is given: use --base-url URL") from None


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


def _name_for(address: str, book: ProfileBook) -> str:
    """The profile that leads to this host, else a name made from it."""
    host = ad_hoc_profile(address).host
    known = [name for name, profile in book.profiles.items() if profile.host == host]
    if len(known) > 1:
        raise ProfileError(f"several profiles lead to {host}: choose one with --profile")
    if known:
        return known[0]
    name = re.sub(r"[^A-Za-z0-9]+", "-", urlsplit(f"//{host}").hostname or "").strip("-")
    if not name or name in book.profiles:
        raise ProfileError("name the profile with --profile")
    return name


def _chosen_storage(
    arguments: argparse.Namespace, present: Profile | None, data: Path, name: str
) -> tuple[Storage, dict[str, TomlValue | None]]:
    """Where the key is stored, and the fields of the profile for it; unchanged without options."""
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


def _left_behind(present: Profile | None, storage: Storage, data: Path) -> KeyLocation | None:
    before = _storage(present, data) if present else "elsewhere"
    if before in {storage, "elsewhere"}:
        return None
    return "keyring" if before == "keyring" else "saved file"


def _validated(name: str, given: Mapping[str, TomlValue | None], *, new: bool) -> Profile:
    if new and not _NAME.fullmatch(name):
        raise ProfileError(
            "a profile's name has letters, digits, dots, dashes and underscores, at most 64"
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
    put_aside_environment_token()
    try:
        plan = plan_login(arguments, paths)
    except ProfileError as error:
        raise exits.CommandError(str(error), exits.USAGE) from None
    profile = plan.profile
    if plan.before and plan.before.host != profile.host:
        narrate(f"profile {profile.name} led to {plan.before.host} so far, now to {profile.host}")
    try:
        token, key = _token_and_key(plan)
        tell(profile.host, key)
        keep(plan, paths, token)
    except (NoAnswerGivenError, TokenError, ProfileError) as error:
        raise exits.CommandError(str(error)) from None
    except GatewayError as error:
        raise exits.CommandError(f"{error.message}; nothing was stored") from None
    return exits.OK


def put_aside_environment_token() -> None:
    """Take GWTUI_TOKEN out, so that no child process inherits it, and say what it does."""
    if take_from_environment(os.environ) is not None:
        narrate("GWTUI_TOKEN is set in this shell and goes before any key that is kept")


def keep(plan: LoginPlan, paths: Paths, token: Secret) -> None:
    """Store the key, and write the profile.

    Raises TokenError or ProfileError.
    """
    profile = plan.profile
    _store(plan, paths, token)
    if plan.changes or plan.becomes_default:
        put_profile(
            paths.config / FILE_NAME, profile.name, plan.changes, default=plan.becomes_default
        )
    if plan.becomes_default:
        narrate(f"profile {profile.name} is the default now: run gwtui")
    else:
        narrate(f"profile {profile.name} is ready: run gwtui --profile {profile.name}")
    if plan.left_behind is not None:
        try:
            forget(profile.name, plan.left_behind, paths.data)
        except StillThereError as error:
            narrate(str(error))


def _token_and_key(plan: LoginPlan) -> tuple[Secret, CurrentKey]:
    """The key that is to be kept, and what it may do.

    Raises NoAnswerGivenError, TokenError or GatewayError.
    """
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


def keyring_trouble(name: str) -> str | None:
    """Why the keyring cannot keep the key of this profile; None when it can, as far as it says."""
    try:
        asyncio.run(read_secret(name))
    except KeyringUnavailableError as error:
        return str(error)
    return None


def _require_keyring(name: str) -> None:
    """Nobody is to type a key that cannot be kept. Raises TokenError."""
    error = keyring_trouble(name)
    if error is not None:
        raise TokenError(
            f"{error}; nothing was stored. Use --token-command or --token-file for a key that is "
            "kept elsewhere, --save-file to keep it in plain text in a file that only you can "
            "read, or GWTUI_TOKEN for one session"
        )


def tell(host: str, key: CurrentKey) -> None:
    """Say which key the gateway knows this as, and when it is of little use."""
    narrate(f"{host} knows this key: {key_summary(key)}")
    if key.is_management_key is False:
        narrate("it is not a management key: nothing can be changed with it, and little be seen")


def _store(plan: LoginPlan, paths: Paths, token: Secret) -> None:
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


_KEPT = "where the key is kept: it is typed unseen, or read from stdin; never an argument"
COMMAND = Command(
    run=run,
    arguments=(
        Argument(
            "--critical",
            action="store_true",
            group="profile",
            help="look different, and ask for the name to confirm",
        ),
        Argument(
            "--allow-plain-http",
            action="store_true",
            group="profile",
            help="send the key in clear over http",
        ),
        Argument(
            "--use-proxy",
            action="store_true",
            group="profile",
            help="obey the proxy variables of the environment",
        ),
        Argument(
            "--keyring",
            action="store_true",
            group=_KEPT,
            either="place",
            help="in the keyring (where a new profile keeps it)",
        ),
        Argument(
            "--save-file",
            action="store_true",
            group=_KEPT,
            either="place",
            help="in plain text, in a file that only you can read",
        ),
        Argument(
            "--token-file",
            type=Path,
            metavar="PATH",
            kind=FILES,
            group=_KEPT,
            either="place",
            help="in this file of yours, mode 0600",
        ),
        Argument(
            "--token-command",
            nargs=argparse.REMAINDER,
            metavar="PROGRAM",
            group=_KEPT,
            either="place",
            help="this program and its arguments print it; the last option",
        ),
    ),
)
