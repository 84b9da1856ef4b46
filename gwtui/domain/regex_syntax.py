r"""What a pattern of ``gwtui.domain.linear_regex`` says, as a tree.

The language: literals, ``.``, ``[a-z]``, ``[^a-z]``, ``\d \w \s`` and ``\D \W \S``, ``\b``, ``^``,
``$``, ``(...)``, ``(?:...)``, ``|``, ``*``, ``+``, ``?`` and ``{2,5}``. What only trying can do
(backreferences, look-around) is refused. Case does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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
