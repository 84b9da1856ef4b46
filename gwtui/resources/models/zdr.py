"""The ZDR preview: endpoints that zero data retention allows, by model.

See section 7 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.cells import figure_column, text_column
from gwtui.crud.resource import (
    Cell,
    Column,
    Completion,
    DetailRow,
    ReadBy,
    ResourceSpec,
    Section,
    SortValue,
)
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.catalog import CatalogView, endpoint_key, verdict
from gwtui.resources.guardrails.effect import endpoint_title
from gwtui.watch.feeds.models import ZdrRow, catalog_feed, zdr_feed


def complete(row: ZdrRow, view: CatalogView) -> ZdrRow:
    """Return the row with all endpoints of its model, so that excluded ones can be named."""
    offers = next((offer for offer in view.offers if offer.model.id == row.model.id), None)
    if offers is None or offers.endpoints is None:
        return row
    kept = {endpoint_key(endpoint) for endpoint in row.remaining}
    return ZdrRow(
        row.model,
        tuple(endpoint for endpoint in offers.endpoints if endpoint_key(endpoint) in kept),
        offers.endpoints,
    )


def state_cell(row: ZdrRow) -> Cell:
    """The effect of zero data retention on the model, as a word."""
    if not row.remaining:
        return Cell("unavailable", "bad")
    if not row.healthy:
        return Cell("none healthy", "warn")
    if row.every is None:
        return Cell("available", "good")
    return Cell("reduced" if row.lost else "unaffected", "good")


_RANK = {"unavailable": 0, "none healthy": 1, "reduced": 2, "available": 3, "unaffected": 4}


def _rank(row: ZdrRow, _now: datetime) -> SortValue:
    return f"{_RANK[state_cell(row).text]} {row.model.name or ''}"


def _count(row: ZdrRow) -> Cell:
    kept = len(row.remaining)
    text = str(kept) if row.every is None else f"{kept} of {len(row.every)}"
    return Cell(text, "bad" if not kept else "plain")


def _healthy(row: ZdrRow) -> Cell:
    if not row.remaining:
        return cells.NOTHING
    return Cell(str(row.healthy), "plain" if row.healthy else "warn")


COLUMNS: tuple[Column[ZdrRow], ...] = (
    text_column("name", "Model", lambda row: row.model.name, 20, help="display name", grow=True),
    Column(
        "state",
        "ZDR effect",
        lambda row, _now: state_cell(row),
        _rank,
        12,
        help="models that lose every endpoint come first",
    ),
    figure_column(
        "remaining",
        "Endpoints",
        lambda row: len(row.remaining),
        9,
        show=_count,
        help="available endpoints, of all",
    ),
    figure_column(
        "healthy",
        "Healthy",
        lambda row: row.healthy,
        7,
        show=_healthy,
        help="available endpoints that work now",
    ),
    text_column(
        "providers",
        "Available providers",
        lambda row: ", ".join(endpoint.provider_name or "?" for endpoint in row.remaining) or None,
        24,
        help="who serves it without keeping data",
    ),
    text_column("id", "Author/id", lambda row: row.model.id, 28, help="model identifier"),
)


def _why(row: ZdrRow) -> str:
    if not row.remaining:
        return "with ZDR enforced, requests for it fail"
    if not row.healthy:
        return "no available endpoint works well now"
    return ""


def _remaining_rows(row: ZdrRow, _now: datetime) -> Sequence[DetailRow]:
    if not row.remaining:
        return [DetailRow("", Cell("none", "bad"))]
    rows = []
    for endpoint in row.remaining:
        state = verdict(endpoint)
        rows.append(
            DetailRow("", Cell(f"✓ {endpoint_title(endpoint)}"), f"{state.word}: {state.why}")
        )
    return rows


def _lost_rows(row: ZdrRow, _now: datetime) -> Sequence[DetailRow]:
    if row.every is None:
        return [DetailRow("", Cell("reading every endpoint of the catalog…", "muted"))]
    return [DetailRow("", Cell(f"✗ {endpoint_title(endpoint)}", "muted")) for endpoint in row.lost]


ZDR: ResourceSpec[ZdrRow] = ResourceSpec(
    id="zdr",
    title="Models with ZDR",
    singular="model",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.model.name or row.model.id).text,
    columns=COLUMNS,
    sections=(
        Section(
            "Model",
            lambda row, _now: [
                DetailRow("id", cells.text(row.model.id)),
                DetailRow("with ZDR", state_cell(row), _why(row)),
                DetailRow("endpoints", _count(row), "available"),
            ],
        ),
        Section("Available endpoints", _remaining_rows),
        Section("Excluded endpoints", _lost_rows),
        *drift_sections(lambda row: row.model),
    ),
    feed=zdr_feed,
    raw=lambda row: [endpoint.raw for endpoint in row.remaining],
    read_by=lambda _row: ReadBy("catalog.zdr_endpoints"),
    empty="The catalog is empty: the gateway offers no model to this key.",
    default_sort=("state", False),
    opens="endpoints",
    opened_by_id=2,
    facets={
        "state": lambda row, _now: state_cell(row).text,
        "provider": lambda row, _now: " ".join(
            endpoint.provider_name or "" for endpoint in row.remaining
        ),
    },
    completion=Completion(catalog_feed, complete),
)
