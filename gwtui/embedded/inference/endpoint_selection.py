"""Select and order the models and endpoints of a request, or refuse it with reasons.

Inference contract section 5, statuses 400 and 404.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from pydantic import JsonValue

from gwtui.contract.errors import FILTER_BY_GUARDRAIL, FILTER_BY_PARAMETERS, FILTER_BY_PROVIDERS
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog import ModelWithEndpoints, provider_slug
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.domain.routing import (
    ExcludedEndpoint,
    Exclusion,
    Route,
    Router,
    RouteRequest,
    is_free,
    requested_model,
)
from gwtui.embedded.inference.key_policy import KeyPolicy
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.messages import Refusal, named
from gwtui.embedded.operations import Site
from gwtui.embedded.simulator.catalog import STEP, build_catalog, catalog_view, live_figures

_OUTPUTS = {"completions": "text", "embeddings": "embeddings"}
_STEPS = (FILTER_BY_GUARDRAIL, FILTER_BY_PROVIDERS, FILTER_BY_PARAMETERS)
_PRIVACY = frozenset({"no zero data retention", "may train on the data"})
_WORDS: Mapping[str, str] = {
    "model not allowed": "model-ignored-by-{}",
    "model ignored": "model-ignored-by-{}",
    "provider not allowed": "provider-not-allowed-by-{}",
    "provider ignored": "provider-not-allowed-by-{}",
    "no zero data retention": "zdr-violation-by-{}",
}
"""Reason for an exclusion -> its name in the contract."""


def select_endpoints(
    site: Site,
    policy: KeyPolicy,
    parsed: ParsedRequest,
    now: datetime,
) -> Route:
    """Return the endpoints to try; models that cannot serve the request are skipped.

    If no model can, raises the refusal of the last one; raises a 404 if no endpoint is left.
    """
    offers: list[ModelWithEndpoints] = []
    refusals: list[Refusal] = []
    for name in parsed.models:
        try:
            offers.append(_offers(site, requested_model(name).id, parsed, now))
        except Refusal as refusal:
            refusals.append(refusal)
    if not offers:
        raise refusals[-1]
    shortcut = requested_model(parsed.models[0])
    guardrails = tuple(map(restrictions_of, policy.binding.values()))
    router = Router(catalog_view(site.catalog.seed), site.dialect, guardrails, policy.credentials)
    route = router.route(
        offers,
        RouteRequest(
            moment=now,
            preferences=parsed.preferences,
            service_tier=parsed.service_tier or shortcut.tier,
            parameters=parsed.parameters,
            prompt_tokens=parsed.prompt_tokens,
            max_tokens=parsed.max_tokens,
            default_sort=shortcut.sort or policy.workspace["default_provider_sort"],
        ),
        site.clock.chance,
    )
    if not route.attempts:
        raise _nothing_left(route, offers, parsed)
    return route


def _offers(site: Site, model_id: str, parsed: ParsedRequest, now: datetime) -> ModelWithEndpoints:
    model = site.catalog.model(model_id)
    if model is None:
        status = 400 if parsed.api == "completions" else 404
        kind = "invalid_request" if parsed.api == "completions" else "not_found"
        raise Refusal(
            status,
            f"{named([model_id])} is not a valid model ID",
            metadata={"error_type": kind},
        )
    outputs: Sequence[str] = model.wire["architecture"]["output_modalities"]
    if _OUTPUTS[parsed.api] not in outputs:
        raise Refusal(
            400,
            f"{model_id} does not serve this operation: it gives {', '.join(outputs)}",
            metadata={"error_type": "invalid_request"},
        )
    lacking = sorted(parsed.modalities.difference(model.wire["architecture"]["input_modalities"]))
    if lacking:
        raise Refusal(
            404,
            f"No endpoints found that support {lacking[0]} input for {model_id}",
            metadata={"error_type": "not_found"},
        )
    return _live_offers(site.catalog.seed, model_id, int(now.timestamp() // STEP))


@lru_cache(maxsize=32)
def _live_offers(seed: int, model_id: str, step: int) -> ModelWithEndpoints:
    # Cached because the live figures are constant during a step.
    catalog = build_catalog(seed)
    moment = datetime.fromtimestamp(step * STEP, tz=UTC)
    model = catalog.model(model_id)
    if model is None:
        raise KeyError(model_id)
    return ModelWithEndpoints(
        Model.model_validate(model.wire),
        tuple(
            Endpoint.model_validate({**item.wire, **live_figures(catalog, item.key, moment)})
            for item in model.endpoints
        ),
    )


def _step_of(exclusion: Exclusion) -> str:
    if exclusion.rule == "guardrail" or exclusion.reason in _PRIVACY:
        return FILTER_BY_GUARDRAIL
    if exclusion.reason in {"provider not allowed", "provider ignored"}:
        return FILTER_BY_PROVIDERS
    return FILTER_BY_PARAMETERS


def _nothing_left(
    route: Route, offers: Sequence[ModelWithEndpoints], parsed: ParsedRequest
) -> Refusal:
    excluded = route.excluded
    if not excluded:
        message = f"No endpoints found for {named(parsed.models)}"
        return Refusal(404, message, metadata={"error_type": "not_found"})
    # The first step of the routing that excludes each endpoint.
    dropped_at = [min(map(_step_of, each.exclusions), key=_STEPS.index) for each in excluded]
    left, failed = len(excluded), ""
    funnel: list[JsonValue] = []
    for step in _STEPS:
        left -= dropped_at.count(step)
        funnel.append({"step": step, "endpoint_count": left})
        failed = failed or (step if not left else "")
    metadata: dict[str, JsonValue] = {
        "error_type": "not_found",
        "input_endpoint_count": len(excluded),
        "failed_routing_step": failed,
        "routing_funnel": funnel,
        "ineligibility_reasons": _ineligibility(excluded),
    }
    if failed == FILTER_BY_GUARDRAIL:
        message = (
            f"0 endpoints out of {len(excluded)} requested are available matching your "
            "guardrail restrictions and data policy."
        )
    elif failed == FILTER_BY_PROVIDERS:
        message = "No allowed providers are available for the selected model."
        preferences = parsed.preferences
        metadata["requested_providers"] = list(preferences.only or preferences.order or ())
        slugs = (provider_slug(each, {}) for offer in offers for each in offer.endpoints or ())
        metadata["available_providers"] = list(dict.fromkeys(slug for slug in slugs if slug))
    elif too_long := _too_long(excluded, parsed):
        return too_long
    else:
        reasons = dict.fromkeys(why.reason for each in excluded for why in each.exclusions)
        message = (
            f"No endpoints found that can handle the requested parameters: {'; '.join(reasons)}."
        )
    return Refusal(404, message, metadata=metadata)


def _too_long(excluded: Sequence[ExcludedEndpoint], parsed: ParsedRequest) -> Refusal | None:
    # A 400 only if some endpoints are excluded for nothing but the length of the prompt.
    only_long = [each for each in excluded if {why.reason for why in each.exclusions} <= _LENGTHS]
    if not any(why.reason == "prompt too long" for each in only_long for why in each.exclusions):
        return None
    longest = max(each.endpoint.context_length or 0 for each in only_long)
    return Refusal(
        400,
        f"This endpoint's maximum context length is {longest} tokens. However, you requested about "
        f"{parsed.prompt_tokens} tokens of input.",
        metadata={"error_type": "context_length_exceeded"},
    )


_LENGTHS = frozenset({"prompt too long", "cannot answer that long"})


def _ineligibility(excluded: Sequence[ExcludedEndpoint]) -> list[JsonValue]:
    counted: dict[str, int] = {}
    for each in excluded:
        for word in dict.fromkeys(_word(why, each.model) for why in each.exclusions):
            counted[word] = counted.get(word, 0) + 1
    return [{"reason": word, "endpoint_count": count} for word, count in counted.items()]


def _word(exclusion: Exclusion, model: Model) -> str:
    if exclusion.reason == "may train on the data":
        kind = "free" if is_free(model) else "paid"
        return f"{kind}-model-training-violation-by-{exclusion.rule}"
    pattern = _WORDS.get(exclusion.reason)
    return exclusion.reason.replace(" ", "-") if pattern is None else pattern.format(exclusion.rule)
