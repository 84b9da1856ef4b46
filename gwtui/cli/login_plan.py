"""What ``gwtui login`` will do: which profile, where its key is kept, what changes in the file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from gwtui.cli.asking import NoAnswerGivenError, read_line
from gwtui.cli.forgetting import Place
from gwtui.contract.request import problems
from gwtui.local.profiles import Profile, ProfileBook, ProfileError, ad_hoc_profile
from gwtui.local.saved_tokens import saved_token_path
from gwtui.local.toml_editor import Value

Storage = Literal["keyring", "saved file", "elsewhere"]
"""Where the key is put: "elsewhere" is a command or a file of the person's own, only read."""

_FLAGS = ("read_only", "critical", "allow_plain_http", "use_proxy")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class LoginPlan:
    """The profile as it will be; nothing has happened yet."""

    profile: Profile
    storage: Storage
    changes: Mapping[str, Value | None]
    """Fields to write; None removes one."""
    becomes_default: bool
    left_behind: Place | None
    """Where an earlier key would lie on without being looked for."""
    before: Profile | None
    """The profile as it is in the file, None for a new one."""
    discard_new_keys: bool


def plan_login(
    arguments: argparse.Namespace, book: ProfileBook, environ: Mapping[str, str], data: Path
) -> LoginPlan:
    """What was asked for; the address is asked for when nothing tells it. Raises ProfileError."""
    address = arguments.base_url or (
        None if arguments.profile else environ.get("GWTUI_BASE_URL") or None
    )
    name = arguments.profile or environ.get("GWTUI_PROFILE") or (None if address else book.default)
    if address is None and (name is None or name not in book.profiles):
        address = _asked_address()
    if name is None:
        name = _name_for(str(address), book)
    present = book.profiles.get(name)
    wanted: dict[str, Any] = {"base_url": address} if address else {}
    wanted |= {flag: True for flag in _FLAGS if getattr(arguments, flag)}
    if arguments.dialect:
        wanted["dialect"] = arguments.dialect
    storage, source = _place(arguments, present, data, name)
    before = present.model_dump(exclude_defaults=True) if present else {}
    profile = _validated(Profile, {**before, **wanted, **source, "name": name}, new=present is None)
    return LoginPlan(
        profile,
        storage,
        _changes(profile, present, [*wanted, *source]),
        becomes_default=book.default is None,
        left_behind=_left_behind(present, storage, data),
        before=present,
        discard_new_keys=arguments.discard_new_keys,
    )


def _asked_address() -> str:
    try:
        return read_line("Address of the gateway, such as https://gateway.example/api/v1: ")
    except NoAnswerGivenError:
        raise ProfileError("no gateway is given: use --base-url URL") from None


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


def _place(
    arguments: argparse.Namespace, present: Profile | None, data: Path, name: str
) -> tuple[Storage, dict[str, Any]]:
    """Where the key goes, and what the profile says about that; nothing said means as before."""
    saved = saved_token_path(data, name)
    if arguments.token_command is not None:
        if not arguments.token_command:
            raise ProfileError("--token-command needs a program")
        return "elsewhere", {"token_command": tuple(arguments.token_command), "token_file": None}
    if arguments.token_file is not None:
        path = arguments.token_file.expanduser().absolute()
        return "elsewhere", {"token_command": None, "token_file": path}
    if arguments.save_file:
        return "saved file", {"token_command": None, "token_file": saved}
    if arguments.keyring or present is None:
        return "keyring", {"token_command": None, "token_file": None}
    return _storage(present, data), {}


def _storage(profile: Profile, data: Path) -> Storage:
    if profile.uses_keyring:
        return "keyring"
    is_ours = profile.token_file == saved_token_path(data, profile.name)
    return "saved file" if is_ours else "elsewhere"


def _left_behind(present: Profile | None, storage: Storage, data: Path) -> Place | None:
    before = _storage(present, data) if present else "elsewhere"
    if before in {storage, "elsewhere"}:
        return None
    return "keyring" if before == "keyring" else "saved file"


def _validated(model: type[Profile], fields: dict[str, Any], *, new: bool) -> Profile:
    if new and not _NAME.fullmatch(fields["name"]):
        raise ProfileError(
            "a profile's name has letters, digits, dots, dashes and underscores, at most 64"
        )
    try:
        profile = model.model_validate(fields)
    except ValidationError as error:
        raise ProfileError(problems(error)[0].message.removeprefix("Value error, ")) from None
    profile.connection(None, "")  # raises for plain http to another machine
    return profile


def _changes(
    profile: Profile, present: Profile | None, names: list[str]
) -> dict[str, Value | None]:
    """What differs from the file, in the form it is written in."""
    changes: dict[str, Value | None] = {}
    for name in names:
        value = getattr(profile, name)
        if present is not None and value == getattr(present, name):
            continue
        if present is None and value is None:
            continue
        changes[name] = (
            list(value)
            if isinstance(value, tuple)
            else str(value)
            if isinstance(value, Path)
            else value
        )
    return changes
