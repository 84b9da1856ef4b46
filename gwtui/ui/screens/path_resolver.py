"""Finds the row that a path names in the list of a screen, or reports why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gwtui.crud.fields import PickOption
from gwtui.crud.plan_text import sentence
from gwtui.crud.resource import Scope
from gwtui.domain.lookup import Lookup, lookup_path, nearest
from gwtui.domain.safe_text import in_sentence, safe_line
from gwtui.ui.screens.picker import Picker

if TYPE_CHECKING:
    from gwtui.ui.screens.resource import ResourceScreen
    from gwtui.watch.feed import FeedState


_NAME = 60
_NOTE = 120
_BEGINS = 12
"""Number of characters shown of a long identity, after the distinguishing values."""


class PathResolver:
    """Resolves a path to a row of one screen's list; ``child`` is the list to open from its row.

    Only a list that was read after the path was requested can show that a row is missing.
    Nothing is selected before it is found.
    """

    def __init__(self, screen: ResourceScreen, path: str, child: str | None) -> None:
        self._screen = screen
        self._spec = screen.declared
        self._path = path
        self._shown_path = f"“{safe_line(path, _NAME)}”"
        self._child = child
        self.active = True
        """Whether the list that contains the row is still being read."""
        self._state = screen.states[0] if screen.states else None
        self._changed = asyncio.Event()
        # Without a connection nothing was read yet.
        resolving = self._resolve(is_fresh=screen.gwtui.session is None)
        screen.run_worker(resolving, group="path", exclusive=True)

    def look_in(self, state: FeedState[Any]) -> None:
        """Continue with new rows of the list."""
        self._state = state
        self._changed.set()

    async def _resolve(self, *, is_fresh: bool) -> None:
        """``is_fresh``: the rows of the list were not read before the path was requested."""
        state = await self._rows(is_fresh=is_fresh)
        self.active = False
        found = self._look_up(state.value)
        if found.rows:
            await self._open(found)
        elif await self._is_elsewhere():
            app = self._screen.gwtui
            scope, self._state = app.scope_name, None
            app.narrow(None, None)
            app.say(f"{self._shown_path} is not in {scope}: showing all workspaces")
            await self._resolve(is_fresh=True)
        else:
            await self._miss(state)

    async def _rows(self, *, is_fresh: bool) -> FeedState[Sequence[Any]]:
        """The list, once it contains the row or was read anew; a failure is retried later."""
        screen, failure = self._screen, None
        while True:
            state = self._state
            if state is not None and state.value is not None:
                if self._look_up(state.value).rows or (is_fresh and state.error is None):
                    return state
                if not is_fresh:
                    await screen.reread()  # the row may be new
                    is_fresh, self._state = True, screen.states[0] if screen.states else state
                    continue
                if state.error is not failure and state.error is not None:
                    self.active, failure = False, state.error
                    why = sentence(f"{self._spec.title} could not be read: {failure.message}")
                    named = f"gwtui looks for {self._shown_path} once it can be read"
                    screen.gwtui.say(f"{why} {named}.", severity="warning")
            await self._changed.wait()
            self._changed.clear()

    def _look_up(self, rows: Sequence[Any] | None) -> Lookup[Any]:
        found = lookup_path(rows or (), self._path, self._spec.names(self._screen.now))
        opens = self._child is not None or self._spec.opens is not None
        # Only what opens a list can have something behind it.
        return found if opens or not found.rest else Lookup(())

    async def _open(self, found: Lookup[Any]) -> None:
        """Select the row, and open the list of the rest of the path."""
        row = found.found if found.found is not None else await self._one_of(found.rows)
        if row is None:
            return
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        identity = spec.identity(row)
        if screen.filtering.reveal(identity):
            app.say(f"Filter cleared: it hid {self._called(row)}")
        screen.show_row(identity, detail=self._child is None)
        child = self._child or spec.opens
        if child is not None and app.navigation.screen is screen:
            name = spec.name(row) if self._child is not None else ""
            await self._open_child(identity, child, found.rest, name)

    async def _open_child(self, parent: str, child: str | None, rest: str, name: str = "") -> None:
        """Open the list of a row, and resolve the rest of the path there."""
        navigation = self._screen.gwtui.navigation
        await navigation.open_child(self._spec, parent, child, name=name)
        opened = navigation.screen
        if rest and opened is not None and opened is not self._screen:
            opened.resolve_path(rest)

    async def _one_of(self, rows: Sequence[Any]) -> Any | None:
        """Let the person choose one of several matches; None if they leave."""
        app, spec = self._screen.gwtui, self._spec
        title = (
            f"{len(rows)} {spec.plural or in_sentence(spec.title)} are called {self._shown_path}"
        )
        if app.navigation.covered:
            app.say(f"{title}: use its id", severity="warning")
            return None
        by_identity = {spec.identity(row): row for row in rows}
        apart = spec.differences(rows, self._screen.now)
        choices = [
            PickOption(spec.identity(row), spec.name(row), _note(spec.identity(row), differs))
            for row, differs in zip(rows, apart, strict=True)
        ]
        chosen = await app.push_screen_wait(Picker(title, choices, current=None))
        return None if chosen is None else by_identity[chosen]

    async def _is_elsewhere(self) -> bool:
        """Whether the row is in a workspace that the list is not about."""
        app = self._screen.gwtui
        if not self._spec.scoped or app.scope.workspace is None:
            return False
        everywhere = self._spec.feed(app.hub, Scope(parent=self._screen.parent_row))
        return bool(self._look_up((await everywhere.refresh()).value).rows)

    async def _miss(self, state: FeedState[Sequence[Any]]) -> None:
        """Open the list of a parent that is not listed, or report the missing name."""
        screen, spec, parts = self._screen, self._spec, self._path.split("/")
        if 0 < spec.opened_by_id < len(parts) and screen.gwtui.navigation.screen is screen:
            head, rest = parts[: spec.opened_by_id], parts[spec.opened_by_id :]
            await self._open_child("/".join(head), self._child, "/".join(rest))
            return
        row, names = screen.table.selected, spec.names(screen.now)
        alike = [safe_line(name, _NAME) for name in nearest(state.value or (), self._path, names)]
        missing = f"There is no {spec.singular} {self._shown_path}"
        unsure = " among those that could be read" if state.lacks else ""
        near = f"; there is {', '.join(alike)}" if alike else ""
        here = "" if row is None else f", the cursor is on {self._called(row)}"
        text = f"{missing}{unsure}{near}. The list is shown{here}."
        screen.gwtui.say(text, severity="warning")

    def _called(self, row: Any) -> str:
        return f"{self._spec.singular} “{self._spec.name(row)}”"


def _note(identity: str, differs: str) -> str:
    """Values that distinguish a row from others of the same name, always with the identity."""
    begins = identity if len(identity) <= _BEGINS else f"{identity[:_BEGINS]}…"
    return safe_line(" · ".join(filter(None, (differs, begins))), _NOTE)
