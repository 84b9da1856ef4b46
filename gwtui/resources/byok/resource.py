"""BYOK provider credentials: contract "BYOK provider credential", extended contract section 6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import flag_column, moment_column, text_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.byok import ByokRow, byok_feed, names_feed

RESTRICTIONS: Mapping[str, tuple[str, str]] = {
    "allowed_models": ("model", "models"),
    "allowed_user_ids": ("member", "members"),
    "allowed_api_key_hashes": ("key", "keys"),
}
"""Field -> what one and several of its entries are called. An empty list lets nothing use it."""

NO_RESTRICTION = Cell("no restriction", "muted")
NOBODY = Cell("none at all: nothing may use it", "bad")
"""An empty restriction, which is not the same as none."""

_HASH_SHOWN = 12
_NAME = 60


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
            if not cells.is_null(row.credential, name):
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
        return NO_RESTRICTION if cells.is_null(row.credential, name) else cells.NOTHING
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


_NOT_DECLARED = Cell("not declared", "muted")
_EVERYWHERE = Cell("every workspace", "muted")


def _workspace_cell(row: ByokRow) -> Cell:
    if row.workspace_name is not None:
        return cells.text(row.workspace_name)
    return _EVERYWHERE if cells.is_null(row.credential, "workspace_id") else cells.NOTHING


COLUMNS: tuple[Column[ByokRow], ...] = (
    Column(
        "name",
        "Name",
        lambda row, _now: name_cell(row),
        lambda row, _now: (row.credential.name or row.credential.label or "").casefold() or None,
        18,
        0,
        grow=True,
        help="display name, else the masked key",
    ),
    text_column(
        "provider", "Provider", lambda row: row.credential.provider, 14, 1, help="whose key it is"
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.workspace_name,
        16,
        2,
        help="workspace that the credential belongs to",
        missing=_workspace_cell,
        most=32,
    ),
    Column(
        "order",
        "Order",
        lambda row, _now: place_cell(row),
        lambda row, _now: row.order,
        6,
        3,
        right=True,
        help="place in the order of trial: sorts by provider, workspace, place",
    ),
    Column(
        "state",
        "State",
        lambda row, _now: state_cell(row),
        lambda row, _now: state_cell(row).text,
        8,
        4,
        help="enabled, disabled, or blocked by an empty restriction",
    ),
    Column(
        "role",
        "Role",
        lambda row, _now: role_cell(row),
        lambda row, _now: role_cell(row).text,
        12,
        5,
        help="fallbacks are tried after the other credentials of the provider",
    ),
    Column(
        "only",
        "Only for",
        lambda row, _now: restriction_summary(row),
        lambda row, _now: restriction_summary(row).text,
        20,
        6,
        help="restrictions to models, members and keys",
    ),
    text_column(
        "label", "Key", lambda row: row.credential.label, 18, 7, help="masked form of the key"
    ),
    moment_column(
        "created", "Created", lambda row: row.credential.created_at, 12, 8, "when it was stored"
    ),
    text_column(
        "region",
        "Region",
        lambda row: row.credential.declared_region,
        12,
        9,
        help="where it is served, self-declared",
        missing=lambda row: _declared(row, "declared_region"),
    ),
    flag_column(
        "required",
        "Required",
        lambda row: row.credential.is_required,
        8,
        10,
        "whether the provider is used only with it",
    ),
)


def _declared(row: ByokRow, name: str) -> Cell:
    value = getattr(row.credential, name)
    if value is None:
        return _NOT_DECLARED if cells.is_null(row.credential, name) else cells.NOTHING
    return cells.yes_no(value) if isinstance(value, bool) else cells.text(value)


def _identity_rows(row: ByokRow, now: datetime) -> Sequence[DetailRow]:
    one = row.credential
    return [
        DetailRow("name", cells.text(one.name)),
        DetailRow("provider", cells.text(one.provider)),
        DetailRow("key", cells.text(one.label), "masked; never shown in full"),
        DetailRow("workspace", _workspace_cell(row)),
        DetailRow("id", cells.text(one.id)),
        cells.moment_row("created", one.created_at, now),
    ]


_LONG_ORDER = ("tried 1 of 2 for a provider", "")


def _routing_rows(row: ByokRow, _now: datetime) -> Sequence[DetailRow]:
    one = row.credential
    return [
        DetailRow("state", state_cell(row), why_state(row)),
        DetailRow("order", Cell(order_sentence(row)), room=_LONG_ORDER),
        DetailRow("fallback", cells.yes_no(one.is_fallback), "tried after the others"),
        DetailRow("own key only", cells.yes_no(one.is_byok_only), "never the gateway's own key"),
        DetailRow("required", cells.yes_no(one.is_required), "the provider only with it"),
    ]


def _restriction_rows(row: ByokRow, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow(several, restriction_cell(row, name))
        for name, (_one, several) in RESTRICTIONS.items()
    ]


def _declared_rows(row: ByokRow, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("region", _declared(row, "declared_region")),
        DetailRow("ZDR", _declared(row, "declared_zdr"), "zero data retention"),
    ]


BYOK: ResourceSpec[ByokRow] = ResourceSpec(
    id="byok",
    title="BYOK",
    singular="credential",
    plural="credentials",
    identity=lambda row: row.identity,
    name=lambda row: name_cell(row).text,
    columns=COLUMNS,
    sections=(
        Section("Identity", _identity_rows),
        Section("Routing", _routing_rows),
        Section("May be used only for", _restriction_rows),
        Section("Declared by its owner", _declared_rows),
        *drift_sections(lambda row: row.credential),
    ),
    feed=byok_feed,
    writes="gwtui.resources.byok.writes:CREDENTIALS",
    raw=lambda row: row.credential.raw,
    read_by=lambda row: ReadBy("byok.get", (row.identity,)),
    empty="No provider key of your own in this scope yet: press {byok.create} to store one.",
    scoped=True,
    default_sort=("order", False),
    facets={
        "state": lambda row, _now: state_cell(row).text,
        "model": lambda row, _now: " ".join(row.credential.allowed_models or ()),
        "key": lambda row, _now: " ".join(row.credential.allowed_api_key_hashes or ()),
    },
    completion=Completion(names_feed, lambda row, names: replace(row, names=names)),
)
