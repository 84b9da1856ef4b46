"""How the tables of API keys are written, and the endpoints that the keys use."""

from __future__ import annotations

from dataclasses import dataclass

from gwtui.contract.values import LimitReset
from gwtui.embedded.simulator.people import WorkspaceSlug
from gwtui.embedded.simulator.rhythm import RhythmName
from gwtui.embedded.simulator.workloads import Kind


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work of a key. ``share`` is its part of the key's spending."""

    endpoint: str
    kind: Kind
    share: float = 1.0
    byok: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """A key as the table writes it. Ages are days before the world's moment."""

    name: str
    workspace: WorkspaceSlug
    age: float
    creator: int | None = 0
    """Index of the user."""
    rhythm: RhythmName = "office"
    usd_per_day: float = 0.0
    """What it spends on an average day, or what it asks for on a free model (in requests)."""
    work: tuple[Work, ...] = ()
    """Empty: never used."""
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


LARGE = "northwind/atlas-large|northwind"
LARGE_FLEX = "northwind/atlas-large|northwind/flex"
LARGE_FAST = "northwind/atlas-large|northwind/priority"
LARGE_EU = "northwind/atlas-large|tidepool/eu"
MINI = "northwind/atlas-mini|northwind"
MINI_CHEAP = "northwind/atlas-mini|quasar"
FREE = "northwind/atlas-mini:free|paperboat/free"
DEEP = "northwind/atlas-deep|northwind"
DEEP_FLEX = "northwind/atlas-deep|northwind/flex"
MOSAIC = "tessera/mosaic-70b-instruct|bitforge/fp8"
SMALL = "tessera/mosaic-8b-instruct|quasar/fp8"
PLUME = "larkspur/petite-plume|helioscope"
PONDER = "osprey-labs/ponder-32b|quasar/bf16"
CODE = "helioscope/corona-code|helioscope"
TALON = "osprey-labs/talon-moe-480b-a32b-instruct-long-context-2026-05|quasar/fp8"
LENS = "meridian/lens-pro|tidepool"
FLASH = "meridian/lens-flash|tidepool"
VOICE = "northwind/atlas-voice|northwind"
PAINT = "meridian/lens-paint|tidepool"
VECTOR = "tessera/vector-3|bitforge"
RANK = "tessera/rank-2|bitforge"
GUARD = "osprey-labs/verdict-guard|cobalt-row"
CANVAS = "ampersand/canvas-xl|ampersand"
FILM = "ampersand/motion-1|ampersand"
SONG = "larkspur/larksong|helioscope"
SCRIBE = "helioscope/scribe-2|helioscope"
