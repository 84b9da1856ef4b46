"""Where a filter has groups of alternatives: parentheses with an ``or`` directly between them.

Every other parenthesis is text, as in the name ``Llama (free)``, and so is every other ``or``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

DEEPEST = 10
"""Parentheses within parentheses that may be groups."""
_MISSING = "an alternative is missing behind or"
_UNCLOSED = "a group has no end: )"
_LEAD = re.compile(r'(?P<no>-?)(?:(?P<name>[^\W\d][\w.-]*)(?:>=|<=|!=|[:=<>~])\s*)?(?P<quote>"?)')
_OR = re.compile(r"or(?=\s|$)", re.IGNORECASE)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class GroupPlaces:
    """Offsets of the parentheses and of each ``or`` that mean alternatives.

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


_NOWHERE = 2**31 - 1


@dataclass(slots=True)
class _Open:
    """A parenthesis that may begin a group; ``ors`` are those directly in it."""

    begin: int
    ors: list[int] = field(default_factory=list)
    filled: bool = False
    """Whether the present alternative has a part."""


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[_Open] = []
        self.groups: list[_Open] = []
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
                self.stack.append(_Open(begin))
                return begin + 1
            self._too_deep = True
        if text[at] == ")" and self.stack:
            self._close(at)
            return at + 1
        if _OR.match(text, at) and self._or(at):
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


def group_places(text: str) -> GroupPlaces:
    """The groups of a filter, found in one pass."""
    scan = _Scan(text)
    scan.run()
    unfinished = not scan.error and scan.unclosed
    return GroupPlaces(
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
