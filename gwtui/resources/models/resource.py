"""Models and providers of the catalog.

See "Model with endpoints" in the contract and section 7 of the extended contract.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

from gwtui.contract.models import Model, Provider, ReasoningSupport
from gwtui.crud import cells
from gwtui.crud.cells import (
    count_column,
    figure_column,
    moment_column,
    text_column,
    tokens_column,
)
from gwtui.crud.resource import Cell, Column, DetailRow, DetailTable, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import own_drift_sections
from gwtui.domain import times
from gwtui.domain.safe_text import safe_line
from gwtui.resources.models.prices import (
    other_prices,
    other_prices_cell,
    per_million,
    per_million_cell,
    price_table,
)
from gwtui.watch.feeds.models import models_feed, providers_feed, user_models_feed

_SCORES = 400


_LINKS = (
    ("privacy policy", "privacy_policy_url"),
    ("terms of service", "terms_of_service_url"),
    ("status page", "status_page_url"),
)


_NONE_GIVEN = "none given"


def trait_rows(model: Model, _now: datetime) -> Sequence[DetailRow]:
    """Return rows on further properties, such as reasoning; absent properties have no row."""
    rows = [*_request_limits(model)]
    if model.reasoning is not None:
        rows += _reasoning(model.reasoning)
    if model.supported_voices is not None:
        rows.append(DetailRow("voices", cells.names(model.supported_voices)))
    rows.append(
        DetailRow("defaults", _defaults(model), "for parameters that a request does not set")
    )
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
        rows.append(DetailRow("efforts", cells.names(support.supported_efforts)))
    if support.supports_max_tokens is not None:
        rows.append(DetailRow("can be capped", cells.yes_no(support.supports_max_tokens)))
    return rows


def _defaults(model: Model) -> Cell:
    given = model.default_parameters
    if given is None:
        return cells.missing(model, "default_parameters", "none")
    words = [
        f"{safe_line(name, 40)} {value:f}" for name, value in given.items() if value is not None
    ]
    return cells.names(words)


_WITHDRAWN_SOON_DAYS = 30


_TOP = "of the default provider"


def modality(model: Model) -> str | None:
    """Return inputs and outputs as one word: "text+image -> text".

    Without the lists, this is the gateway's own text.
    """
    architecture = model.architecture
    if architecture is None:
        return None
    inputs, outputs = architecture.input_modalities, architecture.output_modalities
    if inputs is None or outputs is None:
        return architecture.modality
    return f"{'+'.join(inputs)} → {'+'.join(outputs)}"


def withdrawn_at(model: Model) -> datetime | None:
    """Return the start (UTC) of the day on which the model is withdrawn; None if not announced."""
    if model.expiration_date is None:
        return None
    try:
        return datetime.combine(date.fromisoformat(model.expiration_date[:10]), time(), UTC)
    except ValueError:
        return None


def _withdrawal(model: Model, now: datetime) -> Cell:
    moment = withdrawn_at(model)
    if moment is None:
        return cells.text(model.expiration_date)
    near = (moment - now).days < _WITHDRAWN_SOON_DAYS
    return Cell(times.relative(moment, now), "warn" if near else "plain")


def _price_column(name: str, title: str, key: str) -> Column[Model]:
    return figure_column(
        name,
        title,
        lambda model: per_million(model.pricing, key),
        9,
        show=lambda model: (
            cells.NOTHING if model.pricing is None else per_million_cell(model.pricing, key)
        ),
        help=f"USD per million {key} tokens, discount applied; n/a without a price per token",
    )


COLUMNS: tuple[Column[Model], ...] = (
    text_column("name", "Name", lambda model: model.name, 20, help="display name", grow=True),
    _price_column("in", "In $/M", "prompt"),
    _price_column("out", "Out $/M", "completion"),
    tokens_column(
        "context",
        "Context",
        lambda model: model.context_length,
        8,
        "tokens that input and output share",
    ),
    replace(
        text_column(
            "other",
            "Other prices",
            lambda model: other_prices(model.pricing),
            20,
            help="charges besides text tokens, discount applied",
        ),
        cell=lambda model, _now: other_prices_cell(model.pricing),
        export=lambda model, _now: other_prices(model.pricing),
    ),
    text_column("modality", "Modality", modality, 18, help="inputs → outputs"),
    text_column("id", "Author/id", lambda model: model.id, 28, help="model identifier"),
    moment_column(
        "created",
        "Created",
        lambda model: cells.from_unix(model.created),
        13,
        help="when it joined the catalog",
    ),
    count_column(
        "parameters",
        "Params",
        lambda model: _length(model.supported_parameters),
        7,
        "how many request parameters are supported",
    ),
    Column(
        "withdrawn",
        "Retires",
        _withdrawal,
        lambda model, _now: withdrawn_at(model),
        13,
        help="when the model leaves the catalog",
        kind="moment",
    ),
)


def _length(values: list[str] | None) -> int | None:
    return None if values is None else len(values)


def _architecture_rows(model: Model, _now: datetime) -> Sequence[DetailRow]:
    architecture = model.architecture
    if architecture is None:
        return [DetailRow("architecture", cells.NOTHING)]
    return [
        DetailRow("inputs", cells.names(architecture.input_modalities)),
        DetailRow("outputs", cells.names(architecture.output_modalities)),
        DetailRow("modality", cells.text(architecture.modality)),
        DetailRow("tokenizer", cells.text(architecture.tokenizer)),
        DetailRow("instruct type", cells.text(architecture.instruct_type)),
    ]


def _limit_rows(model: Model, _now: datetime) -> Sequence[DetailRow]:
    top = model.top_provider
    rows = [
        DetailRow("context", cells.exact_tokens(model.context_length), "input and output share it")
    ]
    if top is None:
        return rows
    return [
        *rows,
        DetailRow("provider context", cells.exact_tokens(top.context_length), _TOP),
        DetailRow("max output", cells.exact_tokens(top.max_completion_tokens), _TOP),
        DetailRow("moderated", cells.yes_no(top.is_moderated), "by the default provider"),
    ]


def _price_section(model: Model, _now: datetime) -> Sequence[DetailRow | DetailTable]:
    if model.pricing is None:
        return [DetailRow("prices", cells.NOTHING)]
    return [
        *price_table(model.pricing),
        cells.hint("{list.open} shows the prices of each endpoint"),
    ]


MODELS: ResourceSpec[Model] = ResourceSpec(
    id="models",
    title="Models",
    singular="model",
    identity=lambda model: model.id or f"?{model.canonical_slug}|{model.name}",
    name=lambda model: cells.text(model.name or model.id).text,
    columns=COLUMNS,
    sections=(
        Section(
            "Identity",
            lambda model, now: [
                DetailRow("name", cells.text(model.name)),
                DetailRow("id", cells.text(model.id)),
                DetailRow("canonical slug", cells.text(model.canonical_slug)),
                cells.moment_row("created", cells.from_unix(model.created), now),
                DetailRow(
                    "retires",
                    _withdrawal(model, now),
                    cells.text(model.expiration_date).text if withdrawn_at(model) else "not a date",
                )
                if model.expiration_date
                else DetailRow("retires", Cell("not announced", "muted")),
                DetailRow("knowledge cutoff", cells.text(model.knowledge_cutoff)),
            ],
        ),
        Section("Prices", _price_section),
        Section("Limits", _limit_rows),
        Section("Architecture", _architecture_rows),
        Section("Traits", trait_rows),
        Section(
            "Parameters",
            lambda model, _now: [DetailRow("", cells.names(model.supported_parameters))],
        ),
        Section("Description", lambda model, _now: [DetailRow("", cells.prose(model.description))]),
        *own_drift_sections(Model),
    ),
    feed=models_feed,
    raw=lambda model: model.raw,
    read_by=lambda model: ReadBy("catalog.model", (model.id or "",)),
    empty="The catalog is empty: the gateway offers no model to this key.",
    default_sort=("name", False),
    opens="endpoints",
    opened_by_id=2,
    facets={
        "author": lambda model, _now: (model.id or "").partition("/")[0],
        "input": lambda model, _now: " ".join(
            (model.architecture and model.architecture.input_modalities) or ()
        ),
        "output": lambda model, _now: " ".join(
            (model.architecture and model.architecture.output_modalities) or ()
        ),
        "parameter": lambda model, _now: " ".join(model.supported_parameters or ()),
    },
)


USER_MODELS: ResourceSpec[Model] = replace(
    MODELS,
    id="user-models",
    title="Models of this key",
    feed=user_models_feed,
    empty="The guardrails on this key leave no model.",
)
"""The model list, limited to the models that the key in use may call."""


def _datacenters(provider: Provider) -> Cell:
    missing = cells.missing(provider, "datacenters", _NONE_GIVEN)
    return cells.names(provider.datacenters, missing)


PROVIDER_COLUMNS: tuple[Column[Provider], ...] = (
    text_column("name", "Name", lambda provider: provider.name, 20, help="display name", grow=True),
    text_column(
        "slug", "Slug", lambda provider: provider.slug, 18, help="identifier in allow lists"
    ),
    text_column(
        "headquarters",
        "Country",
        lambda provider: provider.headquarters,
        7,
        help="ISO country of the headquarters",
    ),
    text_column(
        "datacenters",
        "Data centers",
        lambda provider: ", ".join(provider.datacenters or ()) or None,
        18,
        help="ISO countries of the data centers",
        missing=_datacenters,
    ),
    text_column(
        "status_page",
        "Status page",
        lambda provider: provider.status_page_url,
        30,
        help="where the provider reports its own state",
        missing=lambda provider: cells.text_or(provider, "status_page_url", _NONE_GIVEN),
    ),
)


PROVIDERS: ResourceSpec[Provider] = ResourceSpec(
    id="providers",
    title="Providers",
    singular="provider",
    identity=lambda provider: provider.slug or f"?{provider.name}",
    name=lambda provider: cells.text(provider.name or provider.slug).text,
    columns=PROVIDER_COLUMNS,
    sections=(
        Section(
            "Identity",
            lambda provider, _now: [
                DetailRow("name", cells.text(provider.name)),
                DetailRow("slug", cells.text(provider.slug)),
                DetailRow("headquarters", cells.text(provider.headquarters), "ISO country"),
                DetailRow("data centers", _datacenters(provider), "ISO countries"),
            ],
        ),
        Section(
            "Links",
            lambda provider, _now: [
                DetailRow(label, cells.text_or(provider, name, _NONE_GIVEN))
                for label, name in _LINKS
            ],
        ),
        *own_drift_sections(Provider),
    ),
    feed=providers_feed,
    raw=lambda provider: provider.raw,
    read_by=lambda _provider: ReadBy("providers.list"),
    empty="The gateway lists no provider.",
    default_sort=("name", False),
    facets={"country": lambda provider, _now: provider.headquarters or ""},
)
