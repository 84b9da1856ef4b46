"""The world behind the embedded gateway: seeded, deterministic, pure functions of (seed, moment).

Nothing here stores, sleeps or serves. The gateway stores what must outlive a restart (the seed, the
moment of birth, each key's counters and how far its usage has been accrued) and asks again.

A module is loaded when the first of its names is asked for: a gateway that was founded before runs
without the data of the world until somebody asks for the catalog. Who is loaded with the gateway
asks by the name of the package, as in ``simulator.live_figures``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gwtui.embedded.simulator.build import build_world
    from gwtui.embedded.simulator.catalog import (
        Catalog,
        CatalogEndpoint,
        CatalogModel,
        build_catalog,
    )
    from gwtui.embedded.simulator.figures import endpoints_answer, live_figures
    from gwtui.embedded.simulator.traits import (
        ModelRank,
        cached_tokens,
        is_distillable,
        is_zero_retention,
        may_train,
        popularity,
        rank_of,
        reasoning_tokens,
        regions_of,
        zero_retention_endpoints,
    )
    from gwtui.embedded.simulator.usage import (
        UsageProfile,
        UsageSlice,
        UsageTotals,
        accrual,
        accrued,
        accrued_by_day,
    )
    from gwtui.embedded.simulator.world import (
        SeedKey,
        SeedWorkspace,
        World,
    )

__all__ = [
    "Catalog",
    "CatalogEndpoint",
    "CatalogModel",
    "ModelRank",
    "SeedKey",
    "SeedWorkspace",
    "UsageProfile",
    "UsageSlice",
    "UsageTotals",
    "World",
    "accrual",
    "accrued",
    "accrued_by_day",
    "build_catalog",
    "build_world",
    "cached_tokens",
    "endpoints_answer",
    "is_distillable",
    "is_zero_retention",
    "live_figures",
    "may_train",
    "popularity",
    "rank_of",
    "reasoning_tokens",
    "regions_of",
    "zero_retention_endpoints",
]

_MODULES = {
    "build": ("build_world",),
    "catalog": ("Catalog", "CatalogEndpoint", "CatalogModel", "build_catalog"),
    "figures": ("endpoints_answer", "live_figures"),
    "usage": ("UsageProfile", "UsageSlice", "UsageTotals", "accrual", "accrued", "accrued_by_day"),
    "world": ("SeedKey", "SeedWorkspace", "World"),
}
"""Where each name stands; what is not here is in ``traits``."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name of one of the modules, which is loaded now. Raises AttributeError."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULE_OF.get(name, 'traits')}"), name)
    globals()[name] = found
    return found
