"""Finds the row of a list that a path names, or reports why there is none."""

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
"""Number of characters to show of a long identity."""


class PathResolver:
    """Selects the row that ``path`` names in the list of ``screen``, or reports that it is missing.

    ``child`` is the id of the list to open from the row. A row only counts as missing if the list
    was read after the path was requested. Until the row is found, the selection does not change.
    """

    def __init__(self, screen: ResourceScreen, path: str, child: str | None) -> None:
        self._screen = screen
        self._spec = screen.declared
        self._path = path
        self._shown_path = f"“{safe_line(path, _NAME)}”"
        self._child = child
        self.active = True
        """Whether the list is still being read to find the row."""
        self._state = screen.states[0] if screen.states else None
        self._changed = asyncio.Event()
        # Without a connection the list has not been read, so the first rows will be fresh.
        resolving = self._resolve(is_fresh=screen.gwtui.session is None)
        screen.run_worker(resolving, group="path", exclusive=True)

    def look_in(self, state: FeedState[Any]) -> None:
        """Look for the row in a new state of the list."""
        self._state = state
        self._changed.set()

    async def _resolve(self, *, is_fresh: bool) -> None:
        """Look for the row, open it, or report that it is missing.

        ``is_fresh`` means that the list is read only after the path was requested.
        """
        state = await self._rows(is_fresh=is_fresh)
        self.active = False
        lookup = self._look_up(state.value)
        if lookup.rows:
            await self._open(lookup)
        elif await self._is_elsewhere():
            app = self._screen.gwtui
            scope, self._state = app.scope_name, None
            app.narrow(None, None)
            app.say(f"{self._shown_path} is not in {scope}: showing all workspaces")
            await self._resolve(is_fresh=True)
        else:
            await self._miss(state)

    async def _rows(self, *, is_fresh: bool) -> FeedState[Sequence[Any]]:
        """Return the list once it has the row, or was read after the path was requested.

        A failure to read the list is reported; then this waits for the next state.
        """
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
        lookup = lookup_path(rows or (), self._path, self._spec.names(self._screen.now))
        opens = self._child is not None or self._spec.opens is not None
        # A path can only go on below a row that opens a list.
        return lookup if opens or not lookup.rest else Lookup(())

    async def _open(self, lookup: Lookup[Any]) -> None:
        row = lookup.found if lookup.found is not None else await self._choose(lookup.rows)
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
            await self._open_child(identity, child, lookup.rest, name)

    async def _open_child(self, parent: str, child: str | None, rest: str, name: str = "") -> None:
        navigation = self._screen.gwtui.navigation
        await navigation.open_child(self._spec, parent, child, name=name)
        opened = navigation.screen
        if rest and opened is not None and opened is not self._screen:
            opened.resolve_path(rest)

    async def _choose(self, rows: Sequence[Any]) -> Any | None:
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
        app = self._screen.gwtui
        if not self._spec.scoped or app.scope.workspace is None:
            return False
        everywhere = self._spec.feed(app.hub, Scope(parent=self._screen.parent_row))
        return bool(self._look_up((await everywhere.refresh()).value).rows)

    async def _miss(self, state: FeedState[Sequence[Any]]) -> None:
        screen, spec, parts = self._screen, self._spec, self._path.split("/")
        # The parent may exist without being listed: open the list below it by its id.
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
    begins = identity if len(identity) <= _BEGINS else f"{identity[:_BEGINS]}…"
    return safe_line(" · ".join(filter(None, (differs, begins))), _NOTE)
