"""Which screen is shown, and the way back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.resources.registry import PARENTS, PLACES, RESOURCES, SCREENS, resource_of
from gwtui.watch.hub import Scope

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.screens.base import GatewayScreen
    from gwtui.watch.hub import FeedHub

_HISTORY = 32
_KEPT = 8
"""Screens of rows that are kept: there are as many as there are rows, and each is a megabyte."""
_PAINTED = 3
"""Screens that keep their painted lines, which makes coming back to them quicker."""
_ASKED = 0.01
"""Seconds in which a reading has begun that goes on by itself."""
_COVERED = "Close the dialog first"


@dataclass(frozen=True, slots=True)
class Location:
    """A tab, or the list that a row of another one opened."""

    resource: str
    parent: str | None = None
    opener: str | None = None
    """Resource that the parent row belongs to."""
    name: str = field(default="", compare=False)
    """What the parent row is called."""


class Navigation:
    """Keeps screens, so that cursor, scroll, filter and marks are as they were left.

    These are the screen of every place, and of the lists that rows opened those shown last.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._screens: dict[Location, GatewayScreen] = {}
        self._history: list[Location] = []
        self._here: Location | None = None
        self._reading: set[asyncio.Task[Any]] = set()

    @property
    def screen(self) -> GatewayScreen | None:
        """The screen that is shown, beneath any modal."""
        return None if self._here is None else self._screens[self._here]

    @property
    def screens(self) -> tuple[GatewayScreen, ...]:
        """Every screen that is kept."""
        return tuple(self._screens.values())

    @property
    def covered(self) -> bool:
        """Whether something stands above the screen: it would be taken away instead of it."""
        return self.screen is not None and self._app.screen is not self.screen

    @property
    def tab(self) -> str:
        """The place that stands for what is shown, whichever row opened it."""
        here = self._here
        if here is None or here.resource in PLACES:
            return PLACES[0] if here is None else here.resource
        return PARENTS[here.resource]

    async def reset(self, screen: Screen[Any]) -> None:
        """Show this one, and forget every place and the way back: they are another gateway's."""
        places = list(self._screens.values())
        self._screens.clear()
        self._history.clear()
        self._here = None
        await self._app.switch_screen(screen)
        for place in places:
            self._app.uninstall_screen(place)
            await place.remove()

    async def show_tab(self, tab: str) -> None:
        """Show a tab; nothing happens while something stands above the screen."""
        await self._go(Location(tab))

    async def open_child(
        self, opener: ResourceSpec[Any], parent: str, child: str | None = None, *, name: str = ""
    ) -> None:
        """Show a list that the row ``parent`` of another one opens.

        Without ``child`` it is the one that Enter opens. ``name`` is what the row is called, fit
        to be shown.
        """
        resource = child or opener.opens
        if resource is not None:
            await self._go(Location(resource, parent, opener.id, name))

    async def back(self) -> bool:
        """Return to the screen before; False when there is none."""
        if not self._history or self.covered:
            return False
        await self._show(self._history.pop())
        return True

    async def read_ahead(self, route: str, hub: FeedHub) -> None:
        """Have the list of a route read while its screen is still to be made."""
        word, _, path = route.strip("/").partition("/")
        place = resource_of(word, path)
        place = PARENTS.get(place, place) if path else place
        spec = None if place in SCREENS else RESOURCES.get(place)
        if spec is not None:
            reading = asyncio.create_task(spec.feed(hub, Scope()).refresh())
            self._reading.add(reading)
            reading.add_done_callback(self._reading.discard)
            await asyncio.wait({reading}, timeout=_ASKED)

    async def open_route(self, route: str) -> str | None:
        """Show "keys" or "models/author/slug"; the reason when that cannot be done.

        A path with a name does what Enter on that row does, once the list is read; where there is
        no such row the list stays and says so.
        """
        if self.covered:
            return _COVERED
        resource, _, path = route.strip().strip("/").partition("/")
        resource = resource_of(resource, path)
        child = resource if resource in PARENTS and path else None
        place = PARENTS[resource] if child is not None else resource
        if place not in PLACES:
            known = ", ".join(PLACES)
            return f"No resource is called {resource or 'that'}; there are {known}"
        await self.show_tab(place)
        if path and self.screen is not None:
            spec = RESOURCES.get(place)
            whole = spec is not None and spec.opened_by_id == len(path.split("/"))
            if spec is not None and whole:
                self.screen.show_row(path)
                await self.open_child(spec, path, child)
            else:
                self.screen.resolve_path(path, child)
        return None

    async def _go(self, place: Location) -> None:
        if place == self._here or self.covered:
            return
        if self._here is not None:
            if place.parent is None:
                # A tab key inside an opened list goes to the tab; the way back stays short.
                self._history = [before for before in self._history if before != place]
            self._history.append(self._here)
            del self._history[:-_HISTORY]
        await self._show(place)

    async def _show(self, place: Location) -> None:
        screen = self._screens.pop(place, None)
        if screen is None:
            screen = self._make(place)
            self._app.install_screen(screen, repr((place.resource, place.parent, place.opener)))
        self._screens[place] = screen  # the one shown last comes last
        self._here = place
        # Always switched, never pushed: a screen beneath would be drawn again with this one.
        await self._app.switch_screen(screen)
        await self._forget()

    def _make(self, place: Location) -> GatewayScreen:
        from gwtui.ui.screens.resource import ResourceScreen  # noqa: PLC0415 - after the first paint

        make: Callable[..., GatewayScreen] | None = SCREENS.get(place.resource)
        make = make or partial(ResourceScreen, RESOURCES[place.resource])
        if place.opener is None:
            return make()
        opener = RESOURCES[place.opener]
        return make(parent=place.parent, parent_name=place.name, opener=opener)

    async def _forget(self) -> None:
        """Drop the screens of rows that were shown longest ago, and the painted lines of others."""
        for hidden in self.screens[-_PAINTED - 1 : -_PAINTED]:
            for widget in hidden.query("*"):
                widget.refresh()  # frees the lines that Textual caches, most of a screen's memory
        for place in [place for place in self._screens if place.parent is not None][:-_KEPT]:
            screen = self._screens.pop(place)
            self._app.uninstall_screen(screen)
            await screen.remove()
