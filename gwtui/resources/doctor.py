"""The checks of ``gwtui doctor`` as a list: terminal, clipboard, keyring, clock, TLS, rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from gwtui.crud import cells
from gwtui.crud.cells import text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, Tone
from gwtui.local.doctor import VERDICTS, DoctorLine, DoctorVerdict
from gwtui.watch.feeds.doctor import doctor_feed

_TONES: Mapping[DoctorVerdict, Tone] = {
    "error": "bad",
    "unknown": "muted",
    "advice": "warn",
    "ok": "good",
}


def _verdict(line: DoctorLine) -> Cell:
    return Cell(line.verdict, _TONES[line.verdict])


COLUMNS: tuple[Column[DoctorLine], ...] = (
    text_column("name", "Check", lambda line: line.title, 18, help="what was checked", grow=True),
    Column(
        "verdict",
        "Verdict",
        lambda line, _now: _verdict(line),
        lambda line, _now: VERDICTS.index(line.verdict),
        8,
        help="error, unknown, advice or ok; sorted with the worst first",
        export=lambda line, _now: line.verdict,
        kind="number",
    ),
    text_column("found", "Found", lambda line: line.found, 34, help="what was found"),
    text_column(
        "advice",
        "To do",
        lambda line: line.advice or None,
        30,
        help="what to do about it",
        missing=lambda _line: Cell("nothing", "muted"),
    ),
    text_column("id", "Id", lambda line: line.id, 18, help="its id"),
)


DOCTOR: ResourceSpec[DoctorLine] = ResourceSpec(
    id="doctor",
    title="Doctor",
    singular="check",
    plural="checks",
    identity=lambda line: line.id,
    name=lambda line: cells.text(line.title).text,
    columns=COLUMNS,
    sections=(
        Section(
            "Result",
            lambda line, _now: [
                DetailRow("verdict", _verdict(line)),
                DetailRow("found", cells.prose(line.found)),
                DetailRow(
                    "to do", cells.prose(line.advice) if line.advice else Cell("nothing", "muted")
                ),
            ],
        ),
    ),
    feed=doctor_feed,
    raw=asdict,
    empty="Nothing was checked.",
    default_sort=("verdict", False),
    facets={"verdict": lambda line, _now: line.verdict},
)
