"""Every resource and every screen of the dashboard: one line each.

A declaration is loaded when it is first looked up: the first paint waits for one screen, not for
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A resource: its id and title, and where its declaration stands ("module:NAME").

    The declaration is a ResourceSpec, or a screen class where ``screen`` says so. ``tab`` gives
    it a tab; without one it is reached by its name and by links. ``parent`` is the resource whose
    rows open it: it lists what belongs to one of them. ``whole`` is the place that lists what
    belongs to any of them, where there is one. ``key`` opens a place without a tab from
    everywhere. ``aliases`` are further names for it in a path.
    """

    id: str
    title: str
    declaration: str
    tab: bool = True
    screen: bool = False
    parent: str = ""
    whole: str = ""
    key: str = ""
    aliases: tuple[str, ...] = ()


ENTRIES: tuple[RegistryEntry, ...] = (
    RegistryEntry("credits", "Credits", "gwtui.ui.screens.credits:CreditsScreen", screen=True),
    RegistryEntry("keys", "Keys", "gwtui.resources.keys.resource:KEYS"),
    RegistryEntry("models", "Models", "gwtui.resources.models.resource:MODELS"),
    RegistryEntry(
        "endpoints",
        "Endpoints",
        "gwtui.resources.models.endpoints:ENDPOINTS",
        tab=False,
        parent="models",
        whole="all-endpoints",
        aliases=("ep",),
    ),
    RegistryEntry(
        "all-endpoints",
        "All endpoints",
        "gwtui.resources.models.endpoints:EVERY_ENDPOINT",
        tab=False,
    ),
    RegistryEntry(
        "user-models",
        "Models of this key",
        "gwtui.resources.models.resource:USER_MODELS",
        tab=False,
    ),
    RegistryEntry(
        "workspaces",
        "Workspaces",
        "gwtui.resources.workspaces.resource:WORKSPACES",
        aliases=("ws", "spaces"),
    ),
    RegistryEntry(
        "members",
        "Members",
        "gwtui.resources.members:MEMBERS",
        tab=False,
        parent="workspaces",
    ),
    RegistryEntry(
        "organization",
        "People",
        "gwtui.resources.organization:ORGANIZATION",
        tab=False,
        aliases=("org", "people"),
    ),
    RegistryEntry(
        "model-guardrails",
        "Guardrails on a model",
        "gwtui.resources.guardrails.effect:MODEL_GUARDRAILS",
        tab=False,
        parent="models",
    ),
    RegistryEntry(
        "assignments", "Assignments", "gwtui.resources.assignments:ASSIGNMENTS", tab=False
    ),
    RegistryEntry(
        "guardrails",
        "Guardrails",
        "gwtui.resources.guardrails.resource:GUARDRAILS",
        aliases=("gr", "guards"),
    ),
    RegistryEntry(
        "byok",
        "BYOK",
        "gwtui.resources.byok:BYOK",
        aliases=("credentials",),
    ),
    RegistryEntry("activity", "Activity", "gwtui.ui.screens.activity:ActivityScreen", screen=True),
    RegistryEntry("providers", "Providers", "gwtui.resources.models.resource:PROVIDERS", tab=False),
    RegistryEntry("zdr", "Models under ZDR", "gwtui.resources.models.zdr:ZDR", tab=False),
    RegistryEntry(
        "board", "Board", "gwtui.ui.screens.board:BoardScreen", tab=False, screen=True, key="0"
    ),
    RegistryEntry(
        "changes", "Changes", "gwtui.ui.screens.changes:ChangesScreen", tab=False, screen=True
    ),
    RegistryEntry(
        "alerts",
        "Alerts",
        "gwtui.resources.alerts:ALERTS",
        tab=False,
        key="exclamation_mark",
    ),
    RegistryEntry("alert-rules", "Alert rules", "gwtui.resources.alerts:ALERT_RULES", tab=False),
    RegistryEntry(
        "alert-history",
        "Alert events",
        "gwtui.resources.alerts:ALERT_HISTORY",
        tab=False,
    ),
    RegistryEntry(
        "findings",
        "Findings",
        "gwtui.resources.findings:FINDINGS",
        tab=False,
        key="F",
    ),
    RegistryEntry("rotations", "Rotations", "gwtui.resources.rotations:ROTATIONS", tab=False),
    RegistryEntry("doctor", "Doctor", "gwtui.resources.doctor:DOCTOR", tab=False),
    RegistryEntry("audit", "Audit entries", "gwtui.resources.audit:AUDIT", tab=False),
    RegistryEntry(
        "recovery",
        "Writes in doubt",
        "gwtui.resources.recovery:DOUBTS",
        tab=False,
        aliases=("doubts",),
    ),
    RegistryEntry(
        "doubt",
        "Evidence",
        "gwtui.ui.screens.recovery:RecoveryScreen",
        tab=False,
        screen=True,
        parent="recovery",
    ),
    RegistryEntry(
        "generation",
        "Generation",
        "gwtui.ui.screens.generation:GenerationScreen",
        tab=False,
        screen=True,
    ),
    RegistryEntry(
        "key",
        "This key",
        "gwtui.ui.screens.current_key:CurrentKeyScreen",
        tab=False,
        screen=True,
    ),
)


class _Declarations(Mapping[str, T]):
    """Declarations by resource id, each imported when it is asked for."""

    def __init__(self, entries: tuple[RegistryEntry, ...]) -> None:
        self._entries = {entry.id: entry for entry in entries}

    def __getitem__(self, resource: str) -> T:
        module, _, name = self._entries[resource].declaration.partition(":")
        declaration: T = getattr(import_module(module), name)
        return declaration

    def __contains__(self, resource: object) -> bool:
        return resource in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


RESOURCES: Mapping[str, ResourceSpec[Any]] = _Declarations(
    tuple(entry for entry in ENTRIES if not entry.screen)
)
"""What the generic list-and-detail screen can draw, by resource id."""

SCREENS: Mapping[str, Callable[..., Any]] = _Declarations(
    tuple(entry for entry in ENTRIES if entry.screen)
)
"""Resources with a screen of their own.

One that a row can open takes ``parent``, ``parent_name`` and ``opener``, like ResourceScreen.
"""

TABS: tuple[str, ...] = tuple(entry.id for entry in ENTRIES if entry.tab)
"""The tabs from left to right; each is in RESOURCES or in SCREENS."""

PARENTS: Mapping[str, str] = {entry.id: entry.parent for entry in ENTRIES if entry.parent}
"""Which resource's rows open it, for each list that needs one."""

PLACES: tuple[str, ...] = tuple(entry.id for entry in ENTRIES if not entry.parent)
"""What can be gone to by its name alone, with a tab or without."""

ALIASES: Mapping[str, str] = {alias: entry.id for entry in ENTRIES for alias in entry.aliases}
"""Further names in paths, each with the resource that it stands for."""

_WHOLES: Mapping[str, str] = {entry.id: entry.whole for entry in ENTRIES if entry.whole}


def resource_of(word: str, path: str = "") -> str:
    """The resource that the first word of a path means, with ``path`` behind it.

    A list that a row opens is the one of all rows where no row is named. What is no resource is
    given back as it is.
    """
    resource = ALIASES.get(word, word)
    return resource if path else _WHOLES.get(resource, resource)


TITLES: Mapping[str, str] = {entry.id: entry.title for entry in ENTRIES}
"""What each resource is called on its tab."""

KEYS: Mapping[str, str] = {entry.id: entry.key for entry in ENTRIES}
"""What opens a place without a tab, where there is such a key."""
