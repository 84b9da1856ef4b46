"""What content filters do to a message: extended contract section 5.

Filters are united, block over redact over flag; among equals the earlier one in the list counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

REDACTED = "[REDACTED]"
"""Stands for redacted text where the filter has no label; the gateway may word it otherwise."""
_STRENGTH = {"block": 0, "redact": 1, "flag": 2}


@dataclass(frozen=True, slots=True)
class Matches:
    """One filter and where it matches a message: start and end of every match."""

    action: str
    label: str
    spans: tuple[tuple[int, int], ...]

    @property
    def matches_nothing(self) -> bool:
        """Whether it matches the empty text, and so every message there is."""
        return any(start == end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message, and the filter (by place, from 0) that decides over it, if any."""

    text: str
    filter: int | None = None
    action: str = ""
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class FilterVerdict:
    """What becomes of a message."""

    pieces: tuple[Piece, ...]
    sent: str | None
    """The message as it goes on; None when it is blocked."""
    blocked_by: tuple[int, ...]
    redacted_by: tuple[int, ...]
    flagged_by: tuple[int, ...]


def judge(message: str, filters: Sequence[Matches]) -> FilterVerdict:
    """Apply the filters to a message. A filter with an action that is not known does nothing."""
    pieces = tuple(_pieces(message, filters))
    by_action = {
        action: tuple(
            place
            for place, matches in enumerate(filters)
            if matches.action == action and matches.spans
        )
        for action in _STRENGTH
    }
    blocked = bool(by_action["block"])
    sent = "".join(
        piece.replacement if piece.action == "redact" else piece.text for piece in pieces
    )
    return FilterVerdict(
        pieces,
        None if blocked else sent,
        by_action["block"],
        by_action["redact"],
        by_action["flag"],
    )


def _pieces(message: str, filters: Sequence[Matches]) -> Iterator[Piece]:
    owners = _owners(message, filters)
    for owner, places in groupby(range(len(message)), key=owners.__getitem__):
        run = list(places)
        text = message[run[0] : run[-1] + 1]
        if owner is None:
            yield Piece(text)
            continue
        matches = filters[owner[0]]
        replacement = (matches.label or REDACTED) if matches.action == "redact" else ""
        yield Piece(text, owner[0], matches.action, replacement)


def _owners(message: str, filters: Sequence[Matches]) -> list[tuple[int, int] | None]:
    """For every character the filter and its match that decide over it."""
    owners: list[tuple[int, int] | None] = [None] * len(message)
    ranked = sorted(
        (place for place, matches in enumerate(filters) if matches.action in _STRENGTH),
        key=lambda place: (_STRENGTH[filters[place].action], place),
    )
    for place in ranked:
        for number, (start, end) in enumerate(filters[place].spans):
            for at in range(max(start, 0), min(end, len(message))):
                if owners[at] is None:
                    owners[at] = (place, number)
    return owners
