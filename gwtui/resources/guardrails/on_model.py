"""What each guardrail leaves of one model, the ones that block it first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.domain.uptime import verdict
from gwtui.resources.guardrails.effect import (
    endpoint_title,
    healthy_cell,
    left_cell,
    rank,
    verdict_cell,
)
from gwtui.resources.guardrails.view import display_name
from gwtui.watch.feeds.models import GuardrailOnModel, guardrails_on_model_feed

COLUMNS: tuple[Column[GuardrailOnModel], ...] = (
    text_column(
        "guardrail", "Guardrail", lambda one: display_name(one.row), 22, 0, help="display name"
    ),
    Column(
        "verdict",
        "Leaves",
        lambda one, now: verdict_cell(one.effect, now),
        lambda one, _now: f"{rank(one.effect, blocked_first=True)} {display_name(one.row)}",
        12,
        1,
        help="what is left of the model; blocked ones come first",
    ),
    figure_column(
        "left",
        "Left",
        lambda one: len(one.effect.remaining),
        7,
        2,
        show=lambda one: left_cell(one.effect),
        help="endpoints that remain",
    ),
    figure_column(
        "healthy",
        "Healthy",
        lambda one: one.effect.healthy,
        7,
        3,
        show=lambda one: healthy_cell(one.effect),
        help="remaining endpoints that work now",
    ),
    text_column(
        "why", "Why", lambda one: one.effect.verdict.why, 22, 4, help="what takes endpoints away"
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda one: one.row.workspace_name,
        16,
        5,
        help="workspace that the guardrail belongs to",
    ),
)


def _verdict_rows(one: GuardrailOnModel, now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("guardrail", cells.text(display_name(one.row))),
        DetailRow("workspace", cells.text(one.row.workspace_name)),
        DetailRow("model", cells.text(one.effect.model.name)),
        DetailRow("leaves", verdict_cell(one.effect, now), one.effect.verdict.why),
        cells.hint("{model-guardrails.go} goes to the guardrail"),
    ]


def _remaining_rows(one: GuardrailOnModel, _now: datetime) -> Sequence[DetailRow]:
    if one.effect.unreadable:
        found = one.effect.verdict
        return [DetailRow("", Cell(found.word, found.tone), found.why)]
    rows = []
    for endpoint in one.effect.remaining:
        state = verdict(endpoint)
        name = Cell(endpoint_title(endpoint))
        rows.append(DetailRow("", name, state.word))
    return rows


def _blocked_rows(one: GuardrailOnModel, _now: datetime) -> Sequence[DetailRow]:
    return [
        DetailRow("", Cell(endpoint_title(each.endpoint), "muted"), ", ".join(each.reasons))
        for each in one.effect.blocked
    ]


MODEL_GUARDRAILS: ResourceSpec[GuardrailOnModel] = ResourceSpec(
    id="model-guardrails",
    title="Guardrails on a model",
    singular="guardrail",
    identity=lambda one: one.row.identity,
    name=lambda one: display_name(one.row),
    columns=COLUMNS,
    sections=(
        Section("On this model", _verdict_rows),
        Section("Remaining endpoints", _remaining_rows),
        Section("Blocked endpoints", _blocked_rows),
    ),
    feed=guardrails_on_model_feed,
    raw=lambda one: one.row.guardrail.raw,
    read_by=lambda one: (
        ReadBy("gwtui.client.guardrails:guardrail_call", (one.row.identity,))
        if one.row.made
        else None
    ),
    empty="No guardrail exists in this scope: nothing blocks this model.",
    scoped=True,
    default_sort=("verdict", False),
    facets={"verdict": lambda one, now: verdict_cell(one.effect, now).text},
)
