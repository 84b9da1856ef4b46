"""Providers of the catalog: extended contract section 7."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.models import Provider
from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import own_drift_sections
from gwtui.watch.feeds.models import providers_feed

_LINKS = (
    ("privacy policy", "privacy_policy_url"),
    ("terms of service", "terms_of_service_url"),
    ("status page", "status_page_url"),
)
_NONE_GIVEN = Cell("none given", "muted")


def _link(provider: Provider, name: str) -> Cell:
    return _NONE_GIVEN if cells.is_null(provider, name) else cells.text(getattr(provider, name))


def _datacenters(provider: Provider) -> Cell:
    missing = _NONE_GIVEN if cells.is_null(provider, "datacenters") else cells.NOTHING
    return cells.words(provider.datacenters, missing)


COLUMNS: tuple[Column[Provider], ...] = (
    text_column("name", "Name", lambda provider: provider.name, 20, 0, help="display name"),
    text_column(
        "slug", "Slug", lambda provider: provider.slug, 18, 1, help="identifier in allow lists"
    ),
    text_column(
        "headquarters",
        "HQ",
        lambda provider: provider.headquarters,
        4,
        2,
        help="ISO country of the headquarters",
    ),
    text_column(
        "datacenters",
        "Data centers",
        lambda provider: ", ".join(provider.datacenters or ()) or None,
        18,
        3,
        help="ISO countries of the data centers",
        missing=_datacenters,
    ),
    text_column(
        "status_page",
        "Status page",
        lambda provider: provider.status_page_url,
        30,
        4,
        help="where the provider reports its own state",
        missing=lambda provider: _link(provider, "status_page_url"),
    ),
)


def _identity_rows(provider: Provider, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("name", cells.text(provider.name)),
        DetailRow("slug", cells.text(provider.slug)),
        DetailRow("headquarters", cells.text(provider.headquarters), "ISO country"),
        DetailRow("data centers", _datacenters(provider), "ISO countries"),
    ]


def _link_rows(provider: Provider, _now: datetime) -> Sequence[DetailRow]:
    return [DetailRow(label, _link(provider, name)) for label, name in _LINKS]


PROVIDERS: ResourceSpec[Provider] = ResourceSpec(
    id="providers",
    title="Providers",
    singular="provider",
    identity=lambda provider: provider.slug or f"?{provider.name}",
    name=lambda provider: cells.text(provider.name or provider.slug).text,
    columns=COLUMNS,
    sections=(
        Section("Identity", _identity_rows),
        Section("Links", _link_rows),
        *own_drift_sections(Provider),
    ),
    feed=providers_feed,
    raw=lambda provider: provider.raw,
    read_by=lambda _provider: ReadBy("gwtui.client.catalog:providers_call"),
    empty="The gateway lists no provider.",
    default_sort=("name", False),
    facets={"country": lambda provider, _now: provider.headquarters or ""},
)
