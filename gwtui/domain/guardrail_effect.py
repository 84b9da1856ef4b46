"""Which endpoints guardrails allow, and how guardrails acted on a request. No I/O.

If several guardrails apply, allow-lists intersect, ignore-lists subtract, and zero data retention
(ZDR) applies if one of them asks for it. See "Guardrail" in the contract and section 5 of the
extended contract.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gwtui.contract.completion import PipelineStage, ServiceMetadata
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import ZDR_FIELDS, ZDR_XAI, Guardrail
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.workspaces import slug_of
from gwtui.domain.catalog import (
    CatalogView,
    ModelWithEndpoints,
    endpoint_key,
    is_healthy,
    provider_slug,
)
from gwtui.domain.cell_values import Tone, Verdict

Reason = Literal[
    "model not allowed",
    "model blocked",
    "provider not allowed",
    "provider blocked",
    "no zero data retention",
]

XAI_AUTHOR = "x-ai"
_OF_MODEL = frozenset[Reason]({"model not allowed", "model blocked"})
_SWITCHES = (*ZDR_FIELDS, ZDR_XAI)
_TRAINING = {"enable_free_model_training": "free", "enable_paid_model_training": "paid"}
_LISTS = ("allowed_models", "ignored_models", "allowed_providers", "ignored_providers")


@dataclass(frozen=True, slots=True)
class GuardrailRestrictions:
    """The routing restrictions of one guardrail; None means unrestricted.

    ``zdr`` holds the names of the ZDR switches that are on. ``no_training`` holds the kinds of
    models, "free" and "paid", whose providers must not train on the data. ``unreadable`` names the
    fields that could not be read completely.
    """

    allowed_models: frozenset[str] | None = None
    allowed_providers: frozenset[str] | None = None
    ignored_models: frozenset[str] = frozenset()
    ignored_providers: frozenset[str] = frozenset()
    zdr: frozenset[str] = frozenset()
    no_training: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()


def restrictions_of(source: Guardrail | Mapping[str, Any]) -> GuardrailRestrictions:
    """Read the restrictions from a guardrail, or from the values of its form."""
    values = {
        name: source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        for name in (*_LISTS, *_SWITCHES, *_TRAINING)
    }

    def allowed(name: str) -> frozenset[str] | None:
        entries = values[name]
        return None if entries is None else frozenset(entries)

    return GuardrailRestrictions(
        allowed_models=allowed("allowed_models"),
        allowed_providers=allowed("allowed_providers"),
        ignored_models=frozenset(values["ignored_models"] or ()),
        ignored_providers=frozenset(values["ignored_providers"] or ()),
        zdr=frozenset(name for name in _SWITCHES if values[name] is True),
        no_training=frozenset(kind for name, kind in _TRAINING.items() if values[name] is False),
        unreadable=_unreadable(source),
    )


def _unreadable(source: Guardrail | Mapping[str, Any]) -> frozenset[str]:
    """Names of the restrictions that could not be read completely."""
    gaps = source.gaps if isinstance(source, Guardrail) else ()
    return frozenset(gap.partition("[")[0] for gap in gaps) & {*_LISTS, *_SWITCHES}


@dataclass(frozen=True, slots=True)
class BlockedEndpoint:
    """An endpoint that guardrails exclude, with all reasons."""

    endpoint: Endpoint
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class ModelEffect:
    """The effect of guardrails on one model.

    ``known`` is False if the model's endpoints could not be read. ``unreadable`` names the fields
    of guardrails that could not be read; ``remaining`` and ``blocked`` ignore these restrictions.
    """

    model: Model
    remaining: tuple[Endpoint, ...]
    blocked: tuple[BlockedEndpoint, ...]
    known: bool = True
    unreadable: tuple[str, ...] = ()

    @property
    def endpoint_count(self) -> int:
        """The number of endpoints, remaining and blocked."""
        return len(self.remaining) + len(self.blocked)

    @property
    def healthy_count(self) -> int:
        """The number of remaining endpoints that are healthy."""
        return sum(is_healthy(endpoint) for endpoint in self.remaining)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The distinct reasons why endpoints are blocked, most frequent first."""
        counts = Counter(reason for blocked in self.blocked for reason in blocked.reasons)
        return tuple(reason for reason, _ in counts.most_common())

    @property
    def is_excluded(self) -> bool:
        """Whether the lists of allowed and ignored models block the model itself."""
        return bool(self.blocked) and all(
            not _OF_MODEL.isdisjoint(blocked.reasons) for blocked in self.blocked
        )

    @property
    def verdict(self) -> Verdict:
        """The effect on the model, in one word with its reasons.

        The word is "model blocked" (by the lists of models), "all endpoints blocked" (by other
        rules), "some endpoints blocked", "nothing blocked", "none healthy", "no endpoint" or
        "unknown".
        """
        if not self.known:
            return Verdict("unknown", "muted", "its endpoints could not be read")
        if not self.endpoint_count:
            return Verdict("no endpoint", "muted", "nothing serves this model now")
        if self.unreadable:
            return Verdict("unknown", "warn", _not_read(self.unreadable))
        if self.is_excluded:
            return Verdict("model blocked", "muted", ", ".join(self.reasons))
        if not self.remaining:
            return Verdict("all endpoints blocked", "bad", ", ".join(self.reasons))
        return self._of_remaining()

    def _of_remaining(self) -> Verdict:
        if not self.healthy_count:
            lost = any(is_healthy(blocked.endpoint) for blocked in self.blocked)
            why = "the healthy ones are blocked" if lost else "none is healthy without it either"
            return Verdict("none healthy", "warn", why)
        if self.blocked:
            return Verdict("some endpoints blocked", "plain", ", ".join(self.reasons))
        return Verdict("nothing blocked", "good", "every endpoint remains")


@dataclass(frozen=True, slots=True)
class GuardrailEffect:
    """The effect of guardrails on the catalog.

    ``unmatched`` are (field, entry) of the lists that match nothing in the catalog.
    ``zdr_unknown`` is whether zero data retention is required, but the gateway does not report
    which endpoints have it. ``unreadable`` names the fields of guardrails that could not be read,
    which makes the effect uncertain.
    """

    models: tuple[ModelEffect, ...]
    unmatched: tuple[tuple[str, str], ...] = ()
    zdr_unknown: bool = False
    unreadable: tuple[str, ...] = ()

    def count(self, word: str) -> int:
        """The number of models with this word as ``ModelEffect.verdict``."""
        return sum(model.verdict.word == word for model in self.models)

    @property
    def summary(self) -> tuple[str, Tone]:
        """The effect on the whole catalog, in one line."""
        if self.unreadable:
            return f"what remains is unknown: {_not_read(self.unreadable)}", "warn"
        known = [model for model in self.models if model.known and model.endpoint_count]
        left = sum(bool(model.remaining) for model in known)
        empty, weak = self.count("all endpoints blocked"), self.count("none healthy")
        unread = sum(not model.known for model in self.models)
        parts = [
            f"{left} of {len(known)} models keep an endpoint",
            f"{empty} more {'is' if empty == 1 else 'are'} allowed but left without one"
            if empty
            else "",
            f"{weak} without a healthy one" if weak else "",
            f"{unread} could not be read" if unread else "",
            "zero data retention not applied" if self.zdr_unknown else "",
        ]
        tone: Tone = (
            "bad" if empty or (known and not left) else "warn" if any(parts[1:]) else "plain"
        )
        return ", ".join(part for part in parts if part), tone


def _not_read(fields: Iterable[str]) -> str:
    return f"{', '.join(fields)} could not be read"


def _all_unreadable(guardrails: Iterable[GuardrailRestrictions]) -> tuple[str, ...]:
    return tuple(sorted(frozenset().union(*(guardrail.unreadable for guardrail in guardrails))))


def zdr_switch(model_id: str | None, dialect: Dialect) -> str:
    """The guardrail field with the ZDR switch for a model: its author's, else that for others."""
    author = (model_id or "").partition("/")[0].lower().lstrip("~")
    for field, vendor in zip(ZDR_FIELDS, dialect.vendors, strict=False):
        if author == slug_of(vendor):
            return field
    has_xai = ZDR_XAI not in dialect.absent_fields.get("Guardrail", ())
    return ZDR_XAI if has_xai and author == XAI_AUTHOR else "enforce_zdr_other"


def effect_on_model(
    offers: ModelWithEndpoints,
    guardrails: Sequence[GuardrailRestrictions],
    view: CatalogView,
    dialect: Dialect,
) -> ModelEffect:
    """The effect of guardrails on one model."""
    model = offers.model
    if offers.endpoints is None:
        return ModelEffect(model, (), (), known=False)
    of_model = frozenset[Reason]().union(
        *(_model_reasons(model, guardrail, view) for guardrail in guardrails)
    )
    switch = zdr_switch(model.id, dialect)
    retained = view.zdr is not None and any(switch in guardrail.zdr for guardrail in guardrails)
    remaining: list[Endpoint] = []
    blocked: list[BlockedEndpoint] = []
    for endpoint in offers.endpoints:
        reasons = set(of_model)
        for guardrail in guardrails:
            reasons |= _provider_reasons(endpoint, guardrail, view.provider_slugs)
        if retained and view.zdr is not None and endpoint_key(endpoint) not in view.zdr:
            reasons.add("no zero data retention")
        if reasons:
            blocked.append(BlockedEndpoint(endpoint, tuple(sorted(reasons))))
        else:
            remaining.append(endpoint)
    unreadable = _all_unreadable(guardrails)
    return ModelEffect(model, tuple(remaining), tuple(blocked), unreadable=unreadable)


def effect_on_catalog(
    view: CatalogView, guardrails: Sequence[GuardrailRestrictions], dialect: Dialect
) -> GuardrailEffect:
    """The effect of guardrails on each model, in the order of the catalog."""
    return GuardrailEffect(
        tuple(effect_on_model(offers, guardrails, view, dialect) for offers in view.offers),
        unmatched=tuple(dict.fromkeys(_unmatched(view, guardrails))),
        zdr_unknown=view.zdr is None and any(guardrail.zdr for guardrail in guardrails),
        unreadable=_all_unreadable(guardrails),
    )


def _model_reasons(
    model: Model, guardrail: GuardrailRestrictions, view: CatalogView
) -> frozenset[Reason]:
    reasons: set[Reason] = set()
    if guardrail.allowed_models is not None and not _names(model, guardrail.allowed_models, view):
        reasons.add("model not allowed")
    if _names(model, guardrail.ignored_models, view):
        reasons.add("model blocked")
    return frozenset(reasons)


def _names(model: Model, entries: Iterable[str], view: CatalogView) -> bool:
    """Whether one of the entries of a list is the model's id or canonical slug."""
    names = {model.id, model.canonical_slug} - {None, ""}
    return any(entry in names or view.canonical.get(entry) in names for entry in entries)


def _provider_reasons(
    endpoint: Endpoint, guardrail: GuardrailRestrictions, slugs: Mapping[str, str]
) -> frozenset[Reason]:
    """The reasons why a guardrail's lists of providers block an endpoint; usually none.

    The entries are slugs of providers or tags of endpoints. ``slugs`` are by provider name.
    """
    names = {provider_slug(endpoint, slugs), endpoint.tag}
    reasons: set[Reason] = set()
    allowed = guardrail.allowed_providers
    if allowed is not None and names.isdisjoint(allowed):
        reasons.add("provider not allowed")
    if not names.isdisjoint(guardrail.ignored_providers):
        reasons.add("provider blocked")
    return frozenset(reasons)


def _unmatched(
    view: CatalogView, guardrails: Sequence[GuardrailRestrictions]
) -> Iterable[tuple[str, str]]:
    for guardrail in guardrails:
        for field in _LISTS:
            known = view.known_models if field.endswith("models") else view.known_providers
            for entry in sorted(getattr(guardrail, field) or ()):
                if entry not in known:
                    yield field, entry


GuardrailOutcome = Literal["pass", "flag", "redact", "block", "no endpoint"]
GUARDRAIL_OUTCOMES: tuple[GuardrailOutcome, ...] = (
    "pass",
    "flag",
    "redact",
    "block",
    "no endpoint",
)
"""What guardrails can do with a request, mildest first."""

GUARDRAIL = "guardrail"
_ACTIONS: Mapping[str, GuardrailOutcome] = {
    "flag": "flag",
    "flagged": "flag",
    "redact": "redact",
    "redacted": "redact",
    "block": "block",
    "blocked": "block",
}
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class GuardrailVerdict:
    """The strictest action of the guardrails on a served request.

    ``stages`` are the guardrail stages of the request's pipeline, in the order in which they acted.
    """

    outcome: GuardrailOutcome
    stages: tuple[PipelineStage, ...] = ()


def verdict_of(metadata: ServiceMetadata | None) -> GuardrailVerdict | None:
    """How guardrails acted on a served request; None if the response has no metadata."""
    if metadata is None:
        return None
    stages = tuple(stage for stage in metadata.pipeline or () if stage.type == GUARDRAIL)
    actions: list[GuardrailOutcome] = [action for stage in stages for action in actions_of(stage)]
    return GuardrailVerdict(max(actions, key=GUARDRAIL_OUTCOMES.index, default="pass"), stages)


def actions_of(stage: PipelineStage) -> tuple[GuardrailOutcome, ...]:
    """The actions that one stage reports, mildest first; empty if it only let the request pass."""
    words = {*_words(stage.data)}
    if not stage.data:
        words = {*_WORD.findall((stage.summary or "").lower())}
    actions = {_ACTIONS[word] for word in words if word in _ACTIONS}
    return tuple(sorted(actions, key=GUARDRAIL_OUTCOMES.index))


def _words(value: Any) -> Iterator[str]:
    """Yield all texts in the data of a stage, and the names of fields with a value."""
    if isinstance(value, str):
        yield value.lower()
    elif isinstance(value, Mapping):
        yield from (str(name).lower() for name, part in value.items() if part)
        yield from _words(list(value.values()))
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
