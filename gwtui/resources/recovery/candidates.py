"""How the evidence on a write in doubt reads: the write, its candidates, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.resource import Cell, Column, DetailRow, Section, Tone
from gwtui.domain.times import age, utc
from gwtui.local.audit import AuditedChange, one_line
from gwtui.local.journal import OpenIntent
from gwtui.resources.recovery.evidence import Candidate, Compared, Evidence, Verdict
from gwtui.resources.recovery.resource import why

_LONG = 300
_TONES: Mapping[Verdict, Tone] = {
    "as wanted": "accent",
    "as before": "plain",
    "as before and wanted": "plain",
    "something else": "warn",
    "not as before": "accent",
    "not known": "muted",
}


def name_of(evidence: Evidence) -> str:
    """What the write was to do."""
    return cells.text(evidence.intent.title).text


def apart_text(apart: timedelta | None) -> str:
    """How long after the write was sent: "+12 s", "-4 min"; within a second there is no telling."""
    if apart is None:
        return cells.DASH
    seconds = apart.total_seconds()
    if abs(seconds) < 1:
        return "0 s"
    return f"{'+' if seconds > 0 else '-'}{age(abs(seconds))}"


def _agreement(one: Candidate) -> str:
    """How many of the fields are as wanted."""
    told = [line for line in one.compared if line.verdict != "not known"]
    return f"{one.as_wanted} of {len(told)}" if told else cells.DASH


COLUMNS: tuple[Column[Candidate], ...] = (
    text_column("name", "Made near that time", lambda one: one.name, 20, 0, help="what was made"),
    Column(
        "apart",
        "Apart",
        lambda one, _now: Cell(apart_text(one.apart)),
        lambda one, _now: None if one.apart is None else abs(one.apart.total_seconds()),
        10,
        1,
        right=True,
        help="how long after the write was sent, by the gateway's clock",
        kind="number",
    ),
    Column(
        "agreement",
        "As wanted",
        lambda one, _now: Cell(_agreement(one)),
        lambda one, _now: one.as_wanted,
        9,
        1,
        right=True,
        help="fields that are as wanted, of those that can be told",
        kind="number",
    ),
    text_column(
        "made_by",
        "Made by",
        lambda one: one.made_by or None,
        24,
        2,
        help="another write of this machine that is known to have made it",
    ),
    text_column("identity", "Id", lambda one: one.identity, 14, 3, help="its identity"),
)


def about(evidence: Evidence, now: datetime) -> Sequence[DetailRow]:
    """The write itself, and how far was looked."""
    intent = evidence.intent
    rows = [
        DetailRow("sent", Cell(utc(intent.at, seconds=True)), cells.ago(intent.at, now).text),
        DetailRow("in doubt", cells.prose(why(intent), _LONG)),
    ]
    if evidence.said:
        rows.append(DetailRow("found", cells.prose(" ".join(evidence.said), 2 * _LONG)))
    if not (evidence.compared or evidence.candidates):
        rows.append(DetailRow("wanted", cells.prose(_changes(intent), _LONG)))
    return rows


def _changes(intent: OpenIntent) -> str:
    changes = tuple(
        AuditedChange(str(one.get("field")), _text(one.get("before")), _text(one.get("after")))
        for one in intent.changes
    )
    return one_line(changes)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def compared_rows(lines: Sequence[Compared]) -> Sequence[DetailRow]:
    """Field by field: how it is, what that is, and what else it could be."""
    return [DetailRow(one.label, cells.text(one.present), _verdict(one)) for one in lines]


def _verdict(one: Compared) -> str:
    parts: list[str] = [one.verdict]
    if one.verdict not in {"as wanted", "as before and wanted"}:
        parts.append(f"wanted {one.wanted}")
    if one.before is not None and one.verdict not in {"as before", "as before and wanted"}:
        parts.append(f"before {one.before}")
    return f"({', '.join(parts)})"


def of_candidate(one: Candidate, now: datetime) -> Sequence[DetailRow]:
    """One candidate beside what was wanted."""
    rows = [cells.moment_row("made", one.made_at, now)]
    if one.made_by:
        rows.append(DetailRow("made by", cells.text(one.made_by), "another write of this machine"))
    return [*rows, *compared_rows(one.compared), DetailRow("id", cells.text(one.identity))]


ABOUT: tuple[Section[Evidence], ...] = (
    Section("What is known", about),
    Section("How it is now", lambda evidence, _now: compared_rows(evidence.compared)),
)
CANDIDATE: tuple[Section[Candidate], ...] = (Section("Beside what was wanted", of_candidate),)
