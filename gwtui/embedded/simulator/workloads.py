"""What a request of each kind of work consists of, and what it costs at an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from gwtui.embedded.simulator.catalog import CatalogEndpoint
from gwtui.embedded.simulator.usage import PICO, UsageStream

Kind = Literal[
    "chat", "agent", "documents", "code", "batch", "embed", "rank", "judge", "picture", "film",
    "speak", "listen",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shape:
    """An average request."""

    prompt: int = 0
    completion: int = 0
    extras: Mapping[str, int] | None = None
    """Quantity of what other price keys charge for."""


SHAPES: Mapping[Kind, Shape] = {
    "chat": Shape(1_700, 380),
    "agent": Shape(9_400, 720),
    "documents": Shape(21_000, 640),
    "code": Shape(6_200, 540),
    "batch": Shape(12_500, 740),
    "embed": Shape(36_000),
    "rank": Shape(extras={"request": 1}),
    "judge": Shape(800, 12),
    "picture": Shape(120, extras={"image_output": 1}),
    "film": Shape(90, extras={"request": 1}),
    "speak": Shape(260, extras={"audio_output": 1_500}),
    "listen": Shape(0, 900, extras={"audio": 14_000}),
}


def stream(
    endpoint: CatalogEndpoint, model: str, kind: Kind, *, requests_per_day: float, byok: bool
) -> UsageStream:
    """One kind of work at one endpoint."""
    shape = SHAPES[kind]
    extras = (shape.extras or {}).items()
    return UsageStream(
        model=model,
        model_permaslug=str(endpoint.wire["model_id"]),
        provider=str(endpoint.wire["provider_name"]),
        endpoint_key=endpoint.key,
        requests_per_day=requests_per_day,
        prompt_tokens=shape.prompt,
        completion_tokens=shape.completion,
        prompt_price=_pico(endpoint, "prompt"),
        completion_price=_pico(endpoint, "completion"),
        request_price=sum(quantity * _pico(endpoint, key) for key, quantity in extras),
        byok=byok,
    )


def cost(work: UsageStream) -> Decimal:
    """USD of an average request."""
    return PICO * (
        work.prompt_tokens * work.prompt_price
        + work.completion_tokens * work.completion_price
        + work.request_price
    )


def _pico(endpoint: CatalogEndpoint, key: str) -> int:
    """An endpoint's discounted price in pico-USD; 0 for what it does not charge."""
    pricing = endpoint.wire["pricing"]
    price = Decimal(pricing.get(key, "0")) * (1 - Decimal(str(pricing["discount"])))
    return int(price / PICO)
