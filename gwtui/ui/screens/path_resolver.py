"""Finds the row that a path names in the list of a screen, or reports why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
_GROUP = "path"


@dataclass(frozen=True, slots=True)
class _PathQuery:
    """A path that is being resolved; ``child`` is the list to open from its row."""

    path: str
    child: str | None


class PathResolver:
    """Resolves a path to a row of one screen's list.

    Only a list that was read after the path was requested can show that a row is missing.
    Nothing is selected before it is found.
    """

    def __init__(self, screen: ResourceScreen) -> None:
        self._screen = screen
        self._spec = screen.declared
        self._query: _PathQuery | None = None
        self._reading = False
        self._outdated = False
        """Whether the rows were read before the path was requested."""
        self._failure: Exception | None = None
        """The last reported read error."""

    @property
    def active(self) -> bool:
        """Whether a path is still being resolved."""
        return self._query is not None and self._failure is None

    def begin(self, path: str, child: str | None) -> None:
        """Start resolving a path."""
        self._query = _PathQuery(path, child)
        self._reading = False
        self._failure = None
        # Without a connection nothing was read yet.
        self._outdated = self._screen.gwtui.session is not None
        for state in self._screen.states[:1]:
            self.look_in(state)

    def look_in(self, state: FeedState[Sequence[Any]]) -> None:
        """Continue with new rows of the list."""
        query = self._query
        if query is None or state.value is None:
            return
        screen = self._screen
        found = self._look_up(query, state.value)
        if found.rows:
            self._query = None
            screen.run_worker(self._found(query, found), group=_GROUP, exclusive=True)
        elif self._outdated:
            if not self._reading:
                self._reading = True
                screen.run_worker(self._read_again(query), group=_GROUP, exclusive=True)
        elif state.error is None:
            self._query = None
            screen.run_worker(self._missed(query, state), group=_GROUP, exclusive=True)

    async def _read_again(self, query: _PathQuery) -> None:
        """Read the list again, in case the row is new; a failure is retried later."""
        screen = self._screen
        await screen.reread()
        self._reading = False
        for state in screen.states[:1]:
            self._outdated = False
            if state.error is None:
                self.look_in(state)
            elif state.error is not self._failure and self._query is query:
                self._failure = state.error
                named = f"gwtui looks for “{safe_line(query.path, _NAME)}” once it can be read"
                why = sentence(f"{self._spec.title} could not be read: {state.error.message}")
                screen.gwtui.say(f"{why} {named}.", severity="warning")

    def _look_up(self, query: _PathQuery, rows: Sequence[Any]) -> Lookup[Any]:
        names = self._spec.names(self._screen.now)
        found = lookup_path(rows, query.path, names)
        opens = query.child is not None or self._spec.opens is not None
        # Only what opens a list can have something behind it.
        return found if opens or not found.rest else Lookup(())

    # Found ------------------------------------------------------------------------------------

    async def _found(self, query: _PathQuery, found: Lookup[Any]) -> None:
        row = found.found
        if row is None:
            row = await self._one_of(query, found.rows)
        if row is None:
            return
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        identity = spec.identity(row)
        if self._screen.filtering.reveal(identity):
            app.say(f"Filter cleared: it hid {self._called(row)}")
        screen.show_row(identity, detail=query.child is None)
        child = query.child or spec.opens
        if child is None or app.navigation.screen is not screen:
            return
        name = spec.name(row) if query.child is not None else ""
        await app.navigation.open_child(spec, identity, child, name=name)
        self._go_on(found.rest)

    def _go_on(self, rest: str) -> None:
        """Resolve the rest of the path in the opened list."""
        opened = self._screen.gwtui.navigation.screen
        if rest and opened is not None and opened is not self._screen:
            opened.resolve_path(rest)

    async def _one_of(self, query: _PathQuery, rows: Sequence[Any]) -> Any | None:
        """Let the person choose one of several matches; None if they leave."""
        app, spec = self._screen.gwtui, self._spec
        title = f"{len(rows)} {self._plural} are called “{safe_line(query.path, _NAME)}”"
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

    # Not found --------------------------------------------------------------------------------

    async def _missed(self, query: _PathQuery, state: FeedState[Sequence[Any]]) -> None:
        """Handle a missing row: it may be in another workspace."""
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        if spec.scoped and app.scope.workspace is not None:
            everywhere = spec.feed(app.hub, Scope(parent=screen.parent_row))
            whole = await everywhere.refresh()
            if self._look_up(query, whole.value or ()).rows:
                named = f"“{safe_line(query.path, _NAME)}” is not in {app.scope_name}"
                self._query, self._outdated = query, False
                app.narrow(None, None)
                app.say(f"{named}: showing all workspaces")
                return
        parts = query.path.split("/")
        if 0 < spec.opened_by_id < len(parts) and app.navigation.screen is screen:
            head = "/".join(parts[: spec.opened_by_id])
            await app.navigation.open_child(spec, head, query.child)
            self._go_on("/".join(parts[spec.opened_by_id :]))
            return
        self._say_missing(query.path, state)

    def _say_missing(self, path: str, state: FeedState[Sequence[Any]]) -> None:
        """Report a missing name, with similar names and the current scope."""
        spec, row = self._spec, self._screen.table.selected
        names = spec.names(self._screen.now)
        alike = [safe_line(name, _NAME) for name in nearest(state.value or (), path, names)]
        missing = f"There is no {spec.singular} “{safe_line(path, _NAME)}”"
        unsure = " among those that could be read" if state.lacks else ""
        near = f"; there is {', '.join(alike)}" if alike else ""
        here = "" if row is None else f", the cursor is on {self._called(row)}"
        text = f"{missing}{unsure}{near}. The list is shown{here}."
        self._screen.gwtui.say(text, severity="warning")

    def _called(self, row: Any) -> str:
        return f"{self._spec.singular} “{self._spec.name(row)}”"

    @property
    def _plural(self) -> str:
        return self._spec.plural or in_sentence(self._spec.title)


def _note(identity: str, differs: str) -> str:
    """Values that distinguish a row from others of the same name, always with the identity."""
    begins = identity if len(identity) <= _BEGINS else f"{identity[:_BEGINS]}…"
    return safe_line(" · ".join(filter(None, (differs, begins))), _NOTE)
