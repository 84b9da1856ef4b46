"""The data files of the simulated world, ``gwtui/embedded/world``, and the fields of their entries.

A field that a table leaves out has the default below. Ages are days before the world's moment,
prices and amounts are texts of decimal USD, and people are named by their handle in ``users.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from gwtui.contract.budgets import BudgetInterval
from gwtui.contract.values import LimitReset
from gwtui.embedded.simulator.usage import RhythmName
from gwtui.lazy_dataclass import dataclass

T = TypeVar("T")

_FOLDER = Path(__file__).resolve().parent.parent / "world"

Condition = Literal["healthy", "degraded", "down", "sparse", "idle"]
"""``sparse`` has too few requests for a five-minute uptime, ``idle`` has none at all."""

Workload = Literal[
    "decisions", "embeddings", "image_generation", "rerank", "stt", "text_generation", "tts",
    "video_generation",
]  # fmt: skip

WorkKind = Literal[
    "chat", "agent", "documents", "code", "batch", "embed", "rank", "judge", "picture", "film",
    "speak", "listen",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEntry:
    """A provider."""

    slug: str
    name: str
    headquarters: str | None = None
    datacenters: list[str] | None = None
    no_pages: tuple[Literal["policies", "status"], ...] = ()
    """What it publishes no page of."""
    zero_retention: Literal["always", "standard"] | None = None
    """Whether nothing of a request outlives it, always or at the standard service tier only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointEntry:
    """One provider's offer of a model. None means: as the model has it."""

    provider: str
    price: Mapping[str, Any] = field(default_factory=dict)
    """Token prices in USD per million, the others per unit; ``discount`` is a share."""
    overrides: tuple[Mapping[str, Any], ...] = ()
    """Prices above so many prompt tokens, within a UTC window (HHMM), on days."""
    latency: float
    throughput: float | None = None
    requests: int = 400
    condition: Condition = "healthy"
    variant: str = ""
    """What follows the provider's slug in the tag, such as ``fp8`` or ``flex``."""
    quantization: str | None = None
    tier: str | None = None
    status: int = 0
    context: int | None = None
    max_output: int | None = None
    max_prompt: int | None = None
    parameters: tuple[str, ...] | None = None
    caching: bool = False
    native_tools: Mapping[str, str] = field(default_factory=dict)
    """Canonical tool name without prefix -> the provider's tool type."""
    moderated: bool = False
    diarization: bool = False
    image_reference: bool = False
    audio_references: bool = False
    voice_cloning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model and who serves it."""

    id: str
    name: str
    created: str
    """Day of release, YYYY-MM-DD."""
    description: str
    endpoint: tuple[Mapping[str, Any], ...]
    """Fields of ``EndpointEntry``."""
    context: int | None = None
    inputs: tuple[str, ...] = ("text",)
    outputs: tuple[str, ...] = ("text",)
    workloads: tuple[Workload, ...] = ("text_generation",)
    tokenizer: str = "Other"
    instruct: str | None = None
    parameters: tuple[str, ...] = ()
    voices: tuple[str, ...] | None = None
    defaults: Mapping[str, float] | None = None
    request_limits: tuple[int, int] | None = None
    """Prompt and completion tokens that one request may have, where the gateway caps them."""
    reasoning: Mapping[str, Any] | None = None
    knowledge_cutoff: str | None = None
    expires: str | None = None
    """Day the model is withdrawn, YYYY-MM-DD."""
    hugging_face_id: str | None = None
    categories: tuple[str, ...] = ()
    """What it is good at."""
    rank: Mapping[str, float] = field(default_factory=dict)
    """Fields of ``ModelRank``."""

    @property
    def endpoints(self) -> tuple[EndpointEntry, ...]:
        """The offers, the first being the model's own default."""
        return tuple(EndpointEntry(**with_tuples(offer)) for offer in self.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEntry:
    """A person of the organization."""

    handle: str
    first_name: str | None = None
    last_name: str | None = None
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceEntry:
    """A workspace with its members and budgets."""

    slug: str
    name: str
    description: str | None = None
    age: int
    changed: float | None = None
    creator: str | None = None
    members: tuple[str, ...] = ()
    """The default workspace needs none: the whole organization is in it."""
    budgets: Mapping[BudgetInterval, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the contract's workspace object."""


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work of a key at one endpoint. ``share`` is its part of the key's spending."""

    endpoint: str
    kind: WorkKind
    share: float = 1.0
    byok: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEntry:
    """An API key and what its clients do."""

    name: str
    workspace: str
    age: float
    creator: str | None = None
    rhythm: RhythmName = "office"
    usd_per_day: float = 0.0
    """What it spends on an average day, or what it asks for on a free model (in requests)."""
    work: tuple[Mapping[str, Any], ...] = ()
    """Fields of ``Work``. Empty: never used."""
    limit: str | None = None
    reset: LimitReset | None = None
    used: float | None = None
    """Share of the limit that is used by now; sets the spending instead of ``usd_per_day``."""
    counts_byok: bool = False
    expires: float | None = None
    """Days from now; negative for a key that has expired."""
    disabled: float | None = None
    """Days since it was disabled."""
    abandoned: float | None = None
    """Days since the last client went away."""
    changed: float | None = None
    external_user: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailEntry:
    """A guardrail and whom it binds."""

    workspace: str
    name: str = ""
    """Empty for the workspace's default guardrail."""
    age: float
    changed: float | None = None
    keys: tuple[str, ...] = ()
    """Names."""
    members: tuple[str, ...] = ()
    """One person is bound by one guardrail at most."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the contract's guardrail object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialEntry:
    """A BYOK credential."""

    workspace: str
    provider: str
    name: str | None = None
    age: float
    prefix: str = "sk-"
    keys: tuple[str, ...] | None = None
    """Names of the keys that may use it; None for all."""
    users: tuple[str, ...] | None = None
    """The people who may use it; None for all."""
    terms: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the contract's credential object."""


_KINDS = {
    "provider": ProviderEntry,
    "model": ModelEntry,
    "user": UserEntry,
    "workspace": WorkspaceEntry,
    "key": KeyEntry,
    "guardrail": GuardrailEntry,
    "credential": CredentialEntry,
}


@cache
def entries(kind: type[T]) -> tuple[T, ...]:
    """The entries of a kind in the order of its file. Raises TypeError for an unknown field."""
    name = next(name for name, known in _KINDS.items() if known is kind)
    return tuple(kind(**with_tuples(entry)) for entry in _read(f"{name}s")[name])


@cache
def parameter_groups() -> Mapping[str, tuple[str, ...]]:
    """Names of parameters by the name of the group that stands for them in a list."""
    return with_tuples(_read("models")["groups"])


@cache
def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


def with_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a table with its own arrays as tuples; what is deeper inside stays as it is."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()
    }
