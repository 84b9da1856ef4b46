"""Plan a test request: eligible endpoints, exclusions and worst-case cost.

The model catalog is readable with any key. The restrictions of a key need a management key; without
one, the plan lists them as unknown. After the response, the cost at catalog prices is compared with
the reported cost (see section 6 of the inference contract). It is unknown for requests on a BYOK
credential, because the gateway does not report how much of the monthly BYOK allowance is used.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pydantic import SecretStr

from gwtui.client.errors import NotFoundError, StatusError
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import ChatAnswer, EmbeddingAnswer
from gwtui.contract.byok import ByokCredential
from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import TokenUsage
from gwtui.contract.dialects import Dialect
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import Pricing
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.values import SUPPORTED_PARAMETERS
from gwtui.contract.workspaces import Workspace
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.domain.guardrail_effect import GuardrailRestrictions, restrictions_of
from gwtui.domain.money import usd
from gwtui.domain.pricing import (
    ByokUse,
    RequestCost,
    Usage,
    max_output_tokens,
    max_prompt_tokens,
    max_request_cost,
    request_cost,
)
from gwtui.domain.routing import (
    Chance,
    ExcludedEndpoint,
    RouteAttempt,
    Router,
    RouteReason,
    RouteRequest,
    requested_model,
    usable_credentials,
)
from gwtui.watch.feeds.models import read_slugs, read_zdr
from gwtui.watch.hub import single_use_reader


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """The known facts about the key of a test request.

    ``guardrails`` are the restrictions that apply to its requests, ``credentials`` the BYOK
    credentials that they may use, ``default_sort`` the provider order of its workspace.
    """

    key: ApiKey | None = None
    guardrails: tuple[GuardrailRestrictions, ...] = ()
    credentials: tuple[ByokCredential, ...] = ()
    default_sort: str | None = None
    gaps: tuple[str, ...] = ()
    """Phrases that name the data that could not be read."""
    bound: tuple[Guardrail, ...] = ()
    """The same guardrails in full, with names and content filters."""


@dataclass(frozen=True, slots=True)
class TryFacts:
    """The input of a planned test request: the requested models, the router and the key.

    ``unknown`` are requested models that the catalog does not have.
    """

    offers: tuple[ModelWithEndpoints, ...]
    router: Router
    key: KeyFacts
    unknown: tuple[str, ...] = ()
    known_models: tuple[str, ...] = ()
    """The ids of all known models; read only if a requested model is unknown."""


def key_hash(key: SecretStr) -> str:
    """Return the hash that identifies a key at the gateway.

    See section 1 of the extended contract.
    """
    return hashlib.sha256(key.get_secret_value().encode()).hexdigest()


async def read_try_facts(
    gateway: GatewayClient, models: Sequence[str], key: KeyFacts, dialect: Dialect
) -> TryFacts:
    """Read the catalog data for a request to these models. Raises GatewayError."""
    by_model, slugs, zdr = await asyncio.gather(
        asyncio.gather(*(_offers(gateway, requested_model(model).id) for model in models)),
        read_slugs(single_use_reader(gateway)),
        read_zdr(single_use_reader(gateway)),
    )
    offers = tuple(offer for offer in by_model if offer is not None)
    unknown = tuple(name for name, offer in zip(models, by_model, strict=True) if offer is None)
    listed = (await gateway.catalog.models()).items if unknown else ()
    return TryFacts(
        offers,
        Router(CatalogView(offers, slugs, zdr), dialect, key.guardrails, key.credentials),
        key,
        unknown,
        tuple(model.id for model in listed if model.id),
    )


async def read_key_facts(gateway: GatewayClient, hash: str) -> KeyFacts:
    """Read the restrictions of a key by its hash; needs a management key.

    If the key cannot be read (401, 403 or 404), the result has only ``gaps``. Raises GatewayError
    for any other failure.
    """
    try:
        key = await gateway.keys.get(hash)
    except StatusError as error:
        if error.status not in {401, 403, 404}:
            raise
        return KeyFacts(gaps=(f"what restricts the key ({error.message})",))
    workspace = await gateway.workspaces.get(key.workspace_id) if key.workspace_id else None
    bound, credentials = await asyncio.gather(
        _guardrails(gateway, key, workspace),
        gateway.byok.list(workspace_id=key.workspace_id),
    )
    guardrails = tuple(map(restrictions_of, bound))
    usable = usable_credentials(credentials.items, key_hash=key.hash, user_id=key.creator_user_id)
    if workspace is None:
        return KeyFacts(key, guardrails, usable, gaps=("the key's workspace",), bound=bound)
    return KeyFacts(
        key,
        guardrails,
        usable,
        workspace.default_provider_sort,
        bound=bound,
    )


async def _offers(gateway: GatewayClient, model_id: str) -> ModelWithEndpoints | None:
    try:
        model, read = await asyncio.gather(
            gateway.catalog.model(model_id), gateway.catalog.endpoints(model_id)
        )
    except NotFoundError:
        return None
    return ModelWithEndpoints(model, None if read.endpoints is None else tuple(read.endpoints))


async def _guardrails(
    gateway: GatewayClient, key: ApiKey, workspace: Workspace | None
) -> tuple[Guardrail, ...]:
    of_keys, of_members = await asyncio.gather(
        gateway.guardrails.key_assignments(None), gateway.guardrails.member_assignments(None)
    )
    ids = [item.guardrail_id for item in of_keys.items if item.key_hash == key.hash]
    if key.creator_user_id is not None:
        ids += [o.guardrail_id for o in of_members.items if o.user_id == key.creator_user_id]
    if workspace is not None:
        ids.append(workspace.default_guardrail_id)
    guardrails = []
    for id in dict.fromkeys(identity for identity in ids if identity):
        try:
            guardrails.append(await gateway.guardrails.get(id))
        except NotFoundError:
            continue  # a default guardrail that nobody changed yet
    return tuple(guardrails)


@dataclass(frozen=True, slots=True)
class CapAdvice:
    """What to do about the maximum cost, worded for the form or for the command line.

    ``unknown`` is for an unknown worst-case cost, ``above`` for one above the maximum.
    """

    unknown: str
    above: str


ON_COMMAND_LINE = CapAdvice(
    "--max-cost none sends it anyway",
    "lower --max-tokens, shorten the prompt, or raise --max-cost",
)

TryRequest = ChatRequest | EmbeddingRequest
DEFAULT_MAX_COST = Decimal("0.05")
"""Default maximum cost of one test request, in USD."""
_BYTES_PER_TOKEN = 4
"""Average used to estimate prompt lengths; upper bounds assume 1."""


@dataclass(frozen=True, slots=True)
class PlannedTry:
    """An endpoint that may serve the request; ``most`` is its worst-case cost there.

    With a BYOK credential, the provider's charge is included.
    """

    attempt: RouteAttempt
    most: RequestCost | None

    @property
    def most_cost(self) -> Decimal | None:
        """Worst-case cost in USD; None if a price or a length is unknown."""
        if self.most is None or self.most.cost is None:
            return None
        return self.most.cost + (self.most.upstream_cost or 0)


@dataclass(frozen=True, slots=True)
class TryPlan:
    """The plan of a test request.

    ``order`` are the endpoints in routing order, although the first one is often picked at random.
    ``not_read`` are phrases that name the data that could not be read.
    """

    order: tuple[PlannedTry, ...]
    excluded: tuple[ExcludedEndpoint, ...]
    not_read: tuple[str, ...]

    @property
    def most_cost(self) -> Decimal | None:
        """Worst-case cost in USD over all endpoints; None if unknown."""
        costs = [planned.most_cost for planned in self.order]
        if not costs or any(cost is None for cost in costs):
            return None
        return max(cost for cost in costs if cost is not None)

    @property
    def endpoint_count(self) -> int:
        """Number of endpoints of the requested models, including those excluded from routing."""
        return len({id(planned.attempt.endpoint) for planned in self.order}) + len(self.excluded)


def try_plan(request: TryRequest, facts: TryFacts, moment: datetime, chance: Chance) -> TryPlan:
    """Return the plan of a request that is sent at ``moment``."""
    prompt = max_prompt_tokens(request)
    asked = _route_request(request, facts, moment, prompt)
    route = facts.router.route(facts.offers, asked, chance)
    planned = tuple(
        PlannedTry(attempt, _most(request, attempt, prompt, moment)) for attempt in route.attempts
    )
    return TryPlan(
        planned,
        route.excluded,
        (*facts.key.gaps, *(f"which endpoints fall under: {why}" for why in route.unknown)),
    )


def models_of(request: TryRequest) -> tuple[str, ...]:
    """Return the models that a request names, in order."""
    fallbacks = request.models if isinstance(request, ChatRequest) else None
    return tuple(dict.fromkeys([*([request.model] if request.model else []), *(fallbacks or [])]))


def cap_problem(
    plan: TryPlan, max_cost: Decimal | None, ways: CapAdvice = ON_COMMAND_LINE
) -> str | None:
    """Return why a request exceeds the maximum cost in USD; None if it may be sent."""
    if max_cost is None or (not plan.order and plan.endpoint_count):
        return None  # nothing left: the gateway refuses it, which costs nothing
    most = plan.most_cost
    if most is None:
        return (
            "the worst-case cost is unknown: a price or the maximum output is missing; "
            f"{ways.unknown}"
        )
    if most > max_cost:
        return (
            f"it may cost up to {usd(most)}, more than the maximum of {usd(max_cost)}: {ways.above}"
        )
    return None


def _route_request(
    request: TryRequest, facts: TryFacts, moment: datetime, prompt: int | None
) -> RouteRequest:
    chat = request if isinstance(request, ChatRequest) else None
    first = requested_model(request.model) if request.model else None
    preferences = request.provider or ProviderPreferences()
    given = request.model_fields_set & set(SUPPORTED_PARAMETERS)
    return RouteRequest(
        moment=moment,
        preferences=preferences,
        service_tier=(chat.service_tier if chat else None) or (first.tier if first else None),
        parameters=frozenset(given),
        prompt_tokens=(prompt or 0) // _BYTES_PER_TOKEN,
        max_tokens=chat.output_limit if chat else None,
        default_sort=(first.sort if first else None) or facts.key.default_sort,
    )


def _most(
    request: TryRequest, attempt: RouteAttempt, prompt: int | None, moment: datetime
) -> RequestCost | None:
    endpoint = attempt.endpoint
    chat = request if isinstance(request, ChatRequest) else None
    output = max_output_tokens(chat.output_limit, endpoint) if chat else 0
    if endpoint.pricing is None or prompt is None or output is None:
        return None
    return max_request_cost(
        endpoint.pricing,
        prompt,
        output,
        moment,
        byok=ByokUse() if attempt.credential is not None else None,
        writes_cache=chat is not None and chat.cache_control is not None,
    )


def exclusion_reasons(excluded: ExcludedEndpoint) -> tuple[RouteReason, ...]:
    """Return the distinct reasons for an exclusion."""
    return tuple(dict.fromkeys(exclusion.reason for exclusion in excluded.exclusions))


_STANDARD = frozenset({None, "auto", "default", "standard"})
"""Names of the standard tier, which endpoints report as null."""


def expected_chat_cost(facts: TryFacts, answer: ChatAnswer, moment: datetime) -> RequestCost | None:
    """Return the cost, at catalog prices, of an answer received at ``moment``.

    None if it is unknown: usage is missing, a BYOK credential was used, no endpoint of the provider
    is in the catalog, or several are, with different prices.
    """
    usage = answer.usage
    if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    if usage.is_byok:
        return None
    priced = _prices(facts, answer.model, answer.provider, answer.service_tier)
    return _expected(priced, _used(usage, moment), answer.cost)


def expected_embedding_cost(
    facts: TryFacts, answer: EmbeddingAnswer, moment: datetime
) -> RequestCost | None:
    """Return the cost of embeddings at catalog prices; None as in ``expected_chat_cost``."""
    usage, result = answer.result.usage, answer.result
    if usage is None or usage.prompt_tokens is None or usage.is_byok:
        return None
    used = Usage(prompt_tokens=usage.prompt_tokens, completion_tokens=0, moment=moment)
    return _expected(_prices(facts, result.model, result.provider, None), used, usage.cost)


def _prices(
    facts: TryFacts, model: str | None, provider: str | None, tier: str | None
) -> list[Pricing]:
    return [
        endpoint.pricing
        for offers in facts.offers
        for endpoint in offers.endpoints or ()
        if endpoint.pricing is not None
        and provider in {None, endpoint.provider_name}
        and endpoint.service_tier == (None if tier in _STANDARD else tier)
        and model in {None, offers.model.id, offers.model.canonical_slug}
    ]


def _expected(
    prices: Sequence[Pricing], used: Usage, charged: Decimal | None
) -> RequestCost | None:
    # The data discount applies only to workspaces that log: the reported cost tells.
    costs = [request_cost(price, used) for price in prices]
    if not costs or len({cost.cost for cost in costs}) > 1:
        return None
    logged = request_cost(prices[0], used, data_discount=True)
    return logged if charged is not None and charged == logged.cost else costs[0]


def _used(usage: TokenUsage, moment: datetime) -> Usage:
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
        moment=moment,
        parts={
            "input_cache_read": (prompt.cached_tokens if prompt else None) or 0,
            "input_cache_write": (prompt.cache_write_tokens if prompt else None) or 0,
            "internal_reasoning": (completion.reasoning_tokens if completion else None) or 0,
        },
    )
