"""The rotations of keys that were begun from this machine: JSON lines in a private file.

A line says what happened to one rotation: it began, its successor was made, its value was stored,
other figures of the old key were seen, the old key was seen disabled, it ended. No line holds a
secret. Torn and foreign lines are passed over; several processes may write.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import JsonValue

from gwtui.contract.keys import ApiKey
from gwtui.contract.scalars import timestamp_text
from gwtui.domain.key_rotation import ENDED, KeyFigures, KeyRotation, RotationStage
from gwtui.local.private_file import LineFile

FILE_NAME = "rotations.jsonl"
_NOTED_EVERY = timedelta(minutes=30)
"""Between two notes of changing figures. What changed meanwhile counts as changed at the next."""
_VERSION = 1

RotationEvent = Literal["began", "made", "delivered", "seen", "disabled", "enabled", "ended"]
_EVENTS = frozenset(get_args(RotationEvent))
_STAGES = frozenset(get_args(RotationStage))


class RotationLog:
    """The file of one person on this machine. Every method blocks and raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = LineFile(path)

    def begin(self, rotation: KeyRotation) -> None:
        """Record a rotation that is about to be sent, with the usage of the old key."""
        self._file.append(
            {
                "v": _VERSION,
                "id": rotation.id,
                "event": "began",
                "at": timestamp_text(rotation.began),
                "gateway": rotation.gateway,
                "old_hash": rotation.old_hash,
                "old_name": rotation.old_name,
                "new_name": rotation.new_name,
                "guardrail": rotation.guardrail,
                "unused_for": int(rotation.unused_for.total_seconds()),
                "kept_for": int(rotation.kept_for.total_seconds()),
            }
        )
        if rotation.figures is not None:
            self.record_figures(rotation.id, rotation.began, rotation.figures)

    def record_figures(self, identity: str, at: datetime, figures: KeyFigures) -> None:
        """Record changed figures of the old key."""
        usage, byok, last = figures.usage, figures.byok_usage, figures.last_used
        self.note(identity, "seen", at, usage=usage, byok_usage=byok, last_used=last)

    def note(self, identity: str, event: RotationEvent, at: datetime, **facts: JsonValue) -> None:
        """Remember what happened to one."""
        line: dict[str, JsonValue] = {"v": _VERSION, "id": identity, "event": event}
        self._file.append({**line, "at": timestamp_text(at), **facts})

    def delivered(self, identity: str, at: datetime) -> None:
        """Somebody stored the value of a new key: remember it where that is a successor."""
        if any(rotation.id == identity for rotation in self.rotations()):
            self.note(identity, "delivered", at)

    def rotations(self, gateway: str | None = None) -> tuple[KeyRotation, ...]:
        """The rotations of one gateway or of all, oldest first."""
        found = _folded(self._file.objects()).values()
        return tuple(one for one in found if gateway in (None, one.gateway))


def _folded(lines: Iterable[Mapping[str, Any]]) -> dict[str, KeyRotation]:
    """The rotations that the lines describe, by id."""
    found: dict[str, KeyRotation] = {}
    for line in lines:
        try:
            _take(found, line)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # torn, foreign, or of a later version
    return found


def _take(found: dict[str, KeyRotation], line: Mapping[str, Any]) -> None:
    identity, event, at = line["id"], line["event"], datetime.fromisoformat(line["at"])
    if line["v"] != _VERSION or event not in _EVENTS or at.tzinfo is None:
        return
    if event == "began":
        found.setdefault(_text(identity), _begun(line, at))
        return
    one = found[identity]
    match event:
        case "made":
            new_hash = _text(line["new_hash"])
            one = replace(one, new_hash=new_hash, made_at=one.made_at or at)
        case "delivered":
            one = replace(one, delivered_at=one.delivered_at or at)
        case "seen":
            usage, byok = _text(line["usage"]), _text(line["byok_usage"])
            figures = KeyFigures(usage, byok, _text(line["last_used"]))
            if figures != one.figures:
                one = replace(one, figures=figures, figures_at=at)
        case "disabled":
            one = replace(one, disabled_at=one.disabled_at or at)
        case "enabled":
            one = replace(one, disabled_at=None)
        case "ended" if line["stage"] in _STAGES & ENDED:
            one = replace(one, ended=line["stage"], ended_at=at)
    found[identity] = one


def _begun(line: Mapping[str, Any], at: datetime) -> KeyRotation:
    guardrail = line.get("guardrail")
    return KeyRotation(
        id=_text(line["id"]),
        gateway=_text(line["gateway"]),
        began=at,
        old_hash=_text(line["old_hash"]),
        old_name=_text(line["old_name"]),
        new_name=_text(line["new_name"]),
        unused_for=timedelta(seconds=line["unused_for"]),
        kept_for=timedelta(seconds=line["kept_for"]),
        guardrail=None if guardrail is None else _text(guardrail),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def record_old_key(
    log: RotationLog, rotation: KeyRotation, old: ApiKey, now: datetime
) -> KeyRotation:
    """The rotation with the figures and the state of its old key, as ``old`` was read at ``now``.

    What is new is written to the log. Blocks; a line that cannot be written is left out.
    """
    figures = KeyFigures.of(old)
    if figures is not None and figures != rotation.figures:
        last = rotation.figures_at
        if last is None or now - last >= _NOTED_EVERY:
            with contextlib.suppress(OSError):
                log.record_figures(rotation.id, now, figures)
        rotation = replace(rotation, figures=figures, figures_at=now)
    if old.disabled and rotation.disabled_at is None:
        with contextlib.suppress(OSError):
            log.note(rotation.id, "disabled", now)
        rotation = replace(rotation, disabled_at=now)
    elif old.disabled is False and rotation.disabled_at is not None:
        with contextlib.suppress(OSError):
            log.note(rotation.id, "enabled", now)
        rotation = replace(rotation, disabled_at=None)
    return rotation
