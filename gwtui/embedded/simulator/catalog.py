"""The catalog: models, their endpoints and the providers, in generic names.

Built from ``world/models.toml`` and ``world/providers.toml``, whose comments explain each field.
The catalog is constant. The live figures of an endpoint (latency, throughput, uptime) are functions
of the moment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from math import cos, tau
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from gwtui.contract.models import Endpoint, Model
from gwtui.contract.values import TOOL_CHOICES
from gwtui.domain.catalog import CatalogView, EndpointKey, ModelWithEndpoints, endpoint_key
from gwtui.embedded.simulator.seeded_random import between, smooth, uuid_text

_FOLDER = Path(__file__).resolve().parent.parent / "world"


def entries(kind: str) -> list[dict[str, Any]]:
    """Return the tables of a kind in the data files, such as ``key``, in their order."""
    tables: list[dict[str, Any]] = _read(f"{kind}s")[kind]
    return tables


@cache
def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


_DEFAULTS = (
    *("temperature", "top_p", "top_k"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty"),
)
_EUROPEAN_UNION = frozenset({"DE", "FI", "FR", "IE", "NL", "SE"})
"""EU member states with a data centre of a provider in the catalog."""
TOOL_PREFIX = "service:"

Entry = Mapping[str, Any]
"""A TOML table of a data file."""
WireObject = Mapping[str, Any]
"""A JSON object of the contract. Shared and read-only: copy it before adding fields."""


@dataclass(frozen=True)
class CatalogEndpoint:
    """A model at one provider."""

    key: str
    """``author/slug|tag``, unique in the catalog."""
    wire: WireObject
    """The contract's endpoint object without its live figures."""
    offer: Entry
    model: Entry
    provider: Entry

    @cached_property
    def id(self) -> str:
        """UUID of the endpoint, the same for every seed."""
        return uuid_text(0, "endpoint", self.key)

    @property
    def model_id(self) -> str:
        """Identifier of the model, author/slug."""
        return self.key.partition("|")[0]

    @property
    def workloads(self) -> list[str]:
        """The kinds of requests that it serves, the main one first."""
        return self.model.get("workloads") or ["text_generation"]

    @property
    def latency_ms(self) -> float:
        """Median time to the first token, or to the complete image or video, in milliseconds."""
        return float(self.offer["latency"])

    @property
    def throughput(self) -> float | None:
        """Median tokens per second; None for models without tokens."""
        return self.offer.get("throughput")

    @property
    def requests(self) -> int:
        """Requests in an average half hour."""
        return int(self.offer.get("requests", 400))

    @property
    def condition(self) -> str:
        """How live figures behave: ``healthy``, ``degraded``, ``down``, ``sparse`` or ``idle``."""
        return str(self.offer.get("condition", "healthy"))

    @property
    def regions(self) -> frozenset[str]:
        """The regions of the provider's published data centres: ``eu``, ``us``, both or none."""
        countries = frozenset(self.provider.get("datacenters", ()))
        european = {"eu"} if countries & _EUROPEAN_UNION else set()
        return frozenset(european | ({"us"} if "US" in countries else set()))

    @property
    def is_zero_retention(self) -> bool:
        """Whether this endpoint retains no data."""
        promise = self.provider.get("zero_retention")
        return promise == "always" or (promise == "standard" and self.wire["service_tier"] is None)

    @property
    def may_train(self) -> bool:
        """Whether the provider may train on requests.

        True if it publishes no policy and the endpoint retains data.
        """
        return "policies" in self.provider.get("no_pages", ()) and not self.is_zero_retention

    def reasoning_tokens(self, completion_tokens: int) -> int:
        """Return the number of reasoning tokens; 0 for a model that does not reason."""
        if "reasoning" not in self.model:
            return 0
        return int(completion_tokens * between(0.35, 0.8, 0, "reasoning", self.key))

    def cached_tokens(self, prompt_tokens: int) -> int:
        """Return the number of prompt tokens read from a cache; 0 without implicit caching."""
        if not self.wire["supports_implicit_caching"]:
            return 0
        return int(prompt_tokens * between(0.15, 0.6, 0, "cached", self.key))


@dataclass(frozen=True)
class CatalogModel:
    """A model and its endpoints."""

    wire: WireObject
    """The model object of GET /models."""
    endpoints: tuple[CatalogEndpoint, ...]

    @property
    def id(self) -> str:
        """Model identifier, author/slug, with its variant such as ``:free``, if any."""
        return str(self.wire["id"])

    @property
    def entry(self) -> Entry:
        """The model's table in the data file; variants such as ``:free`` have the same."""
        return _model_entries().get(self.id.partition(":")[0], {})

    def rank(self, figure: str) -> Decimal | None:
        """Return a benchmark figure, such as "coding" or "arena"; None if unknown."""
        value = self.entry.get("rank", {}).get(figure)
        return None if value is None else Decimal(str(value))

    @property
    def popularity(self) -> int:
        """Requests in an average half hour, over all endpoints."""
        return sum(endpoint.requests for endpoint in self.endpoints)

    @property
    def is_distillable(self) -> bool:
        """Whether other models may be trained on its output: true for open weights."""
        return self.wire["hugging_face_id"] is not None


@dataclass(frozen=True)
class Catalog:
    """All models, endpoints and providers of one seed."""

    seed: int
    """The seed of the live figures."""
    models: tuple[CatalogModel, ...]
    """All models, newest first, as in GET /models."""
    providers: tuple[WireObject, ...]

    @cached_property
    def _models(self) -> Mapping[str, CatalogModel]:
        return {model.id: model for model in self.models}

    @cached_property
    def _endpoints(self) -> Mapping[str, CatalogEndpoint]:
        return {item.key: item for model in self.models for item in model.endpoints}

    def canonical_slug(self, slug: str) -> str:
        """Return the permanent name of a model slug; any other text is unchanged."""
        model = self._models.get(slug)
        return slug if model is None else str(model.wire["canonical_slug"])

    def model(self, model_id: str) -> CatalogModel | None:
        """Return the model with an author/slug identifier; None if it does not exist."""
        return self._models.get(model_id)

    def endpoint(self, key: str) -> CatalogEndpoint:
        """Return the endpoint with this key. Raises KeyError."""
        return self._endpoints[key]


@lru_cache(maxsize=4)
def build_catalog(seed: int) -> Catalog:
    """Return the catalog of a seed, cached.

    Names and prices are the same for every seed; the live figures differ.
    """
    return Catalog(seed, _models(), tuple(map(_provider_object, entries("provider"))))


@lru_cache(maxsize=4)
def catalog_view(seed: int) -> CatalogView:
    """Return the catalog of a seed in the form that ``domain/routing.py`` reads.

    Without live figures; cached.
    """
    catalog = build_catalog(seed)

    def keys(holds: Callable[[CatalogEndpoint], bool]) -> frozenset[EndpointKey]:
        return frozenset(endpoint_key(read[item.key]) for item in items if holds(item))

    items = [item for model in catalog.models for item in model.endpoints]
    read = {
        endpoint.key: Endpoint.model_validate(endpoint.wire)
        for model in catalog.models
        for endpoint in model.endpoints
    }
    return CatalogView(
        offers=tuple(
            ModelWithEndpoints(
                Model.model_validate(model.wire),
                tuple(read[endpoint.key] for endpoint in model.endpoints),
            )
            for model in catalog.models
        ),
        provider_slugs={provider["name"]: provider["slug"] for provider in catalog.providers},
        zdr=keys(lambda endpoint: endpoint.is_zero_retention),
        training=keys(lambda endpoint: endpoint.may_train),
        distillable=frozenset(model.id for model in catalog.models if model.is_distillable),
    )


@cache
def _model_entries() -> Mapping[str, Entry]:
    return {entry["id"]: entry for entry in entries("model")}


@cache
def _models() -> tuple[CatalogModel, ...]:
    models = map(_model, entries("model"))
    return tuple(sorted(models, key=lambda model: (-int(model.wire["created"]), model.id)))


def _model(entry: Entry) -> CatalogModel:
    providers = {provider["slug"]: provider for provider in entries("provider")}
    endpoints = []
    for offer in entry["endpoint"]:
        provider = providers[offer["provider"]]
        wire = _endpoint_object(entry, offer, provider)
        key = f"{entry['id']}|{wire['tag']}"
        endpoints.append(CatalogEndpoint(key, wire, offer, entry, provider))
    cheapest = min(endpoints, key=_expense)
    return CatalogModel(_model_object(entry, cheapest.wire["pricing"]), tuple(endpoints))


def _provider_object(entry: Entry) -> WireObject:
    slug, missing = entry["slug"], entry.get("no_pages", ())
    legal = None if "policies" in missing else f"https://{slug}.example/legal"
    return {
        "name": entry["name"],
        "slug": slug,
        "privacy_policy_url": legal and f"{legal}/privacy",
        "terms_of_service_url": legal and f"{legal}/terms",
        "status_page_url": None if "status" in missing else f"https://status.{slug}.example",
        "headquarters": entry.get("headquarters"),
        "datacenters": entry.get("datacenters"),
    }


def _permaslug(model: Entry) -> str:
    return f"{model['id'].split(':')[0]}-{model['created'].replace('-', '')}"


def _model_object(model: Entry, pricing: WireObject) -> WireObject:
    inputs, outputs = model.get("inputs", ["text"]), model.get("outputs", ["text"])
    first, context = model["endpoint"][0], model.get("context")
    limits, defaults = model.get("request_limits"), model.get("defaults")
    wire: dict[str, Any] = {
        "id": model["id"],
        "canonical_slug": _permaslug(model),
        "hugging_face_id": model.get("hugging_face_id"),
        "name": model["name"],
        "created": int(datetime.fromisoformat(model["created"]).replace(tzinfo=UTC).timestamp()),
        "description": model["description"],
        "context_length": context,
        "architecture": {
            "modality": f"{'+'.join(inputs)}->{'+'.join(outputs)}",
            "input_modalities": inputs,
            "output_modalities": outputs,
            "instruct_type": model.get("instruct"),
            "tokenizer": model.get("tokenizer", "Other"),
        },
        "pricing": pricing,
        "top_provider": {
            "context_length": first.get("context", context),
            "max_completion_tokens": first.get("max_output"),
            "is_moderated": first.get("moderated", False),
        },
        "per_request_limits": limits
        and dict(zip(("prompt_tokens", "completion_tokens"), limits, strict=True)),
        "supported_parameters": _parameters(model.get("parameters", ())),
        "supported_voices": model.get("voices"),
        "default_parameters": defaults and {name: defaults.get(name) for name in _DEFAULTS},
        "links": {"details": f"/api/v1/models/{model['id']}/endpoints"},
        "knowledge_cutoff": model.get("knowledge_cutoff"),
        "expiration_date": model.get("expires"),
    }
    if "reasoning" in model:
        wire["reasoning"] = model["reasoning"]
    return wire


def _endpoint_object(model: Entry, offer: Entry, provider: Entry) -> WireObject:
    variant = offer.get("variant")
    tools = offer.get("native_tools", {})
    return {
        "name": f"{provider['name']} | {_permaslug(model)}",
        "model_id": _permaslug(model),
        "model_name": model["name"],
        "provider_name": provider["name"],
        "tag": f"{provider['slug']}/{variant}" if variant else provider["slug"],
        "context_length": offer.get("context", model.get("context")),
        "max_completion_tokens": offer.get("max_output"),
        "max_prompt_tokens": offer.get("max_prompt"),
        "quantization": offer.get("quantization"),
        "service_tier": offer.get("tier"),
        "status": offer.get("status", 0),
        "supported_parameters": _parameters(offer.get("parameters", model.get("parameters", ()))),
        "supports_implicit_caching": offer.get("caching", False),
        "supports_diarization": offer.get("diarization", False),
        "supports_image_reference": offer.get("image_reference", False),
        "supports_multiple_audio_references": offer.get("audio_references", False),
        "supports_voice_cloning": offer.get("voice_cloning", False),
        "supports_tool_choice": dict.fromkeys(TOOL_CHOICES, False),
        "native_tools": {f"{TOOL_PREFIX}{name}": {"type": kind} for name, kind in tools.items()},
        "pricing": _pricing(offer),
    }


def _expense(endpoint: CatalogEndpoint) -> tuple[bool, Decimal, Decimal]:
    # The order of the default routes: healthy standard endpoints first, then by price.
    pricing = endpoint.wire["pricing"]
    prices = {key: Decimal(value) for key, value in pricing.items() if isinstance(value, str)}
    share = 1 - Decimal(str(pricing["discount"]))
    off_route = "tier" in endpoint.offer or endpoint.condition in {"down", "idle"}
    tokens = prices["prompt"] + prices["completion"]
    return off_route, tokens * share, sum(prices.values(), Decimal(0)) * share


def _pricing(offer: Entry) -> WireObject:
    pricing = {"prompt": "0", "completion": "0", **offer.get("pricing", {})}
    pricing.setdefault("discount", 0)
    return {**pricing, "overrides": offer["overrides"]} if "overrides" in offer else pricing


def _parameters(names: list[str]) -> list[str]:
    return [
        parameter
        for name in names
        for parameter in (_read("models")["groups"][name[1:]] if name.startswith("@") else [name])
    ]


# Live figures -----------------------------------------------------------------------------------

MINUTE = 60
DAY = 86_400
BAD_MINUTE = 0.2
"""Share of failed attempts above which a minute does not count as good in ``uptime_last_1d``."""
_SAMPLES = {5 * MINUTE: 5, 30 * MINUTE: 10, DAY: 48}
"""Length of a window in seconds -> number of moments at which its uptime is sampled."""


class _Habit(NamedTuple):
    """How often endpoints of a condition fail: shares of attempts from ``least`` to ``most``."""

    least: float = 0.0
    most: float = 0.009
    in_incident: float = 0.6
    """Share of attempts that also fail at the height of an incident."""
    calm: float = 0.96
    """Approximate share of the time without an incident."""
    hours: int = 4
    """Hours between the random values that incidents follow."""


_GOOD = _Habit()
_HABITS = {
    "degraded": _Habit(least=0.05, most=0.13, in_incident=0.5, calm=0.6, hours=2),
    "down": _Habit(least=0.96, most=1.0, in_incident=0.0, calm=1.0),
}


def incident_strength(seed: int, endpoint: CatalogEndpoint, at: float) -> float:
    """Return the strength of an incident at a moment: 0 without one, at most 1 at its height."""
    habit = _HABITS.get(endpoint.condition, _GOOD)
    trouble = smooth(seed, f"incident:{endpoint.key}", at / (habit.hours * 60 * MINUTE))
    return (trouble - habit.calm) / (1 - habit.calm) if trouble > habit.calm else 0.0


def failure_share(seed: int, endpoint: CatalogEndpoint, at: float) -> float:
    """Return the share of attempts that fail at a moment (seconds since the epoch), 0..1."""
    habit = _HABITS.get(endpoint.condition, _GOOD)
    # Cubed, so that a good endpoint is close to its best most of the time.
    luck = smooth(seed, f"fail:{endpoint.key}", at / (10 * MINUTE)) ** 3
    usual = habit.least + (habit.most - habit.least) * luck
    return min(1.0, usual + habit.in_incident * incident_strength(seed, endpoint, at))


def _failure_shares(
    seed: int, endpoint: CatalogEndpoint, at: float, window: int
) -> Iterator[float]:
    step = window / _SAMPLES[window]
    for index in range(_SAMPLES[window]):
        yield failure_share(seed, endpoint, at - (index + 0.5) * step)


STEP = 15
"""Seconds for which the live figures stay constant."""

_SECOND_WORKLOAD_SHARE = 0.35
_PICTURE_DELAY = 3.5
"""Time of a complete image, as a multiple of the model's time to the first token."""
_DOWN_DELAY = 4.0
_DOWN_TRAFFIC = 0.05


def live_figures(catalog: Catalog, endpoint_key: str, moment: datetime) -> dict[str, Any]:
    """Return the live fields of an endpoint object at a moment, to add to ``CatalogEndpoint.wire``.

    ``latency_last_30m`` (ms), ``throughput_last_30m`` (tokens/s), ``perf_last_30m_by_workload``,
    ``uptime_last_5m``, ``uptime_last_30m`` and ``uptime_last_1d`` (%). Without traffic the figures
    are null and no workload is listed. Raises KeyError for an unknown endpoint.
    """
    seed, endpoint = catalog.seed, catalog.endpoint(endpoint_key)
    at = float(moment.timestamp() // STEP * STEP)
    performance: dict[str, Any] = {}
    uptimes: dict[int, float | None] = dict.fromkeys(_SAMPLES)
    if endpoint.condition != "idle":
        performance = _performance(seed, endpoint, at)
        # A minute with fewer than ten attempts does not count towards an uptime.
        windows = [30 * MINUTE] if endpoint.condition == "sparse" else uptimes
        for window in windows:
            shares = list(_failure_shares(seed, endpoint, at, window))
            if window == DAY:
                shares = [float(share > BAD_MINUTE) for share in shares]
            uptimes[window] = round(100 * (1 - fmean(shares)), 3)
    main: dict[str, Any] = next(iter(performance.values()), {})
    return {
        "latency_last_30m": main.get("latency"),
        "throughput_last_30m": main.get("throughput"),
        "perf_last_30m_by_workload": performance,
        "uptime_last_5m": uptimes[5 * MINUTE],
        "uptime_last_30m": uptimes[30 * MINUTE],
        "uptime_last_1d": uptimes[DAY],
    }


def _performance(seed: int, endpoint: CatalogEndpoint, at: float) -> dict[str, Any]:
    # One entry per workload, the model's main one first.
    down = endpoint.condition == "down"
    load = _load(seed, endpoint.key, at)
    slowness = (
        (1 + 2.2 * incident_strength(seed, endpoint, at))
        * (0.86 + 0.14 * load)
        * (_DOWN_DELAY if down else 1)
    )
    traffic = endpoint.requests * load * (_DOWN_TRAFFIC if down else 1)
    shares = _shares(len(endpoint.workloads))
    workloads: dict[str, Any] = {}
    for position, (workload, share) in enumerate(zip(endpoint.workloads, shares, strict=True)):
        delay = _PICTURE_DELAY if position and workload == "image_generation" else 1.0
        workloads[workload] = {
            "latency": _latency(
                seed, f"{endpoint.key}:{workload}", at, endpoint.latency_ms * delay * slowness
            ),
            "throughput": _throughput(seed, endpoint, workload, at, slowness),
            "request_count": round(traffic * share),
        }
    return workloads


def _shares(workloads: int) -> tuple[float, ...]:
    return (1.0,) if workloads == 1 else (1 - _SECOND_WORKLOAD_SHARE, _SECOND_WORKLOAD_SHARE)


def _load(seed: int, key: str, at: float) -> float:
    # Traffic relative to the average of the day, shifted by the customers' time zone.
    hour = at / 3600 + between(-3, 3, seed, "shift", key)
    busy = 1 - 0.26 * cos((hour - 2.5) / 24 * tau)
    return busy * (0.8 + 0.4 * smooth(seed, f"load:{key}", at / 900))


_LATENCY_STEPS = ((75, 1.2, 0.15, 11), (90, 1.3, 0.25, 8), (99, 1.5, 0.9, 5))
_SPEED_STEPS = ((75, 0.78, 0.1, 12), (90, 0.7, 0.14, 8), (99, 0.45, 0.25, 6))
"""Each step: percentile, minimum ratio to the one before, range of the ratio, minutes to vary."""


def _percentiles(
    seed: int,
    name: str,
    at: float,
    p50: float,
    steps: Iterable[tuple[int, float, float, int]],
    digits: int | None = None,
) -> dict[str, float]:
    percentiles = {"p50": p50}
    for percentile, low, span, minutes in steps:
        wander = smooth(seed, f"p{percentile}:{name}", at / (minutes * MINUTE))
        p50 *= low + span * wander
        percentiles[f"p{percentile}"] = p50
    return {percentile: round(value, digits) for percentile, value in percentiles.items()}


def _latency(seed: int, name: str, at: float, typical: float) -> dict[str, float]:
    # In milliseconds, ascending by percentile.
    factor = between(0.92, 1.08, seed, "latency", name)
    p50 = typical * factor * (0.9 + 0.2 * smooth(seed, f"p50:{name}", at / (7 * MINUTE)))
    return _percentiles(seed, name, at, p50, _LATENCY_STEPS)


def _throughput(
    seed: int, endpoint: CatalogEndpoint, workload: str, at: float, slowness: float
) -> dict[str, float] | None:
    # Tokens per second. pN is reached by N % of requests, so the values descend by percentile.
    typical = endpoint.throughput
    if typical is None or workload != "text_generation":
        return None
    name = f"speed:{endpoint.key}"
    wander = smooth(seed, f"p50:{name}", at / (9 * MINUTE))
    p50 = typical / slowness**0.6 * (0.92 + 0.16 * wander)
    return _percentiles(seed, name, at, p50, _SPEED_STEPS, 1)
