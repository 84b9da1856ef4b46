"""Writes exports to a path that a person typed, as private files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from gwtui.local.private_file import create, replace_file


class ExportError(Exception):
    """The file cannot be written; the message is the reason."""


def default_name(what: str, moment: datetime, ending: str) -> str:
    """The default file name of an export, such as gwtui-keys-20261121T093000Z.csv."""
    return f"gwtui-{what}-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}.{ending}"


def export_path(text: str, name: str) -> Path:
    """The absolute path for a typed path; in a directory, a file named ``name``.

    ``~`` is the home directory. Raises ExportError if no file can be written there.
    """
    if not text.strip() or "\0" in text:
        raise ExportError("a path is needed")
    try:
        path = Path(text.strip()).expanduser().absolute()
        if path.is_dir():
            path /= name
        if not path.parent.is_dir():
            raise ExportError(f"there is no directory {path.parent}")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ExportError(f"{path} is no plain file: nothing is written there")
    except RuntimeError:
        raise ExportError("nobody has that home directory") from None
    except OSError as error:
        raise ExportError(error.strerror or "this path cannot be used") from None
    return path


def write(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file of mode 0600 atomically.

    Raises FileExistsError if the file exists and ``replace`` is False, else ExportError.
    """
    data = text.encode("utf-8", errors="replace")
    try:
        if replace and path.is_file() and not path.is_symlink():
            replace_file(path, data)
        else:
            create(path, data)
    except FileExistsError:
        raise
    except OSError as error:
        raise ExportError(error.strerror or "it could not be written") from None
