"""Which part of the tokens is thought and which comes from a cache, endpoint by endpoint."""

from __future__ import annotations

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.chance import between

_THOUGHT = (0.35, 0.8)
_CACHED = (0.15, 0.6)


def reasoning_tokens(catalog: Catalog, endpoint: CatalogEndpoint, completion_tokens: int) -> int:
    """How many completion tokens are reasoning; none for a model that does not reason."""
    model = catalog.model(endpoint.model_id)
    if model is None or model.wire.get("reasoning") is None:
        return 0
    return int(completion_tokens * between(*_THOUGHT, 0, "reasoning", endpoint.key))


def cached_tokens(endpoint: CatalogEndpoint, prompt_tokens: int) -> int:
    """How many prompt tokens are read from a cache; none where there is no implicit caching."""
    if not endpoint.wire["supports_implicit_caching"]:
        return 0
    return int(prompt_tokens * between(*_CACHED, 0, "cached", endpoint.key))
