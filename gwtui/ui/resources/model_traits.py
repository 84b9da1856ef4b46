"""What else the catalog says of a model: how it thinks, its voices, defaults, weights, scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.models import Model, ReasoningSupport
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell, DetailRow

_NONE = Cell("none", "muted")
_SCORES = 400


def trait_rows(model: Model, _now: datetime) -> Sequence[DetailRow]:
    """One line for each that the gateway gave; what it may leave out is left out here too."""
    rows = [*_request_limits(model)]
    if model.reasoning is not None:
        rows += _reasoning(model.reasoning)
    if model.supported_voices is not None:
        rows.append(DetailRow("voices", cells.words(model.supported_voices)))
    rows.append(DetailRow("defaults", _defaults(model), "where a request gives none"))
    if model.hugging_face_id:
        rows.append(DetailRow("weights", cells.text(model.hugging_face_id)))
    if model.alias_target is not None:
        target = model.alias_target
        rows.append(DetailRow("alias of", cells.text(target.slug), cells.text(target.name).text))
    if model.benchmarks:
        scores = json.dumps(model.benchmarks, ensure_ascii=False, default=str)
        rows.append(DetailRow("benchmarks", Cell(safe_line(scores, _SCORES))))
    return rows


def _request_limits(model: Model) -> Sequence[DetailRow]:
    limits = model.per_request_limits
    if limits is None:
        return ()
    both = (("prompt", limits.prompt_tokens), ("completion", limits.completion_tokens))
    words = [f"{figure:,} {name} tokens" for name, figure in both if figure is not None]
    return [DetailRow("one request", Cell(", ".join(words)) if words else cells.NOTHING, "at most")]


def _reasoning(support: ReasoningSupport) -> Sequence[DetailRow]:
    if support.mandatory:
        word = "always"
    elif support.mandatory is None:
        word = cells.DASH
    else:
        word = "on unless switched off" if support.default_enabled else "off unless asked for"
    effort = cells.text(support.default_effort).text if support.default_effort else ""
    note = f"effort {effort} when none is asked" if effort else ""
    rows = [DetailRow("reasoning", Cell(word), note)]
    if support.supported_efforts is not None:
        rows.append(DetailRow("efforts", cells.words(support.supported_efforts)))
    if support.supports_max_tokens is not None:
        rows.append(DetailRow("can be capped", cells.yes_no(support.supports_max_tokens)))
    return rows


def _defaults(model: Model) -> Cell:
    given = model.default_parameters
    if given is None:
        return _NONE if cells.said_null(model, "default_parameters") else cells.NOTHING
    words = [
        f"{safe_line(name, 40)} {value:f}" for name, value in given.items() if value is not None
    ]
    return Cell(", ".join(words)) if words else _NONE
