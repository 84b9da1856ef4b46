"""Look up the resources and screens of ``entries``.

A declaration is imported on first use, because the first paint needs only one screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.resources.entries import ENTRIES, RegistryEntry

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec

T = TypeVar("T")


def import_object(place: str) -> Any:
    """Import the object at "module:NAME"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class _Declarations(Mapping[str, T]):
    """Declarations by resource id, each imported on first use."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._entries = places

    def __getitem__(self, resource: str) -> T:
        declaration: T = import_object(self._entries[resource])
        return declaration

    def __contains__(self, resource: object) -> bool:
        return resource in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


COMMAND_RESOURCES: Mapping[str, RegistryEntry] = {
    entry.id: entry for entry in ENTRIES if entry.help
}
"""The resources that the command line has, by id."""

_PLACES = tuple(entry for entry in ENTRIES if entry.place)

SPECS: Mapping[str, ResourceSpec[Any]] = _Declarations(
    {entry.id: entry.declaration for entry in ENTRIES if entry.declaration}
)
"""All list declarations, by resource id."""

RESOURCES: Mapping[str, ResourceSpec[Any]] = _Declarations(
    {entry.id: entry.declaration for entry in _PLACES if not entry.screen}
)
"""The declarations for the generic list-and-detail screen, by resource id."""

SCREENS: Mapping[str, Callable[..., Any]] = _Declarations(
    {entry.id: entry.screen for entry in _PLACES if entry.screen}
)
"""Resources with a custom screen, by id.

The screens of rows take ``parent``, ``parent_name`` and ``opener``, like ResourceScreen.
"""

TABS: tuple[str, ...] = tuple(entry.id for entry in _PLACES if entry.tab)
"""The tabs from left to right; each is in RESOURCES or SCREENS."""

PARENTS: Mapping[str, str] = {entry.id: entry.parent for entry in _PLACES if entry.parent}
"""List resource -> the resource whose rows open it."""

PLACES: tuple[str, ...] = tuple(entry.id for entry in _PLACES if not entry.parent)
"""The screens that a path can name, with or without a tab."""

ALIASES: Mapping[str, str] = {alias: entry.id for entry in _PLACES for alias in entry.aliases}
"""Alias in a path -> resource."""

_WHOLES: Mapping[str, str] = {entry.id: entry.whole for entry in _PLACES if entry.whole}


def resource_of(word: str, path: str = "") -> str:
    """Return the resource that ``word``, the first word of a path, names; ``path`` is the rest.

    If the rest would have to name the parent of a list, but is empty, the list with the items of
    all parents is returned, if there is one. Unknown words are returned unchanged.
    """
    resource = ALIASES.get(word, word)
    return resource if path else _WHOLES.get(resource, resource)


TITLES: Mapping[str, str] = {entry.id: entry.title for entry in _PLACES}
"""Screen titles by resource."""

KEYS: Mapping[str, str] = {entry.id: entry.key for entry in _PLACES}
"""The keys of screens without a tab, by resource."""
