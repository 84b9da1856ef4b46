r"""Regular expressions whose search takes time in proportion to the text, whatever the pattern.

What a person types into a filter is matched against thousands of rows between two keys. The ``re``
module tries one way after the other, and a pattern such as ``(a+)+$`` has more ways than time.
Here all ways are followed at once: the pattern becomes a small machine (Thompson's construction),
and a text is read once, character by character, with the set of states that the machine can be in.
A search costs at most ``MOST_TEXT`` characters times ``MOST_STEPS`` steps.

``gwtui.domain.regex_syntax`` tells the language.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gwtui.domain.regex_syntax import (
    Accept,
    AtEdge,
    Chain,
    Edge,
    Either,
    OneOf,
    PatternError,
    PatternParser,
    RegexNode,
    Repeat,
    is_word,
)

__all__ = ["MOST_TEXT", "LinearRegex", "PatternError"]

MOST_PATTERN = 200
"""Characters of a pattern."""
MOST_STEPS = 400
"""Instructions of the machine that a pattern becomes."""
MOST_TEXT = 2_000
"""Characters of a text that are looked at."""
_KNOWN = 1_000
"""Transitions that are remembered."""

_OUTSIDE, _WORD, _OTHER = "", "w", "o"
"""What stands before a place: nothing, a character of a word, another character."""


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction: take a character, be at a place, or (with neither) go on at ``to``."""

    accept: Accept | None = None
    edge: Edge | None = None
    to: tuple[int, ...] = ()


class LinearRegex:
    """A pattern that can be searched for. Raises PatternError for what is none.

    Texts are given casefolded.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_PATTERN:
            raise PatternError(f"a pattern has at most {MOST_PATTERN} characters")
        self.pattern = pattern
        self._steps: list[_Step] = []
        self._emit(PatternParser(pattern).parsed())
        self._end = len(self._steps)
        self._known: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearRegex) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def found_in(self, text: str) -> bool:
        """Whether any part of the text matches."""
        states: frozenset[int] = frozenset((0,))
        before = _OUTSIDE
        for character in text[:MOST_TEXT]:
            after = self._after(states, before, character)
            if after is None:
                return True
            states = after | {0}
            before = _kind(character)
        rest = _OUTSIDE if len(text) <= MOST_TEXT else _OTHER
        return self._end in self._reached(states, before, rest)

    def span_in(self, text: str) -> tuple[int, int] | None:
        """Where the first part that matches begins and ends, the longest of those; for short texts.

        An empty match counts as none.
        """
        if not self.found_in(text):
            return None
        for start in range(len(text)):
            end = self._longest(text, start)
            if end is not None and end > start:
                return start, end
        return None

    def _longest(self, text: str, start: int) -> int | None:
        states: frozenset[int] = frozenset((0,))
        found: int | None = None
        for place in range(start, len(text) + 1):
            before = _kind(text[place - 1]) if place else _OUTSIDE
            following = _kind(text[place]) if place < len(text) else _OUTSIDE
            reached = self._reached(states, before, following)
            if self._end in reached:
                found = place
            if place < len(text):
                states = self._taken(reached, text[place])
            if not states:
                break
        return found

    # The machine ------------------------------------------------------------------------------

    def _after(self, states: frozenset[int], before: str, character: str) -> frozenset[int] | None:
        """The states after one more character; None when a match has ended before it."""
        key = (states, before, character)
        if key in self._known:
            return self._known[key]
        reached = self._reached(states, before, _kind(character))
        after = None if self._end in reached else self._taken(reached, character)
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known[key] = after
        return after

    def _reached(self, states: Iterable[int], before: str, following: str) -> set[int]:
        """Where the machine can be without taking a character."""
        reached: set[int] = set()
        waiting = list(states)
        while waiting:
            at = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            if at == self._end:
                continue
            step = self._steps[at]
            if step.accept is None and (step.edge is None or _is_at(step.edge, before, following)):
                waiting += step.to
        return reached

    def _taken(self, reached: Iterable[int], character: str) -> frozenset[int]:
        steps, end = self._steps, self._end
        return frozenset(
            at + 1
            for at in reached
            if at != end and (accept := steps[at].accept) is not None and accept(character)
        )

    # Making it --------------------------------------------------------------------------------

    def _add(self, step: _Step) -> int:
        if len(self._steps) >= MOST_STEPS:
            raise PatternError("the pattern is too large")
        self._steps.append(step)
        return len(self._steps) - 1

    def _emit(self, node: RegexNode) -> None:
        """Append what matches the node and goes on behind itself."""
        match node:
            case OneOf(accept):
                self._add(_Step(accept=accept))
            case AtEdge(edge):
                at = self._add(_Step())
                self._steps[at] = _Step(edge=edge, to=(at + 1,))
            case Chain(items):
                for item in items:
                    self._emit(item)
            case Either(options):
                self._emit_either(options)
            case Repeat():
                self._emit_repeat(node)

    def _emit_either(self, options: tuple[RegexNode, ...]) -> None:
        fork = self._add(_Step())
        begins: list[int] = []
        ends: list[int] = []
        for option in options:
            begins.append(len(self._steps))
            self._emit(option)
            ends.append(self._add(_Step()))
        self._steps[fork] = _Step(to=tuple(begins))
        for end in ends:
            self._steps[end] = _Step(to=(len(self._steps),))

    def _emit_repeat(self, node: Repeat) -> None:
        for _ in range(node.least):
            size = len(self._steps)
            self._emit(node.item)
            if len(self._steps) == size:  # nothing, however often
                return
        if node.most is None:
            fork = self._add(_Step())
            self._emit(node.item)
            back = self._add(_Step(to=(fork,)))
            self._steps[fork] = _Step(to=(fork + 1, back + 1))
            return
        for _ in range(node.most - node.least):
            fork = self._add(_Step())
            self._emit(node.item)
            self._steps[fork] = _Step(to=(fork + 1, len(self._steps)))


def _kind(character: str) -> str:
    return _WORD if is_word(character) else _OTHER


def _is_at(edge: Edge, before: str, following: str) -> bool:
    if edge == "start":
        return before == _OUTSIDE
    if edge == "end":
        return following == _OUTSIDE
    return (before == _WORD) != (following == _WORD)
