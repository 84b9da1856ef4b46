"""What the gateway would have answered at a moment, made again from what was recorded of it.

Screens and commands then show the past with what they show the present with. A figure that nobody
read around then is missing, as in an answer that lacks the field; one that the gateway did not
give is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.budgets import BUDGET_INTERVALS, Budget
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Endpoint
from gwtui.contract.pricing import PRICE_KEYS
from gwtui.contract.usage import Credits
from gwtui.contract.workspaces import Workspace
from gwtui.watch.feeds.endpoints import EndpointRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.workspaces import Figures
from gwtui.watch.history import model as figures
from gwtui.watch.history.facts import NAME
from gwtui.watch.history.model import ACCOUNT, Resource, Subject, model_of
from gwtui.watch.history.replay import Snapshot


def credits_then(snapshot: Snapshot) -> Credits | None:
    """The account's credits; None when nobody read them around then."""
    subject = Subject("credits", ACCOUNT)
    found = _read(snapshot, subject, (figures.TOTAL_CREDITS, figures.TOTAL_USAGE))
    return Credits.model_validate(found) if found else None


def models_then(snapshot: Snapshot) -> tuple[str, ...]:
    """The models of which an endpoint was read around then, by name."""
    return tuple(
        sorted(
            {
                model_of(subject.identity)
                for subject in snapshot.subjects("endpoint")
                if _is_read(snapshot, subject)
            }
        )
    )


def endpoints_then(snapshot: Snapshot, model: str) -> tuple[EndpointRow, ...]:
    """The endpoints of a model."""
    return tuple(
        EndpointRow(
            _endpoint(snapshot, subject), subject.identity.removeprefix(f"{model} "), model, model
        )
        for subject in snapshot.subjects("endpoint")
        if model_of(subject.identity) == model and _is_read(snapshot, subject)
    )


def keys_then(snapshot: Snapshot) -> tuple[KeyRow, ...]:
    """Every key."""
    names = (figures.USAGE, figures.USAGE_DAILY, figures.LIMIT, figures.LIMIT_REMAINING)
    spaces = {subject.identity: subject for subject in snapshot.subjects("workspace")}
    rows = []
    for subject in snapshot.subjects("key"):
        facts = {**snapshot.facts[subject], "hash": subject.identity}
        key = ApiKey.model_validate({**facts, **_read(snapshot, subject, names)})
        space = spaces.get(key.workspace_id or "")
        rows.append(KeyRow(key, None if space is None else _workspace(snapshot, space)))
    return tuple(rows)


def workspaces_then(snapshot: Snapshot) -> Mapping[str, Figures]:
    """Every workspace with its budgets and what was spent of them, by its id."""
    return {
        subject.identity: _figures(snapshot, subject) for subject in snapshot.subjects("workspace")
    }


def read_at(snapshot: Snapshot, resource: Resource, model: str = "") -> datetime | None:
    """When the figures of a resource (or of a model's endpoints) were last read before then."""
    return max(_moments(snapshot, resource, model), default=None)


def _moments(snapshot: Snapshot, resource: Resource, model: str) -> Iterable[datetime]:
    for subject, found in snapshot.figures.items():
        if subject.resource != resource or (model and model_of(subject.identity) != model):
            continue
        for figure, reading in found.items():
            probed = figure in figures.PROBE_FIGURES
            if reading.measured_at is not None and reading.state != "gap" and not probed:
                yield reading.measured_at


def _is_read(snapshot: Snapshot, subject: Subject) -> bool:
    """Whether the gateway told of it; what was measured from here does not count."""
    return any(
        reading.state != "gap" and figure not in figures.PROBE_FIGURES
        for figure, reading in snapshot.figures.get(subject, {}).items()
    )


def _read(snapshot: Snapshot, subject: Subject, names: Iterable[str]) -> dict[str, Any]:
    """The figures by name; those that nobody read are left out."""
    found = {name: snapshot.reading(subject, name) for name in names}
    return {name: reading.value for name, reading in found.items() if reading.state != "gap"}


def _endpoint(snapshot: Snapshot, subject: Subject) -> Endpoint:
    facts = snapshot.facts[subject]
    data: dict[str, Any] = {"provider_name": facts.get(NAME), "tag": None}
    for name in ("status", "context_length", "max_completion_tokens", "quantization"):
        if name in facts:
            data[name] = facts[name]
    data |= _read(snapshot, subject, figures.UPTIMES)
    for what in ("latency", "throughput"):
        names = {which: f"{what}_{which}" for which in figures.PERCENTILES}
        found = _read(snapshot, subject, names.values())
        if found:
            values = {which: found.get(name) for which, name in names.items()}
            known = any(value is not None for value in values.values())
            data[f"{what}_last_30m"] = values if known else None
    prices = {key: facts.get(figures.price_figure(key)) for key in PRICE_KEYS}
    data["pricing"] = {
        **{key: price for key, price in prices.items() if price is not None},
        **{name: facts[name] for name in ("discount", "overrides") if name in facts},
    }
    return Endpoint.model_validate(data)


def _workspace(snapshot: Snapshot, subject: Subject) -> Workspace:
    return Workspace.model_validate({**snapshot.facts[subject], "id": subject.identity})


def _figures(snapshot: Snapshot, subject: Subject) -> Figures:
    facts = snapshot.facts[subject]
    budgets: dict[str, Budget] = {}
    for interval in BUDGET_INTERVALS:
        limit = facts.get(figures.budget_figure(interval))
        if limit is not None:
            reset = None if interval == "lifetime" else interval
            budgets[interval] = Budget.model_validate({"limit_usd": limit, "reset_interval": reset})
    spent: dict[str, Decimal | None] = {
        interval: snapshot.reading(subject, figures.usage_figure(interval)).value
        for interval in BUDGET_INTERVALS
    }
    return Figures(spent=spent, budgets=budgets, workspace=_workspace(snapshot, subject))
