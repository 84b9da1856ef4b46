"""The rotations of keys in one list: the stage of each, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gwtui.contract.keys import ApiKey
from gwtui.contract.scalars import timestamp_text
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, Tone
from gwtui.domain.key_rotation import RotationStage
from gwtui.domain.times import age
from gwtui.watch.feeds.rotations import RotationRow, rotations_feed

_TONES: Mapping[RotationStage, Tone] = {
    "begun": "accent",
    "in doubt": "bad",
    "successor gone": "bad",
    "unbound": "bad",
    "undelivered": "warn",
    "unknown": "warn",
    "in use": "accent",
    "silent": "good",
    "disabled": "good",
}
_ORDER: tuple[RotationStage, ...] = (
    "begun",
    "in doubt",
    "successor gone",
    "unbound",
    "undelivered",
    "unknown",
    "silent",
    "disabled",
    "in use",
    "done",
    "not made",
    "forgotten",
)
"""The order of the stages: those that need an action first."""


def stage_cell(row: RotationRow) -> Cell:
    """The stage, in a word."""
    return Cell(row.status.stage, _TONES.get(row.status.stage, "muted"))


COLUMNS: tuple[Column[RotationRow], ...] = (
    text_column("name", "Old key", lambda row: row.rotation.old_name, 18, 0, help="key retired"),
    Column(
        "stage",
        "Stage",
        lambda row, _now: stage_cell(row),
        lambda row, _now: _ORDER.index(row.status.stage),
        14,
        1,
        help="what asks for somebody first: in doubt, unbound, undelivered, silent, in use, done",
        export=lambda row, _now: row.status.stage,
        kind="number",
    ),
    text_column("next", "Next", lambda row: row.status.next, 32, 2, help="what to do next"),
    text_column(
        "successor", "Successor", lambda row: row.rotation.new_name, 20, 3, help="key taking over"
    ),
    moment_column("due", "Due", lambda row: row.status.due, 10, 4, "when the next step is due"),
    moment_column("began", "Began", lambda row: row.rotation.began, 10, 5, "when it began"),
    text_column("said", "What", lambda row: row.status.said, 40, 6, help="how it stands"),
    text_column(
        "old_hash", "Old hash", lambda row: row.rotation.old_hash, 16, 7, help="hash of the old key"
    ),
    text_column(
        "new_hash",
        "New hash",
        lambda row: row.rotation.new_hash,
        16,
        8,
        help="hash of the successor",
    ),
    text_column("id", "Id", lambda row: row.rotation.id, 16, 9, help="plan that began it"),
)


def _stage(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("stage", stage_cell(row)),
        DetailRow("how", cells.prose(row.status.said)),
        DetailRow("next", cells.prose(row.status.next)),
        cells.moment_row("due", row.status.due, now, Cell("at once", "muted")),
        cells.hint(
            "{rotations.next} does the next step, {rotations.old} goes to the old key, "
            "{rotations.new} to the successor"
        ),
    ]


def _course(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    one = row.rotation
    not_yet = Cell("not yet", "muted")
    return [
        cells.moment_row("began", one.began, now),
        cells.moment_row("successor", one.made_at, now, not_yet),
        cells.moment_row("value stored", one.delivered_at, now, Cell("not known", "muted")),
        cells.moment_row("figures since", row.status.since or one.figures_at, now, not_yet),
        DetailRow("silent after", Cell(age(one.silent_for.total_seconds())), "of the same figures"),
        cells.moment_row("disabled", one.disabled_at, now, not_yet),
        DetailRow("kept disabled", Cell(age(one.kept_for.total_seconds())), "before it is deleted"),
    ]


def _key(key: ApiKey | None, name: str, identity: str | None, now: datetime) -> list[DetailRow]:
    rows = [DetailRow("name", cells.text(name)), DetailRow("hash", cells.text(identity))]
    if key is None:
        return [*rows, DetailRow("state", cells.NOTHING, "could not be read, or is gone")]
    state = Cell("disabled", "muted") if key.disabled else Cell("enabled", "good")
    return [
        *rows,
        DetailRow("state", cells.NOTHING if key.disabled is None else state),
        DetailRow("usage", cells.usd(key.usage), "all time"),
        DetailRow("BYOK usage", cells.usd(key.byok_usage), "all time"),
        cells.moment_row("last used", key.last_used_at, now),
    ]


def _old(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    return _key(row.old, row.rotation.old_name, row.rotation.old_hash, now)


def _new(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    one = row.rotation
    own = DetailRow("guardrail", cells.text(one.guardrail or "none of its own"))
    return [*_key(row.new, one.new_name, one.new_hash, now), own]


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp_text(moment)


def _raw(row: RotationRow) -> dict[str, Any]:
    one, status = row.rotation, row.status
    return {
        "id": one.id,
        "stage": status.stage,
        "said": status.said,
        "next": status.next,
        "step": status.step or None,
        "due": _moment(status.due),
        "old": {"hash": one.old_hash, "name": one.old_name},
        "successor": {"hash": one.new_hash, "name": one.new_name},
        "guardrail": one.guardrail,
        "began": _moment(one.began),
        "figures_since": _moment(status.since or one.figures_at),
        "disabled_since": _moment(one.disabled_at),
        "silent_for_seconds": int(one.silent_for.total_seconds()),
        "kept_for_seconds": int(one.kept_for.total_seconds()),
    }


ROTATIONS: ResourceSpec[RotationRow] = ResourceSpec(
    id="rotations",
    title="Rotations",
    singular="rotation",
    identity=lambda row: row.rotation.id,
    name=lambda row: cells.text(row.rotation.old_name or row.rotation.old_hash).text,
    columns=COLUMNS,
    sections=(
        Section("Stage", _stage),
        Section("Course", _course),
        Section("Old key", _old),
        Section("Successor", _new),
    ),
    feed=rotations_feed,
    raw=_raw,
    empty="No key is being rotated from this machine: N in the list of keys begins.",
    default_sort=("stage", False),
    facets={
        "stage": lambda row, _now: row.status.stage,
        "step": lambda row, _now: row.status.step,
    },
)
