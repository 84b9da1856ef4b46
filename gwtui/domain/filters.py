"""The filter language of the filter bar and of ``--filter``.

A row is shown when every part of the query holds:

    word            somewhere in the row, in any case
    "two words"     the same, with a space
    -part           the row does not match the part
    column:text     the column holds the text; a number or yes/no is compared by its value
    column=text     the column is exactly that; != is the opposite
    column>5        also >=, <, <=; $ and % may be written, k, M, B and T multiply
    column >= 80%   spaces may stand around a comparison with a number, a day or none
    created<7d      a moment that is less than 7 days away from now, before or after
    created>=2026-11-01   a moment, UTC; yesterday, today and tomorrow are days
    limit:none      the value is unknown or not set (also null)
    column~^prod    the column matches a pattern; ~pattern is searched in every cell
    (a b or c)      one of the alternatives holds; groups may be nested

A column is named by its name or its heading, with a dash for what is no letter or digit (p50-ms).
A name that is no column is searched as it was typed. Percentages count in points: used>80.
Parentheses group only with an ``or`` between them, and ``or`` is a word everywhere else. What a
column cannot be compared with is an error (``Query.checked``), not a list without rows. Patterns
are regular expressions with a limit of time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from gwtui.domain.filter_query import All, AnyCell, Group, Query
from gwtui.domain.filter_terms import NO, NOTHING, PATTERN, YES, Term, make_term
from gwtui.domain.patterns import Pattern, PatternError
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import DAYS

_NAME = r"[^\W\d][\w.-]*"
_WORDS = "|".join((*NOTHING, *YES, *NO, *DAYS))
_SPACED = rf'(?:[-+]?\$?\.?\d|(?:{_WORDS})(?=[\s)]|$)|")'
"""How a value begins that may stand behind a space."""
_TOKEN = re.compile(
    rf"(?P<no>-(?=\S))?"
    rf"(?:(?P<name>{_NAME})(?P<op>>=|<=|!=|[:=<>~])(?P<gap>\s+(?={_SPACED}))?)?"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))',
    re.IGNORECASE,
)
_APART = re.compile(
    rf"(?P<no>(?!))?(?P<name>{_NAME})(?P<gap>\s+)(?P<op>>=|<=|!=|[=<>])\s*(?={_SPACED})"
    r'(?:"(?P<quoted>[^"]*)"?|(?P<bare>\S*))',
    re.IGNORECASE,
)
"""A comparison with a space before its operator."""
_SPACE = re.compile(r"\s*")
_SHOWN = 40
_OR = "or"
DEEPEST = 10
"""Parentheses within parentheses that may be groups."""
_MISSING = "an alternative is missing behind or"
_UNCLOSED = "a group has no end: )"
_LEAD = re.compile(r'(?P<no>-?)(?:(?P<name>[^\W\d][\w.-]*)(?:>=|<=|!=|[:=<>~])\s*)?(?P<quote>"?)')
_OR_WORD = re.compile(r"or(?=\s|$)", re.IGNORECASE)
_NOWHERE = 2**31 - 1


def parse(text: str) -> Query:
    """Read a filter. Never raises: what is wrong is in ``error``, the rest of it works."""
    reader = _Reader(text, _group_offsets(text))
    root = reader.all_until_end()
    return Query(text, reader.error, reader.unfinished, reader.open, reader.note, root)


class _Parts:
    """The conditions that were read so far, of one alternative."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.excluded: list[str] = []
        self.terms: list[Term] = []
        self.patterns: list[AnyCell] = []
        self.groups: list[Group] = []

    def made(self) -> All:
        """What must hold together."""
        return All(
            tuple(self.words),
            tuple(self.excluded),
            tuple(self.terms),
            tuple(self.patterns),
            tuple(self.groups),
        )


class _Reader:
    """Reads parts from left to right; where groups begin and end is known already."""

    def __init__(self, text: str, groups: _GroupOffsets) -> None:
        self._text = text
        self._groups = groups
        self._at = 0
        self.error = groups.error
        self.unfinished = self.open = groups.unfinished
        self.note = groups.note

    def all_until_end(self) -> All:
        """Read everything that is left."""
        parts = _Parts()
        while (part := self._next()) < len(self._text):
            self._read_part(parts, part)
        return parts.made()

    def _next(self) -> int:
        match = _SPACE.match(self._text, self._at)
        self._at = self._at if match is None else match.end()
        return self._at

    def _read_part(self, parts: _Parts, at: int) -> None:
        minus = self._text.startswith("-", at)
        if at + minus in self._groups.begins:
            self._at = at + minus + 1
            parts.groups.append(Group(self._alternatives(), minus))
        else:
            self._read_condition(parts, at)

    def _alternatives(self) -> tuple[All, ...]:
        """Read the alternatives of a group, up to behind its end."""
        found: list[All] = []
        parts = _Parts()
        while (at := self._next()) < len(self._text) and at not in self._groups.ends:
            if at in self._groups.ors:
                found.append(parts.made())
                parts = _Parts()
                self._at = at + len(_OR)
            else:
                self._read_part(parts, at)
        self._at = min(self._at + 1, len(self._text))
        found.append(parts.made())
        # While one is still being typed, the others are meant.
        return tuple(one for one in found if not one.empty) or (All(),)

    def _read_condition(self, parts: _Parts, at: int) -> None:
        end = self._groups.end_after(at)
        match = _APART.match(self._text, at, end) or _TOKEN.match(self._text, at, end)
        if match is None or match.end() == at:
            self._at = at + 1
            return
        self._at = match.end()
        typed = match["bare"] if match["quoted"] is None else match["quoted"]
        if match["name"]:
            self._read_term(parts, match, typed)
        elif match["quoted"] is None and typed.startswith(PATTERN) and typed != PATTERN:
            self._read_pattern(parts, match, typed[1:])
        elif typed and typed != "-":
            (parts.excluded if match["no"] else parts.words).append(typed.casefold())

    def _read_term(self, parts: _Parts, match: re.Match[str], typed: str) -> None:
        at_end = match.end() == len(self._text)
        if not typed and match["quoted"] is None:
            self._say(f"{match['name']}{match['op']} needs a value", at_end)
            return
        closed = match["quoted"] is not None and match[0].count('"') == len('""')
        name, op, ends_text = match["name"], match["op"], at_end and not closed
        words = tuple(match[0].removeprefix("-").split()) if match["gap"] else (name + op + typed,)
        term = make_term(name, op, typed, words, negated=bool(match["no"]), ends_text=ends_text)
        if term.fault:
            self._say(f"{term.shown}: {term.fault}", ends_text)
        else:
            parts.terms.append(term)

    def _read_pattern(self, parts: _Parts, match: re.Match[str], typed: str) -> None:
        try:
            parts.patterns.append(AnyCell(Pattern(typed), bool(match["no"])))
        except PatternError as error:
            at_end = match.end() == len(self._text)
            self._say(f"{safe_line(match[0], _SHOWN)}: {error}", at_end)

    def _say(self, error: str, unfinished: bool) -> None:
        """Keep the first error; the one about a missing end of a group gives way to any other."""
        if not self.error or self.open:
            self.error, self.unfinished, self.open = error, unfinished, False


@dataclass(frozen=True, slots=True)
class _GroupOffsets:
    """Offsets of the parentheses of groups, and of each ``or`` between their alternatives.

    ``error`` says what is wrong with them, ``note`` what may not be meant so.
    """

    begins: frozenset[int]
    ends: frozenset[int]
    ors: frozenset[int]
    error: str
    unfinished: bool
    note: str
    _sorted_ends: tuple[int, ...]

    def end_after(self, at: int) -> int:
        """Where the text of a part that begins there must end: at the next group's end."""
        place = bisect_left(self._sorted_ends, at)
        return self._sorted_ends[place] if place < len(self._sorted_ends) else _NOWHERE


@dataclass(slots=True)
class _OpenGroup:
    """A parenthesis that may begin a group; ``ors`` are those directly in it."""

    begin: int
    ors: list[int] = field(default_factory=list)
    filled: bool = False
    """Whether the present alternative has a part."""


class _GroupScanner:
    """Finds the groups of a filter: parentheses with an ``or`` directly between them.

    Every other parenthesis is text, as in the name ``Llama (free)``, and so is every other ``or``.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[_OpenGroup] = []
        self.groups: list[_OpenGroup] = []
        self.ends: list[int] = []
        self.error = self.note = ""
        self._too_deep = False
        self._filled = False
        """Whether a part stands before, outside of every parenthesis."""

    def run(self) -> None:
        """Look at every part once."""
        at = 0
        while (at := _past_space(self.text, at)) < len(self.text):
            at = self._part(at)
        self.groups += (one for one in self.stack if one.ors)
        if self._too_deep and self.groups:
            self.error = f"at most {DEEPEST} parentheses within each other"

    @property
    def unclosed(self) -> bool:
        """Whether a group lacks its end."""
        return any(one.ors for one in self.stack)

    def _part(self, at: int) -> int:
        """Where the next part can begin."""
        text = self.text
        lead = _LEAD.match(text, at)
        begin = at + text.startswith("-", at)
        if text.startswith("(", begin):
            if len(self.stack) < DEEPEST:
                self._fill()
                self.stack.append(_OpenGroup(begin))
                return begin + 1
            self._too_deep = True
        if text[at] == ")" and self.stack:
            self._close(at)
            return at + 1
        if _OR_WORD.match(text, at) and self._or(at):
            return at + len("or")
        self._fill()
        if lead is not None and lead["quote"]:
            closing = text.find('"', lead.end())
            return len(text) if closing < 0 else closing + 1
        return self._bare(at)

    def _bare(self, at: int) -> int:
        """Behind a part without quotes; a parenthesis of its own belongs to it."""
        text, own = self.text, 0
        while at < len(text) and not text[at].isspace():
            if text[at] == "\\" and text[at + 1 : at + 2] in ("(", ")"):
                at += 1
            elif text[at] == "(":
                own += 1
            elif text[at] == ")" and own:
                own -= 1
            elif text[at] == ")" and self.stack:
                return at
            at += 1
        return min(at, len(text))

    def _close(self, at: int) -> None:
        group = self.stack.pop()
        if not group.ors:
            return
        self.groups.append(group)
        self.ends.append(at)
        if not group.filled:
            self.error = self.error or _MISSING

    def _or(self, at: int) -> bool:
        """Whether a word ``or`` separates alternatives here."""
        if self.stack and self.stack[-1].filled:
            self.stack[-1].ors.append(at)
            self.stack[-1].filled = False
            return True
        if self.stack and self.stack[-1].ors:
            self.error = self.error or _MISSING
        more = self.text[at + len("or") :].strip()
        if not self.stack and self._filled and more:
            self.note = "or is searched as text: alternatives stand in ( )"
        return False

    def _fill(self) -> None:
        if self.stack:
            self.stack[-1].filled = True
        else:
            self._filled = True


def _group_offsets(text: str) -> _GroupOffsets:
    """The groups of a filter, found in one pass."""
    scan = _GroupScanner(text)
    scan.run()
    unfinished = not scan.error and scan.unclosed
    return _GroupOffsets(
        begins=frozenset(group.begin for group in scan.groups),
        ends=frozenset(scan.ends),
        ors=frozenset(place for group in scan.groups for place in group.ors),
        error=_UNCLOSED if unfinished else scan.error,
        unfinished=unfinished,
        note=scan.note,
        _sorted_ends=tuple(sorted(scan.ends)),
    )


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
