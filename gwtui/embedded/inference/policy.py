"""Whether a key may send a request, and which endpoints may serve it, in which order.

See the statuses 400, 402, 403, 404 and 429 in section 5 of the inference contract. The order of the
checks is not documented: here a negative balance comes first, then budgets; payment is checked for
each attempted endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import JsonValue

from gwtui.contract.byok import ByokCredential
from gwtui.contract.errors import FILTER_BY_GUARDRAIL, FILTER_BY_PARAMETERS, FILTER_BY_PROVIDERS
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.values import REGIONS
from gwtui.domain.catalog import ModelWithEndpoints, provider_slug
from gwtui.domain.guardrail_effect import restrictions_of
from gwtui.domain.money import usd
from gwtui.domain.pricing import ByokUse, max_output_tokens, max_request_cost
from gwtui.domain.routing import (
    ExcludedEndpoint,
    Exclusion,
    Route,
    RouteAttempt,
    Router,
    RouteRequest,
    is_free,
    requested_model,
    usable_credentials,
)
from gwtui.embedded.inference.request_input import ParsedRequest
from gwtui.embedded.messages import Refusal, join_names, unauthenticated
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.simulator.catalog import (
    STEP,
    Catalog,
    build_catalog,
    catalog_view,
    live_figures,
)
from gwtui.embedded.store import account, byok, generations, keys
from gwtui.embedded.store.account import from_pico
from gwtui.embedded.store.byok import SecretBox, UnreadableSecretError
from gwtui.embedded.store.documents import WORKSPACES, Document
from gwtui.embedded.store.keys import Binding, Cap, applied_budgets, binding_of

if TYPE_CHECKING:
    from gwtui.embedded.gateway import EmbeddedGateway

_BROADEST = (None, "monthly", "weekly", "daily")
_REGION = "global"
"""The region of this gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPolicy:
    """A key and everything that restricts its requests. Amounts are in USD."""

    record: keys.KeyRecord
    workspace: Document
    binding: Binding
    credentials: tuple[ByokCredential, ...]
    encrypted_keys: Mapping[str, bytes]
    """Encrypted provider keys by credential id."""
    balance: Decimal
    byok_this_month: Decimal
    """Total list price of the account's requests on BYOK credentials this UTC month."""
    free: generations.FreeUse

    def check_payment(self, attempt: RouteAttempt, parsed: ParsedRequest, now: datetime) -> None:
        """Raise a 402 if this attempt cannot be paid, or a 429 above the free request limit."""
        if attempt.credential is None and is_free(attempt.model):
            self._check_free(now)
        elif attempt.credential is None and self.balance <= 0:
            raise _no_credits()
        rest = self._rest(attempt)
        endpoint, prompt = attempt.endpoint, parsed.prompt_tokens
        if rest is None or endpoint.pricing is None:
            return
        room = endpoint.context_length and max(endpoint.context_length - prompt, 0)
        bounds = (max_output_tokens(parsed.max_tokens, endpoint), room)
        longest = min((bound for bound in bounds if bound is not None), default=0)
        byok = self.byok_use(attempt)
        most = max_request_cost(endpoint.pricing, prompt, longest, now, byok=byok)
        high = most.cost if byok is None else most.upstream_cost
        if high is not None and high > rest:
            raise Refusal(
                402,
                "This request requires more credits, or fewer max_tokens. You requested up to "
                f"{longest} tokens, which cost more than what is left. Add credits or raise the "
                "limit of the key.",
                metadata={"error_type": "payment_required", "provider_name": None},
            )

    def check_credential(self, attempt: RouteAttempt, secrets: SecretBox) -> None:
        """Raise a 502 if the provider key of this attempt cannot be decrypted."""
        credential = attempt.credential
        encrypted = self.encrypted_keys.get(credential.id or "") if credential else None
        try:
            if encrypted is not None:
                secrets.decrypt(encrypted)
        except UnreadableSecretError:
            raise Refusal(
                502,
                "The provider key of this credential cannot be decrypted: store it again.",
                metadata={"error_type": "provider_unavailable"},
            ) from None

    def _check_free(self, now: datetime) -> None:
        free = self.free
        if free.today >= free.limit:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            message = "Rate limit exceeded: free-models-per-day. Add credits to raise the limit."
            raise _too_many(message, "daily", free.limit, midnight + timedelta(days=1), now)
        if free.last_minute >= generations.FREE_PER_MINUTE:
            message = "Rate limit exceeded: free-models-per-min."
            reset = now + timedelta(minutes=1)
            raise _too_many(message, "minute", generations.FREE_PER_MINUTE, reset, now)

    def _rest(self, attempt: RouteAttempt) -> Decimal | None:
        limit = self.record.limit_remaining
        if attempt.credential is not None:
            return limit if self.record.key["include_byok_in_limit"] else None
        if is_free(attempt.model):
            return None
        return self.balance if limit is None else min(self.balance, limit)

    def byok_use(self, attempt: RouteAttempt) -> ByokUse | None:
        """Return how an attempt on a BYOK credential is priced; None for other attempts."""
        return None if attempt.credential is None else ByokUse(used=self.byok_this_month)


def policy_of(call: OperationRequest) -> KeyPolicy:
    """Read everything that restricts the calling key.

    Raises a 402 or 403 if its budgets, the balance or the data region allow no request at all.
    """
    record = keys.find(call.db, call.known_caller["hash"], call.now)
    workspace = record and WORKSPACES.get(call.db, record.key["workspace_id"])
    if record is None or workspace is None:
        raise unauthenticated()
    key, owner = record.key, account.get(call.db)
    binding = binding_of(call.db, key)
    balance = owner.total_credits - owner.total_usage
    month = account.first_day("monthly", call.now)
    if balance < 0:
        raise _no_credits()
    _check_region(binding)
    _check_layers(applied_budgets(call.db, key, binding, call.now))
    return KeyPolicy(
        record=record,
        workspace=workspace,
        binding=binding,
        credentials=usable_credentials(
            map(ByokCredential.model_validate, byok.in_order(call.db, workspace["id"])),
            key_hash=key["hash"],
            user_id=key["creator_user_id"],
        ),
        encrypted_keys=byok.encrypted_keys(call.db, workspace["id"]),
        balance=balance,
        byok_this_month=from_pico(account.byok_since(call.db, month)),
        free=generations.free_use(call.db, owner.total_credits, call.now),
    )


def _check_region(binding: Binding) -> None:
    for guardrail in binding.values():
        regions = guardrail["allowed_data_regions"]
        if regions is not None and _REGION not in regions:
            allowed = ", ".join(region for region in REGIONS if region in regions) or "none"
            raise Refusal(
                403,
                f"This key may only be used in these data regions: {allowed}. "
                f"This gateway is in the region {_REGION}.",
                metadata={"error_type": "permission_denied"},
            )


_SPENT: Mapping[str, str] = {
    "key_limit": "Key limit exceeded ({} limit).",
    "member": "Org member budget limit exceeded ({} limit). Contact your org admin.",
    "workspace_default_member": "Org member budget limit exceeded ({} limit). "
    "Contact your org admin.",
}
"""Error messages of the budget scopes with their own wording."""


def _check_layers(layers: Sequence[Cap]) -> None:
    # Of several exhausted workspace budgets, the error names the one with the longest interval.
    exhausted = [layer for layer in layers if layer.remaining <= 0]
    if not exhausted:
        return
    first = exhausted[0]
    if first.scope == "workspace":
        spent = (layer for layer in exhausted if layer.scope == "workspace")
        broadest = min(spent, key=lambda layer: _BROADEST.index(layer.reset_interval))
        limit = f"{broadest.reset_interval or 'lifetime'} budget of {usd(broadest.limit, places=2)}"
        raise Refusal(403, f"Workspace {limit} exceeded. Contact your org admin.")
    words = _SPENT.get(first.scope, "Budget limit exceeded ({} limit). Contact your org admin.")
    raise Refusal(403, words.format(first.reset_interval or "total"))


def _no_credits() -> Refusal:
    return Refusal(
        402,
        "Insufficient credits. Add more credits to go on.",
        metadata={"error_type": "payment_required"},
    )


def _too_many(message: str, what: str, limit: int, reset: datetime, now: datetime) -> Refusal:
    headers = {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(round(reset.timestamp() * 1000)),
    }
    wait = max(1, round((reset - now).total_seconds()))
    return Refusal(
        429,
        message,
        metadata={
            "error_type": "rate_limit_exceeded",
            "headers": dict(headers),
            "limit_source": f"free_tier_{what}",
            "remedy_hint": "Wait for the reset, use a paid model or a BYOK credential.",
        },
        headers={**headers, "Retry-After": str(wait)},
    )


# Endpoints ----------------------------------------------------------------------------------------


_OUTPUTS = {"completions": "text", "embeddings": "embeddings"}
_STEPS = (FILTER_BY_GUARDRAIL, FILTER_BY_PROVIDERS, FILTER_BY_PARAMETERS)
_PRIVACY = frozenset({"no zero data retention", "may train on the data"})
_WORDS: Mapping[str, str] = {
    "model not allowed": "model-ignored-by-{}",
    "model blocked": "model-ignored-by-{}",
    "provider not allowed": "provider-not-allowed-by-{}",
    "provider blocked": "provider-not-allowed-by-{}",
    "no zero data retention": "zdr-violation-by-{}",
}
"""Reason for an exclusion -> its name in the contract; {} is its origin, such as "guardrail"."""


def select_endpoints(
    site: EmbeddedGateway,
    policy: KeyPolicy,
    parsed: ParsedRequest,
    now: datetime,
) -> Route:
    """Return the endpoints to try; models that cannot serve the request are skipped.

    Raises the Refusal of the last model if none can, and a 404 if no endpoint is left.
    """
    offers: list[ModelWithEndpoints] = []
    refusals: list[Refusal] = []
    for name in parsed.models:
        try:
            offers.append(_offers(site.catalog, requested_model(name).id, parsed, now))
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


def _offers(
    catalog: Catalog, model_id: str, parsed: ParsedRequest, now: datetime
) -> ModelWithEndpoints:
    model = catalog.model(model_id)
    if model is None:
        status = 400 if parsed.api == "completions" else 404
        kind = "invalid_request" if parsed.api == "completions" else "not_found"
        raise Refusal(
            status,
            f"{join_names([model_id])} is not a valid model ID",
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
    return _live_offers(catalog.seed, model_id, int(now.timestamp() // STEP))


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
    if exclusion.reason in {"provider not allowed", "provider blocked"}:
        return FILTER_BY_PROVIDERS
    return FILTER_BY_PARAMETERS


def _nothing_left(
    route: Route, offers: Sequence[ModelWithEndpoints], parsed: ParsedRequest
) -> Refusal:
    excluded = route.excluded
    if not excluded:
        message = f"No endpoints found for {join_names(parsed.models)}"
        return Refusal(404, message, metadata={"error_type": "not_found"})
    # The first step of the routing that excludes each endpoint.
    dropped_at = [
        min(map(_step_of, candidate.exclusions), key=_STEPS.index) for candidate in excluded
    ]
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
        slugs = (
            provider_slug(endpoint, {}) for offer in offers for endpoint in offer.endpoints or ()
        )
        metadata["available_providers"] = list(dict.fromkeys(slug for slug in slugs if slug))
    elif too_long := _too_long(excluded, parsed):
        return too_long
    else:
        reasons = dict.fromkeys(
            why.reason for candidate in excluded for why in candidate.exclusions
        )
        message = (
            f"No endpoints found that can handle the requested parameters: {'; '.join(reasons)}."
        )
    return Refusal(404, message, metadata=metadata)


def _too_long(excluded: Sequence[ExcludedEndpoint], parsed: ParsedRequest) -> Refusal | None:
    # A 400 only if some endpoints are excluded for nothing but the length of the prompt.
    only_long = [
        candidate
        for candidate in excluded
        if {why.reason for why in candidate.exclusions} <= _LENGTHS
    ]
    if not any(
        why.reason == "prompt too long" for candidate in only_long for why in candidate.exclusions
    ):
        return None
    longest = max(candidate.endpoint.context_length or 0 for candidate in only_long)
    return Refusal(
        400,
        f"This endpoint's maximum context length is {longest} tokens. However, you requested about "
        f"{parsed.prompt_tokens} tokens of input.",
        metadata={"error_type": "context_length_exceeded"},
    )


_LENGTHS = frozenset({"prompt too long", "cannot answer that long"})


def _ineligibility(excluded: Sequence[ExcludedEndpoint]) -> list[JsonValue]:
    counted: dict[str, int] = {}
    for candidate in excluded:
        for word in dict.fromkeys(_word(why, candidate.model) for why in candidate.exclusions):
            counted[word] = counted.get(word, 0) + 1
    return [{"reason": word, "endpoint_count": count} for word, count in counted.items()]


def _word(exclusion: Exclusion, model: Model) -> str:
    if exclusion.reason == "may train on the data":
        kind = "free" if is_free(model) else "paid"
        return f"{kind}-model-training-violation-by-{exclusion.rule}"
    pattern = _WORDS.get(exclusion.reason)
    return exclusion.reason.replace(" ", "-") if pattern is None else pattern.format(exclusion.rule)
