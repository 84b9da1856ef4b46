"""Tokens in files of this program: only where a person asked for it, mode 0600, one per profile."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from pydantic import SecretStr

from gwtui.local import private_file
from gwtui.local.durable import replace_file
from gwtui.local.paths import PrivateDirectoryError, ensure_private
from gwtui.local.tokens import TokenError

_DIRECTORY = "tokens"
_SUFFIX = ".token"


def saved_token_path(data: Path, profile_name: str) -> Path:
    """Where the token of a profile goes below the data directory, whether it is there or not."""
    return data / _DIRECTORY / (quote(profile_name, safe="") + _SUFFIX)


def save_token(data: Path, profile_name: str, token: SecretStr) -> Path:
    """Write the token in the place of any earlier one; gives the file. Raises TokenError."""
    path = saved_token_path(data, profile_name)
    try:
        ensure_private(path.parent)
        replace_file(path, token.get_secret_value().encode() + b"\n")
    except PrivateDirectoryError as error:
        raise TokenError(str(error)) from None
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or 'cannot be written'}") from None
    return path


def remove_saved_token(data: Path, profile_name: str) -> bool:
    """Destroy the file; False when there was none. Raises TokenError when it is still there."""
    path = saved_token_path(data, profile_name)
    # A process that was killed while it wrote may have left a part under another name.
    try:
        found = [
            one
            for one in path.parent.iterdir()
            if one.name == path.name or one.name.startswith(f".{path.name}.")
        ]
        for one in found:
            private_file.destroy(one)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise TokenError(f"{path}: {error.strerror or 'cannot be removed'}") from None
    return bool(found)
