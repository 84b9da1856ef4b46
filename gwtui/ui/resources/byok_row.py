"""What a list of BYOK credentials holds, and how its figures read in list and detail pane."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from gwtui.contract.byok import ByokCredential
from gwtui.contract.workspaces import Workspace
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell

RESTRICTIONS: Mapping[str, tuple[str, str]] = {
    "allowed_models": ("model", "models"),
    "allowed_user_ids": ("member", "members"),
    "allowed_api_key_hashes": ("key", "keys"),
}
"""Field -> what one and several of its entries are called."""

NO_RESTRICTION = Cell("no restriction", "muted")
NOBODY = Cell("none at all: nothing may use it", "bad")
"""An empty restriction, which is not the same as none."""

_HASH_SHOWN = 12
_NAME = 60


@dataclass(frozen=True, slots=True)
class ByokRow:
    """A credential, the workspace it was listed in, and its place in the order of trial."""

    credential: ByokCredential
    workspace: Workspace | None = None
    place: int | None = None
    """1 is tried first among the enabled ones of the provider; None while it is not tried."""
    rank: int = 0
    """Place among all credentials of the provider, disabled ones included; from 0."""
    tried: int = 0
    """How many of the provider are tried."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Key hash or user id -> name, as far as they are known."""

    @property
    def identity(self) -> str:
        """The id; for a credential that came without one, what else tells it from others."""
        one = self.credential
        return one.id or f"?{one.provider}|{one.label}|{one.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The workspace by name, else by the best identifier there is."""
        if self.workspace is None:
            return self.credential.workspace_id
        return self.workspace.name or self.workspace.slug or self.workspace.id

    @property
    def order(self) -> str:
        """Sorts by provider and workspace, and within them in the order of trial."""
        provider = (self.credential.provider or "\uffff").casefold()
        return f"{provider}\0{(self.workspace_name or '').casefold()}\0{self.rank:06}"


def ranked(rows: Iterable[ByokRow]) -> tuple[ByokRow, ...]:
    """The rows with their places in the order of trial.

    Per provider and workspace: fallbacks last, else by ``sort_order``; disabled ones are not
    tried (contract "BYOK provider credential").
    """
    found: list[ByokRow] = []
    ordered = sorted(rows, key=lambda row: (*_group(row), *_trial(row)))
    for _, group in groupby(ordered, key=_group):
        members = list(group)
        tried = [row for row in members if row.credential.disabled is False]
        places = {row.identity: place for place, row in enumerate(tried, start=1)}
        found += [
            replace(row, place=places.get(row.identity), rank=rank, tried=len(tried))
            for rank, row in enumerate(members)
        ]
    return tuple(found)


def _group(row: ByokRow) -> tuple[str, str]:
    return row.credential.provider or "", row.credential.workspace_id or ""


def _trial(row: ByokRow) -> tuple[bool, bool, int, str]:
    order = row.credential.sort_order
    return row.credential.is_fallback is True, order is None, order or 0, row.identity


def name_cell(row: ByokRow) -> Cell:
    """The name; the masked key stands in for one that has none."""
    one = row.credential
    return cells.text(one.name) if one.name else cells.text(one.label, "muted")


def state_cell(row: ByokRow) -> Cell:
    """Whether requests use it."""
    one = row.credential
    if one.disabled is None:
        return cells.NOTHING
    if one.disabled:
        return Cell("disabled", "muted")
    if any(getattr(one, name) == [] for name in RESTRICTIONS):
        return Cell("blocked", "warn")
    return Cell("enabled", "good")


def why_state(row: ByokRow) -> str:
    """The state in a sentence."""
    match state_cell(row).text:
        case "disabled":
            return "left out of routing"
        case "blocked":
            return "an empty restriction lets nothing use it"
        case "enabled":
            return "used by requests"
    return ""


def place_cell(row: ByokRow) -> Cell:
    """The place in the order of trial."""
    if row.place is not None:
        return Cell(str(row.place))
    return cells.NOTHING if row.credential.disabled is None else Cell("off", "muted")


def role_cell(row: ByokRow) -> Cell:
    """Whether it is tried before or after the others, and what happens when it fails."""
    one = row.credential
    if one.is_fallback is None:
        return cells.NOTHING
    if one.is_fallback:
        return Cell("fallback")
    return Cell("own key only") if one.is_byok_only else Cell("first choice")


def order_sentence(row: ByokRow) -> str:
    """The place in words."""
    provider = cells.text(row.credential.provider).text
    if row.place is None:
        return f"not tried for {provider}"
    last = " after the others" if row.credential.is_fallback else ""
    return f"tried {row.place} of {row.tried} for {provider}{last}"


def restriction_summary(row: ByokRow) -> Cell:
    """All restrictions in a few words."""
    parts = []
    for name, (one, several) in RESTRICTIONS.items():
        entries = getattr(row.credential, name)
        if entries is None:
            if not cells.said_null(row.credential, name):
                return cells.NOTHING
        elif not entries:
            return Cell(f"no {one} at all", "bad")
        else:
            parts.append(f"{len(entries)} {one if len(entries) == 1 else several}")
    return Cell(", ".join(parts)) if parts else Cell("none", "muted")


def restriction_cell(row: ByokRow, name: str) -> Cell:
    """One restriction in full; null, an empty list and an unknown one read differently."""
    entries: Sequence[str] | None = getattr(row.credential, name)
    if entries is None:
        return NO_RESTRICTION if cells.said_null(row.credential, name) else cells.NOTHING
    if not entries:
        return NOBODY
    return Cell(", ".join(_entry(row, name, entry) for entry in entries))


def _entry(row: ByokRow, name: str, entry: str) -> str:
    known = row.names.get(entry)
    if known:
        return known
    if name == "allowed_api_key_hashes":
        return safe_line(entry, _HASH_SHOWN)
    return safe_line(entry, _NAME)
