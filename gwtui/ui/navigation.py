"""Navigation between screens, with a history for "back"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.resources.registry import PARENTS, PLACES, RESOURCES, SCREENS, resource_of

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.screens.base import GatewayScreen

_HISTORY = 32
_KEPT = 8
"""Maximum number of cached screens that rows opened; each takes about a megabyte."""
_PAINTED = 3
"""Number of recent screens that keep their rendered lines, so that they reopen faster."""
_COVERED = "Close the dialog first"


@dataclass(frozen=True, slots=True)
class Location:
    """A place, which is a screen with a path such as "keys", or a list opened from a row."""

    resource: str
    parent: str | None = None
    opener: str | None = None
    """The resource of the row that opened the list; None for a place."""
    name: str = field(default="", compare=False)
    """The name of the row that opened the list."""


class Navigation:
    """Switches screens and caches them, so that cursor, scroll, filter and marks are kept.

    The screens of all places are cached, and the most recent lists opened from rows.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._screens: dict[Location, GatewayScreen] = {}
        self._history: list[Location] = []
        self._here: Location | None = None

    @property
    def screen(self) -> GatewayScreen | None:
        """The current screen, below any modal screen."""
        return None if self._here is None else self._screens[self._here]

    @property
    def screens(self) -> tuple[GatewayScreen, ...]:
        """All cached screens, the most recent one last."""
        return tuple(self._screens.values())

    @property
    def is_covered(self) -> bool:
        """Whether a modal screen is above the current screen."""
        return self.screen is not None and self._app.screen is not self.screen

    @property
    def tab(self) -> str:
        """The place of the current screen; for a list opened from a row, the place of that row."""
        here = self._here
        if here is None or here.resource in PLACES:
            return PLACES[0] if here is None else here.resource
        return PARENTS[here.resource]

    async def reset(self, screen: Screen[Any]) -> None:
        """Show the screen, and drop all cached screens and the history."""
        places = list(self._screens.values())
        self._screens.clear()
        self._history.clear()
        self._here = None
        await self._app.switch_screen(screen)
        for place in places:
            self._app.uninstall_screen(place)
            await place.remove()

    async def show_tab(self, tab: str) -> None:
        """Show a place; ignored while a modal screen is open."""
        await self._go(Location(tab))

    async def open_child(
        self, opener: ResourceSpec[Any], parent: str, child: str | None = None, *, name: str = ""
    ) -> None:
        """Show the list that belongs to one row of the list of ``opener``.

        ``parent`` is the identity of the row, ``name`` its name, safe to show. ``child`` is the
        resource to list, by default the one that Enter opens.
        """
        resource = child or opener.opens
        if resource is not None:
            await self._go(Location(resource, parent, opener.id, name))

    async def back(self) -> bool:
        """Return to the previous screen; False if there is none or a modal screen is open."""
        if not self._history or self.is_covered:
            return False
        await self._show(self._history.pop())
        return True

    async def open_route(self, route: str) -> str | None:
        """Show a route such as "keys" or "models/author/slug"; returns the problem, if any.

        A route with a row name acts like Enter on that row once the list is read. If there is no
        such row, the list stays open and reports that.
        """
        if self.is_covered:
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
        if place == self._here or self.is_covered:
            return
        if self._here is not None:
            if place.parent is None:
                # Going to a place again must not lengthen the history.
                self._history = [before for before in self._history if before != place]
            self._history.append(self._here)
            del self._history[:-_HISTORY]
        await self._show(place)

    async def _show(self, place: Location) -> None:
        screen = self._screens.pop(place, None)
        if screen is None:
            screen = self._make(place)
            self._app.install_screen(screen, repr((place.resource, place.parent, place.opener)))
        self._screens[place] = screen  # the most recent screen comes last
        self._here = place
        # Always switched, never pushed: Textual would also redraw the screen below.
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
        for hidden in self.screens[-_PAINTED - 1 : -_PAINTED]:
            for widget in hidden.query("*"):
                widget.refresh()  # frees the lines that Textual caches, most of a screen's memory
        for place in [place for place in self._screens if place.parent is not None][:-_KEPT]:
            screen = self._screens.pop(place)
            self._app.uninstall_screen(screen)
            await screen.remove()
