"""Tests custom content filters on a sample message."""

from __future__ import annotations

from collections.abc import Sequence

from gwtui.contract.content_filters import pattern_problem
from gwtui.crud.form import CustomRow
from gwtui.crud.resource import Cell
from gwtui.domain.guardrail_verdict import FilterMatches, FilterVerdict, MessagePiece, apply_filters
from gwtui.domain.patterns import SAMPLE_LIMIT, SAMPLE_TIME, find_all
from gwtui.domain.safe_text import safe_text

_CONTEXT = 40
"""Characters shown of a part that no filter matches."""
_SHOWN = 1_000


class PatternTester:
    """Tests filters on a sample. A pattern that timed out once is not tried again."""

    def __init__(self) -> None:
        self.sample = ""
        """The sample that was tested last."""
        self._slow: set[str] = set()

    def outcome(self, sample: str, rows: Sequence[CustomRow]) -> Cell | None:
        """The result for the sample, with notes on slow or empty matches; None without a sample."""
        self.sample = sample
        if not sample:
            return None
        matches, notes = [], []
        for number, row in enumerate(rows, 1):
            matches.append(self._matches(row, sample[:SAMPLE_LIMIT]))
            if row.pattern in self._slow:
                notes.append(f"! filter {number} took longer than {SAMPLE_TIME:g} s: too slow")
            elif matches[-1].matches_nothing:
                notes.append(f"! filter {number} matches the empty text, and so every message")
        if len(sample) > SAMPLE_LIMIT:
            notes.append(f"! only the first {SAMPLE_LIMIT:,} characters are tried")
        verdict = apply_filters(sample[:SAMPLE_LIMIT], matches)
        headline = _headline(verdict)
        marked = "".join(map(_marked, verdict.pieces))
        lines = [headline.text, safe_text(marked, _SHOWN, newlines=True), *notes]
        return Cell("\n".join(lines), headline.tone)

    def _matches(self, row: CustomRow, sample: str) -> FilterMatches:
        spans = None
        if row.pattern and row.pattern not in self._slow and pattern_problem(row.pattern) is None:
            spans = find_all(row.pattern, [sample], SAMPLE_TIME)
            if spans is None:
                self._slow.add(row.pattern)
        return FilterMatches(row.action, row.label, () if spans is None else spans[0])


def _headline(verdict: FilterVerdict) -> Cell:
    if verdict.blocked_by:
        return Cell(f"BLOCKED by {_filters(verdict.blocked_by)}: the request is refused", "bad")
    words = []
    if verdict.redacted_by:
        words.append(f"REDACTED by {_filters(verdict.redacted_by)}")
    if verdict.flagged_by:
        words.append(f"FLAGGED by {_filters(verdict.flagged_by)}")
    if not words:
        return Cell("PASSES unchanged: no filter matches", "good")
    return Cell(", ".join(words), "warn")


def _filters(places: tuple[int, ...]) -> str:
    noun = "filter" if len(places) == 1 else "filters"
    return f"{noun} {', '.join(str(place + 1) for place in places)}"


def _marked(piece: MessagePiece) -> str:
    """A part of the sample, in which a match shows its filter and its replacement."""
    if piece.filter is None:
        long = len(piece.text) > _CONTEXT
        half = _CONTEXT // 2
        return f"{piece.text[:half]} … {piece.text[-half:]}" if long else piece.text
    becomes = f" → {piece.replacement}" if piece.action == "redact" else ""
    return f"«{piece.action} {piece.filter + 1}: {piece.text}{becomes}»"
