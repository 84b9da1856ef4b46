"""A sample text on which content filters are tried while they are typed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from gwtui.contract.content_filters import pattern_problem
from gwtui.crud.form import CustomRow
from gwtui.crud.resource import Tone
from gwtui.domain.guardrail_verdict import FilterMatches, FilterVerdict, MessagePiece, apply_filters
from gwtui.domain.patterns import SAMPLE_LIMIT, SAMPLE_TIME, Spans, find_all
from gwtui.domain.safe_text import safe_text
from gwtui.ui.forms.field_editors import Edited, LinesEditor
from gwtui.ui.text import toned
from gwtui.ui.widgets.containers import FoldingScroll
from gwtui.ui.widgets.lines import OneLine

_PAUSE = 0.15
"""Seconds without a key after which the filters are tried."""
_TONES: dict[str, Tone] = {"block": "bad", "redact": "warn", "flag": "accent"}
_PLACEHOLDER = "type or paste a message: it stays on this machine"


class PatternTester(Vertical):
    """Sample text above, what the filters would do with it below.

    The patterns run beside the screen with a time limit: none of them can hold it up.
    """

    class SampleChanged(Message):
        """Another sample; whoever opened the tester may want to keep it."""

        def __init__(self, sample: str) -> None:
            super().__init__()
            self.sample = sample

    def __init__(self, sample: str) -> None:
        super().__init__()
        self._sample = sample
        self._rows: tuple[CustomRow, ...] = ()
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Sample, result."""
        with Horizontal(classes="head"):
            yield Static(toned("Sample message", "accent", bold=True), classes="title")
            yield OneLine(id="sample-count")
        yield LinesEditor(self._sample, _PLACEHOLDER)
        yield Static(toned("What the filters would do", "accent", bold=True), classes="title")
        with FoldingScroll(id="outcome"):
            yield Static(Content(""))

    def on_mount(self) -> None:
        """Try what is there."""
        self._count()

    @property
    def outcome(self) -> str:
        """What is said, without styles."""
        content = self.query_one("#outcome Static", Static).content
        return content.plain if isinstance(content, Content) else str(content)

    def try_rows(self, rows: Sequence[CustomRow]) -> None:
        """These are the filters now."""
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self._soon()

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self._sample = str(event.typed)
        self._count()
        self.post_message(self.SampleChanged(self._sample))
        self._soon()

    def _count(self) -> None:
        length = len(self._sample)
        over = length > SAMPLE_LIMIT
        text = f"{length}/{SAMPLE_LIMIT}" + (": only the beginning is tried" if over else "")
        line = self.query_one("#sample-count", OneLine)
        line.show(toned(text if length else "", "warn" if over else "muted"))

    def _soon(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_PAUSE, self._try)

    @work(group="trial", exclusive=True)
    async def _try(self) -> None:
        sample = self._sample[:SAMPLE_LIMIT]
        sound = {
            place: row.pattern
            for place, row in enumerate(self._rows)
            if row.pattern and pattern_problem(row.pattern) is None
        }
        if not sample or not sound:
            self._say(toned("No filter to try yet." if sample else "No sample yet.", "muted"))
            return
        found = await try_patterns(list(sound.values()), sample)
        self._say(outcome(sample, self._rows, dict(zip(sound, found, strict=True))))

    def _say(self, content: Content) -> None:
        self.query_one("#outcome Static", Static).update(content)


async def try_patterns(patterns: Sequence[str], sample: str) -> list[Spans | None]:
    """Where each pattern matches the sample; None for what did not finish in time or compile."""
    found = []
    for pattern in patterns:
        spans = await asyncio.to_thread(find_all, pattern, [sample[:SAMPLE_LIMIT]], SAMPLE_TIME)
        found.append(None if spans is None else spans[0])
    return found


def outcome(sample: str, rows: Sequence[CustomRow], found: dict[int, Spans | None]) -> Content:
    """What the filters do with a sample, in words and colours; ``found`` by place of the filter."""
    matches = [
        FilterMatches(row.action, row.label, found.get(place) or ())
        for place, row in enumerate(rows)
    ]
    verdict = apply_filters(sample, matches)
    lines = [_headline(verdict), Content("").join(map(_marked, verdict.pieces))]
    if verdict.sent is not None and verdict.redacted_by:
        lines.append(Content.assemble(toned("sent on: ", "muted"), toned(_shown(verdict.sent))))
    for place, spans in found.items():
        if spans is None:
            lines.append(_note(place, f"took longer than {SAMPLE_TIME:g} s: too slow to use"))
        elif matches[place].matches_nothing:
            lines.append(_note(place, "also matches nothing at all: it acts on every message"))
    return Content("\n").join(lines)


def _note(place: int, text: str) -> Content:
    return toned(f"! filter {place + 1} {text}", "bad")


def _headline(verdict: FilterVerdict) -> Content:
    if verdict.blocked_by:
        return toned(
            f"BLOCKED by {_filters(verdict.blocked_by)}: the request is refused", "bad", bold=True
        )
    findings = []
    if verdict.redacted_by:
        findings.append(toned(f"REDACTED by {_filters(verdict.redacted_by)}", "warn", bold=True))
    if verdict.flagged_by:
        findings.append(toned(f"FLAGGED by {_filters(verdict.flagged_by)}", "accent", bold=True))
    if not findings:
        return toned("PASSES as it is: no filter matches", "good", bold=True)
    return Content(", ").join(findings)


def _filters(places: tuple[int, ...]) -> str:
    noun = "filter" if len(places) == 1 else "filters"
    return f"{noun} {', '.join(str(place + 1) for place in places)}"


def _marked(piece: MessagePiece) -> Content:
    """A part of the sample; what a filter found says which and what becomes of it."""
    if piece.filter is None:
        return toned(_shown(piece.text), "muted")
    text = f"«{piece.action} {piece.filter + 1}: {_shown(piece.text)}"
    if piece.action == "redact":
        text += f" → {_shown(piece.replacement)}"
    return toned(f"{text}»", _TONES[piece.action], bold=True)


def _shown(text: str) -> str:
    return safe_text(text, SAMPLE_LIMIT * 2, newlines=True)
