"""Every resource and every screen of the dashboard and of the command line: one entry each.

A declaration is loaded when it is first looked up: the first paint waits for one screen, not for
all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec

T = TypeVar("T")
Parent = Literal["model", "workspace", "guardrail", "key"]
"""The resource that the rows of a list belong to."""


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A resource: its id and title, and where its declaration stands ("module:NAME").

    ``declaration`` is a ResourceSpec, ``screen`` a screen class of its own. ``tab`` gives it a tab;
    without one it is reached by its name and by links. ``parent`` is the resource whose rows open
    it: it lists what belongs to one of them. ``whole`` is the place that lists what belongs to any
    of them, where there is one. ``key`` opens a place without a tab from everywhere. ``aliases``
    are further names for it in a path. Only the command line has what is no ``place``.

    ``help`` makes it a resource of the command line. ``of`` must be named to list it there; with
    ``any_of`` it may be left out. Of a ``single`` one there is one object. The list of a ``brief``
    one does without what completes its rows: that takes a request for each of them. What is only
    ``by_id`` is in no list: whoever asks for it has to know its identifier. Of ``named`` ones names
    are kept for completion.
    """

    id: str
    title: str
    declaration: str = ""
    screen: str = ""
    tab: bool = False
    place: bool = True
    parent: str = ""
    whole: str = ""
    key: str = ""
    aliases: tuple[str, ...] = ()
    help: str = ""
    of: Parent | None = None
    any_of: bool = False
    single: bool = False
    brief: bool = False
    by_id: bool = False
    named: bool = False


_RESOURCES, _SCREENS = "gwtui.resources", "gwtui.ui.screens"

ENTRIES: tuple[RegistryEntry, ...] = (
    RegistryEntry(
        "credits",
        "Credits",
        f"{_RESOURCES}.credits:CREDITS",
        f"{_SCREENS}.credits:CreditsScreen",
        tab=True,
        help="balance of the account",
        single=True,
    ),
    RegistryEntry(
        "keys",
        "Keys",
        f"{_RESOURCES}.keys.resource:KEYS",
        tab=True,
        help="API keys",
        named=True,
    ),
    RegistryEntry(
        "models",
        "Models",
        f"{_RESOURCES}.models.resource:MODELS",
        tab=True,
        help="models of the catalog",
        named=True,
    ),
    RegistryEntry(
        "endpoints",
        "Endpoints",
        f"{_RESOURCES}.models.endpoints:ENDPOINTS",
        parent="models",
        whole="all-endpoints",
        aliases=("ep",),
        help="endpoints of a model",
        of="model",
    ),
    RegistryEntry(
        "all-endpoints",
        "All endpoints",
        f"{_RESOURCES}.models.endpoints:EVERY_ENDPOINT",
        help="endpoints of all models (one request per model)",
    ),
    RegistryEntry(
        "user-models",
        "Models of this key",
        f"{_RESOURCES}.models.resource:USER_MODELS",
        help="models available to the current key",
    ),
    RegistryEntry(
        "workspaces",
        "Workspaces",
        f"{_RESOURCES}.workspaces.resource:WORKSPACES",
        tab=True,
        aliases=("ws", "spaces"),
        help="workspaces",
        named=True,
    ),
    RegistryEntry(
        "budgets",
        "Budgets",
        f"{_RESOURCES}.budgets:BUDGETS",
        place=False,
        help="budgets of a workspace",
        of="workspace",
    ),
    RegistryEntry(
        "members",
        "Members",
        f"{_RESOURCES}.members:MEMBERS",
        parent="workspaces",
        help="members of a workspace",
        of="workspace",
    ),
    RegistryEntry(
        "organization",
        "People",
        f"{_RESOURCES}.organization:ORGANIZATION",
        aliases=("org", "people"),
        help="people in the organization",
        named=True,
    ),
    RegistryEntry(
        "settings",
        "Settings",
        f"{_RESOURCES}.organization:SETTINGS",
        place=False,
        help="settings of the organization",
        single=True,
    ),
    RegistryEntry(
        "model-guardrails",
        "Guardrails on a model",
        f"{_RESOURCES}.guardrails.effect:MODEL_GUARDRAILS",
        parent="models",
        help="endpoints that guardrails leave for a model",
        of="model",
    ),
    RegistryEntry(
        "assignments",
        "Assignments",
        f"{_RESOURCES}.assignments:ASSIGNMENTS",
        help="guardrail assignments of keys and members",
        of="guardrail",
        any_of=True,
    ),
    RegistryEntry(
        "guardrails",
        "Guardrails",
        f"{_RESOURCES}.guardrails.resource:GUARDRAILS",
        tab=True,
        aliases=("gr", "guards"),
        help="guardrails",
        named=True,
    ),
    RegistryEntry(
        "byok",
        "BYOK",
        f"{_RESOURCES}.byok:BYOK",
        tab=True,
        aliases=("credentials",),
        help="provider credentials (BYOK)",
        named=True,
    ),
    RegistryEntry(
        "activity",
        "Activity",
        f"{_RESOURCES}.activity:ACTIVITY_DAYS",
        f"{_SCREENS}.activity:ActivityScreen",
        tab=True,
        help="usage by day, model and provider",
        of="key",
        any_of=True,
    ),
    RegistryEntry(
        "providers",
        "Providers",
        f"{_RESOURCES}.models.resource:PROVIDERS",
        help="providers",
    ),
    RegistryEntry(
        "zdr",
        "Models under ZDR",
        f"{_RESOURCES}.models.zdr:ZDR",
        help="models with zero-data-retention endpoints",
        brief=True,
    ),
    RegistryEntry("board", "Board", screen=f"{_SCREENS}.board:BoardScreen", key="0"),
    RegistryEntry("changes", "Changes", screen=f"{_SCREENS}.changes:ChangesScreen"),
    RegistryEntry("alerts", "Alerts", f"{_RESOURCES}.alerts:ALERTS", key="exclamation_mark"),
    RegistryEntry("alert-rules", "Alert rules", f"{_RESOURCES}.alerts:ALERT_RULES"),
    RegistryEntry("alert-history", "Alert events", f"{_RESOURCES}.alerts:ALERT_HISTORY"),
    RegistryEntry("findings", "Findings", f"{_RESOURCES}.findings:FINDINGS", key="F"),
    RegistryEntry(
        "rotations",
        "Rotations",
        f"{_RESOURCES}.rotations:ROTATIONS",
        help="key rotations started from this machine",
        named=True,
    ),
    RegistryEntry("doctor", "Doctor", f"{_RESOURCES}.doctor:DOCTOR"),
    RegistryEntry("audit", "Audit entries", f"{_RESOURCES}.audit:AUDIT"),
    RegistryEntry(
        "recovery",
        "Writes in doubt",
        f"{_RESOURCES}.recovery:DOUBTS",
        aliases=("doubts",),
        help="writes in doubt and unacknowledged keys",
    ),
    RegistryEntry(
        "doubt", "Evidence", screen=f"{_SCREENS}.recovery:RecoveryScreen", parent="recovery"
    ),
    RegistryEntry(
        "generation",
        "Generation",
        f"{_RESOURCES}.generations:ONE_GENERATION",
        f"{_SCREENS}.generation:GenerationScreen",
        help="details of a generation",
        by_id=True,
    ),
    RegistryEntry(
        "key",
        "This key",
        f"{_RESOURCES}.keys.current:THIS_KEY",
        f"{_SCREENS}.current_key:CurrentKeyScreen",
        help="the current key",
        single=True,
    ),
)


class _Declarations(Mapping[str, T]):
    """Declarations by resource id, each imported when it is asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._entries = places

    def __getitem__(self, resource: str) -> T:
        module, _, name = self._entries[resource].partition(":")
        declaration: T = getattr(import_module(module), name)
        return declaration

    def __contains__(self, resource: object) -> bool:
        return resource in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


_PLACES = tuple(entry for entry in ENTRIES if entry.place)

SPECS: Mapping[str, ResourceSpec[Any]] = _Declarations(
    {entry.id: entry.declaration for entry in ENTRIES if entry.declaration}
)
"""Every declared list, by resource id."""

RESOURCES: Mapping[str, ResourceSpec[Any]] = _Declarations(
    {entry.id: entry.declaration for entry in _PLACES if not entry.screen}
)
"""The declarations for the generic list-and-detail screen, by resource id."""

SCREENS: Mapping[str, Callable[..., Any]] = _Declarations(
    {entry.id: entry.screen for entry in _PLACES if entry.screen}
)
"""Resources with a screen of their own.

One that a row can open takes ``parent``, ``parent_name`` and ``opener``, like ResourceScreen.
"""

TABS: tuple[str, ...] = tuple(entry.id for entry in _PLACES if entry.tab)
"""The tabs from left to right; each is in RESOURCES or in SCREENS."""

PARENTS: Mapping[str, str] = {entry.id: entry.parent for entry in _PLACES if entry.parent}
"""Which resource's rows open it, for each list that needs one."""

PLACES: tuple[str, ...] = tuple(entry.id for entry in _PLACES if not entry.parent)
"""The screens that a path can name, with or without a tab."""

ALIASES: Mapping[str, str] = {alias: entry.id for entry in _PLACES for alias in entry.aliases}
"""Further names in paths, each with the resource that it stands for."""

_WHOLES: Mapping[str, str] = {entry.id: entry.whole for entry in _PLACES if entry.whole}


def resource_of(word: str, path: str = "") -> str:
    """The resource that the first word of a path means, with ``path`` behind it.

    A list that a row opens is the one of all rows where no row is named. What is no resource is
    given back as it is.
    """
    resource = ALIASES.get(word, word)
    return resource if path else _WHOLES.get(resource, resource)


TITLES: Mapping[str, str] = {entry.id: entry.title for entry in _PLACES}
"""The tab titles by resource."""

KEYS: Mapping[str, str] = {entry.id: entry.key for entry in _PLACES}
"""The keys of screens without a tab."""
