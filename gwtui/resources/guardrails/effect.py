"""The effect of guardrails on models and endpoints: columns, cells, and the list for one model.

The list and the notes in forms share these texts. ``domain.guardrail_effect`` has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.crud.cells import figure_column, text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.domain.catalog import CatalogView, verdict
from gwtui.domain.guardrail_effect import (
    GuardrailEffect,
    GuardrailRestrictions,
    ModelEffect,
    effect_on_catalog,
    restrictions_of,
)
from gwtui.watch.feeds.models import GuardrailOnModel, guardrails_on_model_feed

_RANK = (
    "all endpoints blocked",
    "none healthy",
    "some endpoints blocked",
    "nothing blocked",
    "unknown",
    "no endpoint",
    "model blocked",
)
"""Verdicts in sort order: problems first, intended blocks last."""


def verdict_cell(effect: ModelEffect, _now: datetime) -> Cell:
    """The verdict as a word."""
    reason = effect.verdict
    return Cell(reason.word, reason.tone)


def rank(effect: ModelEffect, *, blocked_first: bool = False) -> int:
    """Return the sort rank of a verdict; with ``blocked_first``, blocked models come first."""
    word = effect.verdict.word
    return -1 if blocked_first and word == "model blocked" else _RANK.index(word)


def left_cell(effect: ModelEffect) -> Cell:
    """The number of allowed endpoints of a model: "3 of 5"."""
    if not effect.known or effect.unreadable:
        return cells.NOTHING
    text = f"{len(effect.remaining)} of {effect.endpoint_count}"
    return Cell(text, "plain" if effect.remaining else "muted")


def healthy_cell(effect: ModelEffect) -> Cell:
    """The number of allowed endpoints that are currently healthy."""
    if not effect.known or effect.unreadable:
        return cells.NOTHING
    return Cell(str(effect.healthy_count), "plain" if effect.healthy_count else "muted")


def endpoint_title(endpoint: Endpoint) -> str:
    """Return the provider with its variant, safe to display."""
    name = endpoint.provider_name or endpoint.name or endpoint.tag
    _, _, variant = (endpoint.tag or "").partition("/")
    return cells.text(f"{name} /{variant}" if variant else name).text


class LiveEffect:
    """Computes which endpoints the values of a form allow; cached until a rule changes.

    ``view`` returns the catalog, or None if it has not been read.
    """

    def __init__(self, view: Callable[[], CatalogView | None], dialect: Dialect) -> None:
        self._view = view
        self._dialect = dialect
        self._last: tuple[CatalogView, GuardrailRestrictions, GuardrailEffect] | None = None

    def of(self, values: Mapping[str, Any]) -> GuardrailEffect | None:
        """Return the effect of a guardrail with these values; None without a catalog."""
        view = self._view()
        if view is None:
            return None
        rules = restrictions_of(values)
        if self._last is None or self._last[0] is not view or self._last[1] != rules:
            self._last = (view, rules, effect_on_catalog(view, [rules], self._dialect))
        return self._last[2]

    def note(self, values: Mapping[str, Any]) -> Cell | None:
        """Return a one-line summary for below a field; None without a catalog."""
        effect = self.of(values)
        if effect is None:
            return None
        text, tone = effect.summary
        return Cell(f"{text} · F2 shows them", tone)


COLUMNS: tuple[Column[GuardrailOnModel], ...] = (
    text_column(
        "guardrail",
        "Guardrail",
        lambda row: row.row.display_name,
        22,
        help="display name",
        grow=True,
    ),
    Column(
        "effect",
        "Effect",
        lambda row, now: verdict_cell(row.effect, now),
        lambda row, _now: f"{rank(row.effect, blocked_first=True)} {row.row.display_name}",
        22,
        help="effect on the model; blocked ones first",
    ),
    figure_column(
        "left",
        "Left",
        lambda row: len(row.effect.remaining),
        7,
        show=lambda row: left_cell(row.effect),
        help="endpoints that remain",
    ),
    figure_column(
        "healthy",
        "Healthy",
        lambda row: row.effect.healthy_count,
        7,
        show=lambda row: healthy_cell(row.effect),
        help="remaining endpoints that work now",
    ),
    text_column(
        "why", "Why", lambda row: row.effect.verdict.why, 22, help="what takes endpoints away"
    ),
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.row.workspace_name,
        16,
        help="workspace that the guardrail belongs to",
    ),
)


def _remaining_rows(guardrail: GuardrailOnModel, _now: datetime) -> Sequence[DetailRow]:
    if guardrail.effect.unreadable:
        reason = guardrail.effect.verdict
        return [DetailRow("", Cell(reason.word, reason.tone), reason.why)]
    rows = []
    for endpoint in guardrail.effect.remaining:
        state = verdict(endpoint)
        name = Cell(endpoint_title(endpoint))
        rows.append(DetailRow("", name, state.word))
    return rows


MODEL_GUARDRAILS: ResourceSpec[GuardrailOnModel] = ResourceSpec(
    id="model-guardrails",
    title="Guardrails on a model",
    singular="guardrail",
    identity=lambda row: row.row.identity,
    name=lambda row: row.row.display_name,
    columns=COLUMNS,
    sections=(
        Section(
            "On this model",
            lambda row, now: [
                DetailRow("guardrail", cells.text(row.row.display_name)),
                DetailRow("workspace", cells.text(row.row.workspace_name)),
                DetailRow("model", cells.text(row.effect.model.name)),
                DetailRow("effect", verdict_cell(row.effect, now), row.effect.verdict.why),
                cells.hint("{model-guardrails.go} goes to the guardrail"),
            ],
        ),
        Section("Remaining endpoints", _remaining_rows),
        Section(
            "Blocked endpoints",
            lambda row, _now: [
                DetailRow(
                    "", Cell(endpoint_title(blocked.endpoint), "muted"), ", ".join(blocked.reasons)
                )
                for blocked in row.effect.blocked
            ],
        ),
    ),
    feed=guardrails_on_model_feed,
    raw=lambda row: row.row.guardrail.raw,
    read_by=lambda row: ReadBy("guardrails.get", (row.row.identity,)) if row.row.exists else None,
    empty="No guardrail exists in this scope: nothing blocks this model.",
    scoped=True,
    default_sort=("effect", False),
    facets={"effect": lambda row, now: verdict_cell(row.effect, now).text},
)
