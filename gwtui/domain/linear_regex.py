r"""Regular expressions whose search takes time in proportion to the text, whatever the pattern.

What a person types into a filter is matched against thousands of rows between two keys. The ``re``
module backtracks, and a pattern such as ``(a+)+$`` can keep it busy for ever. Here a pattern is
parsed to a tree, the tree becomes the instructions of a small machine (Thompson's construction),
and a text is read once, character by character, with the set of states that the machine can be in.
A search costs at most ``MOST_TEXT`` characters times ``MOST_STEPS`` steps.

The language: literals, ``.``, ``[a-z]``, ``[^a-z]``, ``\d \w \s`` and ``\D \W \S``, ``\b``, ``^``,
``$``, ``(...)``, ``(?:...)``, ``|``, ``*``, ``+``, ``?`` and ``{2,5}``. What needs backtracking
(backreferences, look-around) is refused. Case does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

MOST_PATTERN = 200
"""Characters of a pattern."""
MOST_STEPS = 400
"""Instructions of the machine that a pattern becomes."""
MOST_TEXT = 2_000
"""Characters of a text that are looked at."""
_KNOWN = 1_000
"""Transitions that are remembered."""
_MOST_REPEATS = 100
_DEEPEST = 20

Accept = Callable[[str], bool]
Edge = Literal["start", "end", "edge"]


class PatternError(ValueError):
    """Not a pattern of this language; the message is for the person who typed it."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character."""

    accept: Accept


@dataclass(frozen=True, slots=True)
class AtEdge:
    """A place between characters."""

    edge: Edge


@dataclass(frozen=True, slots=True)
class Chain:
    """One after the other."""

    items: tuple[RegexNode, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of them."""

    options: tuple[RegexNode, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``most`` None: as often as it goes."""

    item: RegexNode
    least: int
    most: int | None


RegexNode = OneOf | AtEdge | Chain | Either | Repeat


def is_word(character: str) -> bool:
    """Whether a character belongs to a word."""
    return character.isalnum() or character == "_"


def _any(_character: str) -> bool:
    return True


def _not(accept: Accept) -> Accept:
    return lambda character: not accept(character)


_CLASSES: dict[str, Accept] = {
    "d": str.isdigit,
    "w": is_word,
    "s": str.isspace,
    "D": _not(str.isdigit),
    "W": _not(is_word),
    "S": _not(str.isspace),
}
_LITERALS = {"n": "\n", "t": "\t"}
_SIGNS: dict[str, RegexNode] = {".": OneOf(_any), "^": AtEdge("start"), "$": AtEdge("end")}


class PatternParser:
    """Recursive descent over the characters of a pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    def parsed(self) -> RegexNode:
        """The whole pattern. Raises PatternError."""
        node = self._either()
        if self._at < len(self._pattern):
            raise PatternError("a ) without its (")
        return node

    @property
    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found

    def _either(self) -> RegexNode:
        options = [self._chain()]
        while self._take("|"):
            options.append(self._chain())
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _chain(self) -> RegexNode:
        items: list[RegexNode] = []
        while self._next and self._next not in "|)":
            items.append(self._repeated(self._atom()))
        return Chain(tuple(items))

    def _atom(self) -> RegexNode:
        character = self._next
        if character in "*+?":
            raise PatternError(f"{character} has nothing to repeat")
        self._at += 1
        if character == "(":
            return self._group()
        if character == "[":
            return OneOf(self._class())
        if character == "\\":
            return self._escape()
        return _SIGNS.get(character) or _literal(character)

    def _group(self) -> RegexNode:
        if self._next == "?" and not self._take("?:"):
            raise PatternError("of (?...) only (?:...) is known: the rest would take too long")
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PatternError("groups are nested too deeply")
        node = self._either()
        self._depth -= 1
        if not self._take(")"):
            raise PatternError("a ( without its )")
        return node

    def _escape(self) -> RegexNode:
        character = self._next
        self._at += 1
        if not character:
            raise PatternError("nothing follows the \\")
        if character == "b":
            return AtEdge("edge")
        if character in _CLASSES:
            return OneOf(_CLASSES[character])
        return _literal(self._escaped(character))

    @staticmethod
    def _escaped(character: str) -> str:
        if character in _LITERALS:
            return _LITERALS[character]
        if character.isalnum():
            raise PatternError(f"\\{character} is not known here")
        return character

    def _repeated(self, item: RegexNode) -> RegexNode:
        bounds: tuple[int, int | None] | None = None
        if self._take("*"):
            bounds = 0, None
        elif self._take("+"):
            bounds = 1, None
        elif self._take("?"):
            bounds = 0, 1
        elif self._next == "{":
            bounds = self._counts()
        if bounds is None:  # also a { that counts nothing: it is itself
            return item
        self._take("?")
        if self._next and self._next in "*+?":
            raise PatternError(f"two repetitions at once: {self._next}")
        return Repeat(item, *bounds)

    def _counts(self) -> tuple[int, int | None] | None:
        """What {2}, {2,} or {2,5} says, and stand behind it; None when it is none of them."""
        inside, closed, _ = self._pattern[self._at + 1 :].partition("}")
        least, comma, most = inside.partition(",")
        if not closed or not _is_count(least) or (most and not _is_count(most)):
            return None
        low = int(least)
        high = int(most) if most else None if comma else low
        if max(low, high or 0) > _MOST_REPEATS:
            raise PatternError(f"at most {_MOST_REPEATS} repetitions")
        if high is not None and high < low:
            raise PatternError(f"{{{inside}}} counts backwards")
        self._at += len(inside) + 2
        return low, high

    def _class(self) -> Accept:
        negated = self._take("^")
        ranges: list[tuple[str, str]] = []
        classes: list[Accept] = []
        first = True
        while first or self._next != "]":
            if not self._next:
                raise PatternError("a [ without its ]")
            first = False
            low = self._member(classes)
            if low is None:
                continue
            high = low
            if self._next == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("", "]"):
                self._at += 1
                high = self._member(classes) or ""
                if high < low:
                    raise PatternError(f"the range {low}-{high} is backwards")
            ranges.append((low, high))
        self._at += 1
        accept = _in_class(tuple(ranges), tuple(classes))
        return _not(accept) if negated else accept

    def _member(self, classes: list[Accept]) -> str | None:
        r"""One character of a class; None when it was a class of its own, such as \d."""
        character = self._next
        self._at += 1
        if character != "\\":
            return character
        escaped = self._next
        self._at += 1
        if not escaped:
            raise PatternError("a [ without its ]")
        if escaped in _CLASSES:
            classes.append(_CLASSES[escaped])
            return None
        return self._escaped(escaped)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(_MOST_REPEATS)) + 1


def _literal(character: str) -> RegexNode:
    folded = character.casefold()
    return Chain(tuple(OneOf(one.__eq__) for one in folded))


def _in_class(ranges: tuple[tuple[str, str], ...], classes: tuple[Accept, ...]) -> Accept:
    def accept(character: str) -> bool:
        upper = character.upper()
        return any(low <= character <= high or low <= upper <= high for low, high in ranges) or any(
            one(character) for one in classes
        )

    return accept


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
