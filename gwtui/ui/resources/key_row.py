"""What a list of keys holds, and how its figures read in the list and in the detail pane."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from gwtui.domain.key_state import NEAR_LIMIT, KeyState, key_state
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell, Tone
from gwtui.watch.feeds.keys import KeyRow

_NO_LIMIT = Cell("no limit", "muted")
NEVER = Cell("never", "muted")


def state_of(row: KeyRow, now: datetime) -> KeyState:
    """The state word of a row's key."""
    return key_state(row.key, now)


def state_cell(row: KeyRow, now: datetime) -> Cell:
    """The state word."""
    state = state_of(row, now)
    return Cell(state.word, state.tone)


def limit_cell(row: KeyRow) -> Cell:
    """The limit; null is said in words, a missing one is unknown."""
    if cells.said_null(row.key, "limit"):
        return _NO_LIMIT
    return cells.usd(row.key.limit)


def used_cell(row: KeyRow) -> Cell:
    """The used share of the limit."""
    part = row.used_share
    return cells.NOTHING if part is None else cells.share(part, used_tone(part))


def used_tone(part: Decimal) -> Tone:
    """How a used share stands."""
    if part >= 1:
        return "bad"
    return "warn" if part >= NEAR_LIMIT else "plain"


def no_reset_cell(row: KeyRow) -> Cell:
    """What stands for no schedule: a limit never starts over, without a limit there is none."""
    sent_null = cells.said_null(row.key, "limit_reset")
    return NEVER if sent_null and row.key.limit is not None else cells.NOTHING


def reset_cell(row: KeyRow) -> Cell:
    """The schedule of the limit, an unknown one as it came."""
    return cells.text(row.key.limit_reset) if row.key.limit_reset else no_reset_cell(row)


def left_tone(row: KeyRow) -> Tone:
    """How the rest of the limit stands."""
    left = row.key.limit_remaining
    return "bad" if left is not None and left <= 0 else "plain"
