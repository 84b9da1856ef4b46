"""Finds the token of a profile in the environment, a command, a file or the keyring.

A configured command or file that fails is an error; no other source is tried then. An absent,
locked or silent keyring is only noted. No message contains the output of a source.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import SecretStr

from gwtui.local import keyring_store
from gwtui.local.keyring_store import KeyringUnavailableError, read_secret
from gwtui.local.private_file import (
    UnusableFileError,
    ensure_private,
    read_owned,
    replace_file,
)
from gwtui.local.programs import ProgramError, run_program

if TYPE_CHECKING:
    from gwtui.local.profiles import Profile

TOKEN_VARIABLE = "GWTUI_TOKEN"  # noqa: S105 - the variable's name
HISTORY_TOKEN_VARIABLE = "GWTUI_HISTORY_TOKEN"  # noqa: S105 - the variable's name
"""The variable with the token for the Prometheus server of the profile."""
TRY_KEY_VARIABLE = "GWTUI_TRY_KEY"
"""The variable with the key for requests to models."""


def take_token(environ: MutableMapping[str, str], variable: str = TOKEN_VARIABLE) -> str:
    """Remove a variable from the environment and return its value; empty if it is not set.

    The copy in /proc/PID/environ is overwritten as well, if possible. The environment of the parent
    process stays.
    """
    if environ is os.environ:
        _overwrite(variable)
    return environ.pop(variable, "").strip()


def _overwrite(name: str) -> None:
    if name not in os.environ:
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # noqa: PLC0415 - only where there is something to overwrite

        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        address = library.getenv(name.encode())
        if address:
            ctypes.memset(address, 0, len(os.environb[name.encode()]))


COMMAND_LIMIT = 10.0
"""The time limit of a token command, in seconds."""
MAX_BYTES = 64 * 1024
"""The maximum size of a token, in bytes."""
_OTHERS = 0o077


class TokenError(Exception):
    """A configured token source failed; the message never contains the token."""


@dataclass(frozen=True, slots=True)
class TokenSearch:
    """The result of a search for a token.

    ``token`` is None if no source has one. ``source`` is the name of the source, "none" without a
    token. ``notes`` say why a source has no token.
    """

    token: SecretStr | None
    source: str
    notes: tuple[str, ...] = ()


async def find_history_token(profile: Profile) -> SecretStr | None:
    """The token for the Prometheus server of the profile, None if it needs none.

    The sources are the same as for the gateway; in the keyring, its name is "PROFILE/history".
    Raises TokenError.
    """
    sources = replace(
        profile,
        name=f"{profile.name}/history" if profile.name and profile.uses_keyring else "",
        token_command=profile.history_token_command,
        token_file=profile.history_token_file,
    )
    return (await find_token(sources, variable=HISTORY_TOKEN_VARIABLE)).token


async def find_token(
    profile: Profile,
    environ: MutableMapping[str, str] | None = None,
    *,
    variable: str = TOKEN_VARIABLE,
    command_limit: float = COMMAND_LIMIT,
    keyring_limit: float = keyring_store.LIMIT,
) -> TokenSearch:
    """Find the token of a profile: in the environment, else from its command, file or keyring.

    Raises TokenError.
    """
    environ = os.environ if environ is None else environ
    token = take_from_environment(environ, variable)
    if token is not None:
        return TokenSearch(token, "environment")
    if profile.token_command is not None:
        return TokenSearch(
            await token_from_command(profile.token_command, environ, limit=command_limit),
            "token command",
        )
    if profile.token_file is not None:
        return TokenSearch(token_from_file(profile.token_file), "token file")
    if not profile.name:
        return TokenSearch(None, "none")
    token, note = await _from_keyring(profile.name, keyring_limit)
    return TokenSearch(token, "keyring" if token else "none", (note,) if note else ())


def take_from_environment(
    environ: MutableMapping[str, str], variable: str = TOKEN_VARIABLE
) -> SecretStr | None:
    """Remove a token from the environment and return it, None if there is none.

    Child processes then do not inherit it.
    """
    text = take_token(environ, variable)
    return SecretStr(text) if text else None


async def token_from_command(
    command: Sequence[str], environ: Mapping[str, str], *, limit: float = COMMAND_LIMIT
) -> SecretStr:
    """The token that a program prints. Raises TokenError."""
    try:
        output = await run_program(command, environ, limit=limit)
    except ProgramError as error:
        raise TokenError(f"token command {error}") from None
    return single_token(output, f"token command {command[0]}")


def token_from_file(path: Path) -> SecretStr:
    """The token in a file that only its owner can read. Raises TokenError."""
    path = path.expanduser()
    try:
        content = read_owned(path, MAX_BYTES, forbidden=_OTHERS)
    except UnusableFileError as error:
        raise TokenError(f"token file {path}: {error}") from None
    except OSError as error:
        raise TokenError(f"token file {path}: {error.strerror or 'cannot be read'}") from None
    return single_token(content, f"token file {path}")


async def _from_keyring(profile_name: str, limit: float) -> tuple[SecretStr | None, str]:
    try:
        secret = await read_secret(profile_name, limit=limit)
    except KeyringUnavailableError as error:
        return None, str(error)
    text = secret.get_secret_value().strip() if secret else ""
    if not text:
        return None, f"the keyring has no management key for profile {profile_name}"
    return SecretStr(text), ""


def single_token(content: bytes, source: str) -> SecretStr:
    """The only word in the output of ``source``. Raises TokenError, without that output."""
    if len(content) > MAX_BYTES:
        raise TokenError(f"{source}: gave far more than a key")
    words = content.split()
    if not words:
        raise TokenError(f"{source}: gave nothing")
    if len(words) > 1 or not words[0].isascii():
        raise TokenError(f"{source}: gave more than the key alone")
    return SecretStr(words[0].decode("ascii"))


_DIRECTORY = "tokens"
_SUFFIX = ".token"


def saved_token_path(data: Path, profile_name: str) -> Path:
    """The path of the token file of a profile, which may not exist."""
    return data / _DIRECTORY / (quote(profile_name, safe="") + _SUFFIX)


def save_token(data: Path, profile_name: str, token: SecretStr) -> Path:
    """Save a token to a private file, and return its path. Raises TokenError."""
    path = saved_token_path(data, profile_name)
    try:
        ensure_private(path.parent)
        replace_file(path, token.get_secret_value().encode() + b"\n")
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or 'cannot be written'}") from None
    return path


def remove_saved_token(data: Path, profile_name: str) -> bool:
    """Remove the token file; returns False if there was none. Raises TokenError."""
    path = saved_token_path(data, profile_name)
    # A process that was killed while writing may have left a temporary file.
    try:
        files = [
            file
            for file in path.parent.iterdir()
            if file.name == path.name or file.name.startswith(f".{path.name}.")
        ]
        for file in files:
            file.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or 'cannot be removed'}") from None
    return bool(files)
