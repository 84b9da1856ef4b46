"""What a list of keys holds, and how its figures read in the list and in the detail pane."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.workspaces import Workspace
from gwtui.domain.key_state import NEAR_LIMIT, KeyState, key_state
from gwtui.ui.resources import cells
from gwtui.ui.resources.key_binding import KeyBinding
from gwtui.ui.resources.spec import Cell, Tone

_NO_LIMIT = Cell("no limit", "muted")
NEVER = Cell("never", "muted")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key and the workspace it was listed in; None when that workspace is not known.

    ``binding`` are the guardrails on it, None until they were read.
    """

    key: ApiKey
    workspace: Workspace | None = None
    binding: KeyBinding | None = None

    @property
    def identity(self) -> str:
        """The hash; for a key that came without one, what else tells it from others."""
        key = self.key
        return key.hash or f"?{key.label}|{key.name}|{key.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The workspace by name, else by the best identifier there is."""
        if self.workspace is None:
            return self.key.workspace_id
        return self.workspace.name or self.workspace.slug or self.workspace.id

    @property
    def used_share(self) -> Decimal | None:
        """Share of the limit that is used, 0..1 and above."""
        return limit_used_share(self.key.limit, self.key.limit_remaining)


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
