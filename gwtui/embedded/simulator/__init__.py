"""The world behind the embedded gateway: seeded, deterministic, pure functions of (seed, moment).

Nothing here stores, sleeps or serves. The gateway stores what must outlive a restart (the seed, the
moment of birth, each key's counters and how far its usage has been accrued) and asks again.
"""

from __future__ import annotations

from gwtui.embedded.simulator.build import build_world
from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint, CatalogModel, build_catalog
from gwtui.embedded.simulator.figures import endpoints_answer, live_figures
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
    "endpoints_answer",
    "live_figures",
]
