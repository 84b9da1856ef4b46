"""Settings of the organization as a list of one, for commands: extended contract section 4."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.organization import OrganizationSettings
from gwtui.crud import cells
from gwtui.crud.columns import flag_column, text_column
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import own_drift_sections
from gwtui.watch.feeds.organization import settings_feed

COLUMNS: tuple[Column[OrganizationSettings], ...] = (
    text_column("id", "Organization", lambda one: one.id, 30, 0, help="organization id"),
    flag_column(
        "filtered_catalog",
        "Filtered catalog",
        lambda one: one.is_filtered_model_catalog_enabled,
        16,
        1,
        "whether members see only the models that their guardrails allow",
    ),
)


def _rows(one: OrganizationSettings, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("organization", cells.text(one.id)),
        DetailRow(
            "filtered catalog",
            cells.yes_no(one.is_filtered_model_catalog_enabled),
            "members see only the models that their guardrails allow",
        ),
    ]


SETTINGS: ResourceSpec[OrganizationSettings] = ResourceSpec(
    id="settings",
    title="Settings",
    singular="organization",
    identity=lambda one: one.id or "settings",
    name=lambda _one: "Settings of the organization",
    columns=COLUMNS,
    sections=(Section("Settings", _rows), *own_drift_sections(OrganizationSettings)),
    feed=settings_feed,
    raw=lambda one: one.raw,
    empty="The gateway gave no settings.",
    default_sort=("id", False),
    writes="gwtui.resources.organization.writes:WRITES",
)
