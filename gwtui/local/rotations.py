"""The key rotations that were started on this machine: a private JSON file without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from gwtui.contract.keys import ApiKey
from gwtui.domain.keys import KeyFigures, KeyRotation
from gwtui.local.private_file import ensure_private, open_locked, replace_file

FILE_NAME = "rotations.json"
_STORED = TypeAdapter(dict[str, KeyRotation])


class RotationFile:
    """The stored rotations of one user. Every method blocks and may raise OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rotations(self, gateway: str | None = None) -> tuple[KeyRotation, ...]:
        """The rotations on one gateway or on all, oldest first."""
        stored = self._read().values()
        return tuple(rotation for rotation in stored if gateway in (None, rotation.gateway))

    def add(self, rotation: KeyRotation) -> None:
        """Store a new rotation."""
        with self._edit() as stored:
            stored[rotation.id] = rotation

    def update(self, identity: str, **changes: Any) -> None:
        """Change fields of a stored rotation; does nothing if there is none with that id."""
        with self._edit() as stored:
            if identity in stored:
                stored[identity] = replace(stored[identity], **changes)

    @contextmanager
    def _edit(self) -> Iterator[dict[str, KeyRotation]]:
        ensure_private(self.path.parent)
        with open_locked(self.path.with_name(f".{self.path.name}.lock")):
            stored = self._read()
            yield stored
            replace_file(self.path, _STORED.dump_json(stored))

    def _read(self) -> dict[str, KeyRotation]:
        try:
            return _STORED.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValidationError:
            raise OSError(None, "it is damaged") from None


def record_old_key(
    file: RotationFile, rotation: KeyRotation, old: ApiKey, now: datetime
) -> KeyRotation:
    """Store the usage, last request and state of ``old``, the old key of a rotation.

    Returns the rotation with these values. ``old`` was read at ``now``. Blocks. A failure to write
    is ignored.
    """
    changes: dict[str, Any] = {}
    figures = KeyFigures.of(old)
    if figures is not None and figures != rotation.figures:
        changes |= {"figures": figures, "figures_at": now}
    if old.disabled is not None and old.disabled == (rotation.disabled_at is None):
        changes["disabled_at"] = now if old.disabled else None
    if changes:
        with suppress(OSError):
            file.update(rotation.id, **changes)
    return replace(rotation, **changes)
