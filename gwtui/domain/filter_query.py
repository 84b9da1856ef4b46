"""What a parsed filter asks of a row: whether the row matches, and where its cells match.

``gwtui.domain.filters`` has the language and parses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gwtui.domain.cell_values import ValueKind
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.filter_terms import Fields, Term, field_named, occurrences
from gwtui.domain.patterns import TOO_SLOW, Pattern
from gwtui.domain.safe_text import safe_line

_SHOWN = 40

Spans = tuple[tuple[int, int], ...]
"""Begin and end of each match in a text, in order, none touching the next."""


@dataclass(frozen=True, slots=True)
class AnyCell:
    """A pattern that is searched in every cell."""

    pattern: Pattern
    negated: bool

    def holds(self, haystack: str) -> bool:
        """Whether the row is meant."""
        found = any(self.pattern.found_in(cell) for cell in haystack.split("\n"))
        return found != self.negated


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives of which one must hold."""

    alternatives: tuple[All, ...]
    negated: bool

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row is meant."""
        for one in self.alternatives:
            if one.holds(fields, haystack, now):
                return not self.negated
        return self.negated


@dataclass(frozen=True, slots=True)
class All:
    """Conditions that must hold together."""

    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    patterns: tuple[AnyCell, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether every row is meant."""
        return not (self.words or self.excluded or self.terms or self.patterns or self.groups)

    def holds(self, fields: Fields, haystack: str, now: datetime) -> bool:
        """Whether the row is meant."""
        for word in self.words:
            if word not in haystack:
                return False
        for word in self.excluded:
            if word in haystack:
                return False
        for term in self.terms:
            if not term.holds(fields, haystack, now):
                return False
        if not (self.patterns or self.groups):
            return True
        return all(pattern.holds(haystack) for pattern in self.patterns) and all(
            group.holds(fields, haystack, now) for group in self.groups
        )

    def inner(self) -> Iterator[All]:
        """Itself and, recursively, every alternative of its groups."""
        yield self
        for group in self.groups:
            for one in group.alternatives:
                yield from one.inner()

    def not_negated(self) -> Iterator[All]:
        """As ``inner``, without the alternatives of negated groups."""
        yield self
        for group in self.groups:
            for one in group.alternatives if not group.negated else ():
                yield from one.not_negated()

    def named(self, headings: Mapping[str, str]) -> All:
        """The same, with the names of columns instead of their headings."""
        terms = tuple(
            replace(term, name=field_named(headings, term.name) or term.name) for term in self.terms
        )
        groups = tuple(
            replace(group, alternatives=tuple(one.named(headings) for one in group.alternatives))
            for group in self.groups
        )
        return replace(self, terms=terms, groups=groups)

    def fit(self, kinds: Mapping[str, ValueKind], refused: list[tuple[str, bool]]) -> All:
        """A copy without what can never hold; that goes to ``refused``, a group as a whole."""
        terms: list[Term] = []
        for term in self.terms:
            kind = field_named(kinds, term.name)
            if refusal := "" if kind is None else term.refusal(kind):
                refused.append((refusal, term.ends_text))
            else:
                terms.append(term)
        groups: list[Group] = []
        for group in self.groups:
            before = len(refused)
            for one in group.alternatives:
                one.fit(kinds, refused)
            if len(refused) == before:
                groups.append(group)
        return replace(self, terms=tuple(terms), groups=tuple(groups))


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed filter. ``error`` says what is not finished or not understood, "" when all is."""

    text: str
    error: str = ""
    unfinished: bool = False
    """Whether the error is about the end of the text, which may still be being typed."""
    open: bool = False
    """Whether it is about a group that only lacks its end: the rows can be narrowed by it."""
    note: str = ""
    """What is understood, but perhaps not as it was meant."""
    root: All = field(default_factory=All)

    @property
    def words(self) -> tuple[str, ...]:
        """What must be somewhere in the row, casefolded, outside of groups."""
        return self.root.words

    @property
    def excluded(self) -> tuple[str, ...]:
        """What must not be in the row, casefolded, outside of groups."""
        return self.root.excluded

    @property
    def terms(self) -> tuple[Term, ...]:
        """The conditions on columns, outside of groups."""
        return self.root.terms

    @property
    def empty(self) -> bool:
        """Whether every row matches."""
        return self.root.empty

    def matches(self, fields: Fields, haystack: str, now: datetime | None = None) -> bool:
        """Whether a row is shown. ``haystack`` is the row's whole text, casefolded.

        ``now`` is what ages are measured from, the system's clock when not given. Never raises.
        """
        return self.root.holds(fields, haystack, now or SYSTEM_CLOCK.now())

    @property
    def slow(self) -> str:
        """A message naming a pattern that ran out of time; empty while none has."""
        for one in self.root.inner():
            terms = (term.pattern for term in one.terms if term.pattern is not None)
            for pattern in (*terms, *(cell.pattern for cell in one.patterns)):
                if pattern.slow:
                    return f"{safe_line(pattern.pattern, _SHOWN)}: {TOO_SLOW}"
        return ""

    def reads_text(self, names: Iterable[str]) -> bool:
        """Whether the text of a row decides, where these are its columns."""
        searched = any(one.words or one.excluded or one.patterns for one in self.root.inner())
        return searched or bool(self.unknown_columns(names))

    def names_any(self, names: Iterable[str]) -> bool:
        """Whether there is a condition on one of these columns."""
        known = dict.fromkeys(names, True)
        terms = (term for one in self.root.inner() for term in one.terms)
        return any(field_named(known, term.name) for term in terms)

    def unknown_columns(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the query that are no column: they are searched as plain text."""
        known = dict.fromkeys(names, True)
        terms = (term for one in self.root.inner() for term in one.terms)
        return tuple(term.name for term in terms if field_named(known, term.name) is None)

    def checked(
        self, kinds: Mapping[str, ValueKind], headings: Mapping[str, str] | None = None
    ) -> Query:
        """The query for these columns: with an ``error`` where a condition can never hold.

        ``kinds`` tells what the values of each column are, ``headings`` the column of each heading.
        What is refused is left out of it; an error that is there already stays, unless it may be
        about what is still being typed.
        """
        root = self.root.named(headings) if headings else self.root
        refused: list[tuple[str, bool]] = []
        fit = root.fit(kinds, refused)
        if not refused:
            return self if root is self.root else replace(self, root=root)
        wrong = bool(self.error) and not self.unfinished
        error, unfinished = (self.error, False) if wrong else refused[0]
        return replace(self, error=error, unfinished=unfinished, open=False, root=fit)


class Highlights:
    """Which parts of a shown cell match a query; ``names`` are the columns of the list."""

    def __init__(self, query: Query, names: Iterable[str]) -> None:
        known = dict.fromkeys(names, True)
        self._words: list[str] = []
        self._patterns: list[Pattern] = []
        self._terms: dict[str, list[Term]] = {}
        for part in query.root.not_negated():
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
        """The spans of ``text``, as a column shows it, that match the query."""
        folded = text.casefold()
        if len(folded) != len(text):  # its offsets would not be those of the text
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
