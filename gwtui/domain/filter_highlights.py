"""What of a row made a filter show it: the places in its cells that were asked for."""

from __future__ import annotations

from collections.abc import Iterable

from gwtui.domain.filter_terms import Term, field_named, occurrences
from gwtui.domain.filters import Query
from gwtui.domain.linear_regex import LinearRegex

Spans = tuple[tuple[int, int], ...]
"""Begin and end of each place in a text, in order; they do not touch each other."""


class Highlights:
    """The places that one query asks for; ``names`` are the columns there are."""

    def __init__(self, query: Query, names: Iterable[str]) -> None:
        known = dict.fromkeys(names, True)
        self._words: list[str] = []
        self._patterns: list[LinearRegex] = []
        self._terms: dict[str, list[Term]] = {}
        for part in query.root.wanted():
            self._words += part.words
            self._patterns += (one.pattern for one in part.patterns if not one.negated)
            for term in part.terms:
                self._add(term, is_column=field_named(known, term.name) is not None)

    def _add(self, term: Term, *, is_column: bool) -> None:
        if is_column:
            self._terms.setdefault(term.name.replace("-", "_"), []).append(term)
        elif not term.negated:
            self._words += term.words

    def found_in(self, column: str, text: str) -> Spans:
        """The places in the text that a column shows."""
        folded = text.casefold()
        if len(folded) != len(text):  # places in it are none in the text
            return ()
        spans: list[tuple[int, int]] = []
        for word in self._words:
            spans += occurrences(word, folded)
        for pattern in self._patterns:
            span = pattern.span_in(folded)
            spans += () if span is None else (span,)
        for term in self._terms.get(column.replace("-", "_"), ()):
            spans += term.spans(folded)
        return _joined(spans)


def _joined(spans: list[tuple[int, int]]) -> Spans:
    """Spans in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return tuple(joined)
