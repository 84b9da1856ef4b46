"""What is seen of keys that are being rotated, written down: whoever reads keys counts.

The silence of an old key is measured between runs by these notes, and by what was recorded
(``gwtui.watch.history.silence``).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gwtui.contract.keys import ApiKey
    from gwtui.domain.key_rotation import KeyRotation
    from gwtui.local.rotations import RotationLog
    from gwtui.watch.hub import FeedHub

_SEEN_EVERY = timedelta(minutes=5)
"""Between two notes of changing figures. What changed meanwhile counts as changed at the next."""


async def note_keys(hub: FeedHub, keys: Iterable[ApiKey]) -> None:
    """Note what a reading of keys says of those that are being rotated; never fails.

    Without a journal of its own or a recorded history, the hub is not of this machine's person.
    """
    state = state_directory(hub)
    if state is not None:
        now, gateway = hub.clock.now(), hub.connection.base_url
        by_hash = {key.hash: key for key in keys if key.hash}
        with contextlib.suppress(OSError):
            await asyncio.to_thread(_note_keys, state, gateway, by_hash, now)


def state_directory(hub: FeedHub) -> Path | None:
    """Where the rotations lie: beside the journal, or with the person who only reads."""
    if hub.journal is not None:
        return hub.journal.path.parent
    return None if hub.history_file is None else own_state()


def own_state() -> Path:
    """The state directory of this person."""
    from gwtui.local.paths import Paths  # noqa: PLC0415 - not needed where a journal is served

    return Paths.of_user().state


def _note_keys(state: Path, gateway: str, keys: dict[str, ApiKey], now: datetime) -> None:
    from gwtui.local.rotations import FILE_NAME, RotationLog  # noqa: PLC0415 - for who rotates

    log = RotationLog(state / FILE_NAME)
    if not log.path.exists():
        return
    for one in log.rotations(gateway):
        if one.ended is None and one.old_hash in keys:
            noted(log, one, keys[one.old_hash], now)


def noted(log: RotationLog, rotation: KeyRotation, old: ApiKey, now: datetime) -> KeyRotation:
    """The rotation with what was read of its old key, which is written down where it is new.

    Blocks. A note that cannot be written is done without.
    """
    from gwtui.domain.key_rotation import KeyFigures  # noqa: PLC0415 - as above

    figures = KeyFigures.of(old)
    if figures is not None and figures != rotation.figures:
        last = rotation.figures_at
        if last is None or now - last >= _SEEN_EVERY:
            with contextlib.suppress(OSError):
                log.seen(rotation.id, now, figures)
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
