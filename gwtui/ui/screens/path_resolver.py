"""Finds the row that a path names in the list of a screen, or says why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gwtui.client.errors import NotFoundError
from gwtui.crud.plan_text import sentence
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.lookup import Lookup, lookup_path, nearest
from gwtui.domain.safe_text import safe_line
from gwtui.ui.screens.choosers import Choice, ChooseScreen
from gwtui.ui.text import in_sentence

if TYPE_CHECKING:
    from gwtui.ui.screens.resource import ResourceScreen
    from gwtui.watch.feed import FeedState


_NAME = 60
_NOTE = 120
_BEGINS = 12
"""Characters of a long identity; what tells rows apart stands before it."""
_GROUP = "seek"


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is looked for; ``child`` is the list to open from the row."""

    path: str
    child: str | None


class PathResolver:
    """Looks for what a path names in the list of one screen.

    Only a list that was read after the path was asked for can tell that something is not there.
    Nothing is selected before it is found.
    """

    def __init__(self, screen: ResourceScreen) -> None:
        self._screen = screen
        self._sought: _Sought | None = None
        self._reading = False
        self._outdated = False
        """Whether the rows that are known were read before the path was asked for."""
        self._failure: Exception | None = None
        """Why the list could not be read, as it was said last."""
        self._explained = False
        """Whether it was said that what was opened by its identity does not exist."""

    @property
    def active(self) -> bool:
        """Whether what a path names may still be found in what is being read."""
        return self._sought is not None and self._failure is None

    @property
    def _spec(self) -> ResourceSpec[Any]:
        return self._screen.declared

    def begin(self, path: str, child: str | None) -> None:
        """Look for this from now on."""
        self._sought = _Sought(path, child)
        self._reading = False
        self._failure = None
        # Without a connection nothing was read yet.
        self._outdated = self._screen.gwtui.session is not None
        for state in self._screen.states[:1]:
            self.look_in(state)

    def look_in(self, state: FeedState[Sequence[Any]]) -> None:
        """Go on with another reading of the list."""
        sought = self._sought
        if state.value is None:
            self._explain(state)
            return
        if sought is None:
            return
        screen = self._screen
        found = self._look_up(sought, state.value)
        if found.rows:
            self._sought = None
            screen.run_worker(self._found(sought, found), group=_GROUP, exclusive=True)
        elif self._outdated:
            if not self._reading:
                self._reading = True
                screen.run_worker(self._read_again(sought), group=_GROUP, exclusive=True)
        elif state.error is None:
            self._sought = None
            screen.run_worker(self._missed(sought, state), group=_GROUP, exclusive=True)

    async def _read_again(self, sought: _Sought) -> None:
        """It may have come since the list was read; where that fails, it is looked for later."""
        screen = self._screen
        await screen.reread()
        self._reading = False
        for state in screen.states[:1]:
            self._outdated = False
            if state.error is None:
                self.look_in(state)
            elif state.error is not self._failure and self._sought is sought:
                self._failure = state.error
                named = f"“{safe_line(sought.path, _NAME)}” is looked for once that works"
                why = sentence(f"{self._spec.title} could not be read: {state.error.message}")
                screen.gwtui.say(f"{why} {named}.", severity="warning")

    def _look_up(self, sought: _Sought, rows: Sequence[Any]) -> Lookup[Any]:
        names = self._spec.names(self._screen.now)
        found = lookup_path(rows, sought.path, names)
        opens = sought.child is not None or self._spec.opens is not None
        # Only what opens a list can have something behind it.
        return found if opens or not found.rest else Lookup(())

    # Found ------------------------------------------------------------------------------------

    async def _found(self, sought: _Sought, found: Lookup[Any]) -> None:
        row = found.found
        if row is None:
            row = await self._one_of(sought, found.rows)
        if row is None:
            return
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        identity = spec.identity(row)
        if not screen.table.select(identity) and screen.show_unfiltered():
            app.say(f"The filter hid {self._called(row)}: it is cleared")
        screen.want(identity, detail=sought.child is None)
        child = sought.child or spec.opens
        if child is None or app.navigation.screen is not screen:
            return
        name = spec.name(row) if sought.child is not None else ""
        await app.navigation.open_child(spec, identity, child, name=name)
        self._go_on(found.rest)

    def _go_on(self, rest: str) -> None:
        """Look for the rest of the path in the list that was opened."""
        opened = self._screen.gwtui.navigation.screen
        if rest and opened is not None and opened is not self._screen:
            opened.seek(rest)

    async def _one_of(self, sought: _Sought, rows: Sequence[Any]) -> Any | None:
        """Let the person choose among several; None when they leave it."""
        app, spec = self._screen.gwtui, self._spec
        title = f"{len(rows)} {self._plural} are called “{safe_line(sought.path, _NAME)}”"
        if app.navigation.covered:
            app.say(f"{title}: name one by its identifier", severity="warning")
            return None
        by_identity = {spec.identity(row): row for row in rows}
        apart = spec.differences(rows, self._screen.now)
        choices = [
            Choice(spec.identity(row), spec.name(row), _note(spec.identity(row), differs))
            for row, differs in zip(rows, apart, strict=True)
        ]
        chosen = await app.push_screen_wait(ChooseScreen(title, choices, current=None))
        return None if chosen is None else by_identity[chosen]

    # Not found --------------------------------------------------------------------------------

    async def _missed(self, sought: _Sought, state: FeedState[Sequence[Any]]) -> None:
        """It is not in the list: perhaps in another workspace, perhaps in no list."""
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        if spec.scoped and app.scope.workspace is not None:
            everywhere = spec.feed(app.hub, Scope(parent=screen.parent_row))
            whole = await everywhere.refresh()
            if self._look_up(sought, whole.value or ()).rows:
                named = f"“{safe_line(sought.path, _NAME)}” is not in {app.scope_name}"
                self._sought, self._outdated = sought, False
                app.narrow(None, None)
                app.say(f"{named}: showing all workspaces")
                return
        parts = sought.path.split("/")
        if 0 < spec.opened_by_id < len(parts) and app.navigation.screen is screen:
            head = "/".join(parts[: spec.opened_by_id])
            await app.navigation.open_child(spec, head, sought.child)
            self._go_on("/".join(parts[spec.opened_by_id :]))
            return
        self._say_missing(spec, sought.path, state, self._shown_instead())

    def _shown_instead(self) -> str:
        row = self._screen.table.selected
        here = "" if row is None else f", the cursor is on {self._called(row)}"
        return f"The list is shown{here}."

    def _explain(self, state: FeedState[Any]) -> None:
        """What was opened by its identity is not there: say what is called alike, once."""
        opener, parent = self._screen.opener, self._screen.parent_row
        unknown = isinstance(state.error, NotFoundError)
        if unknown and opener is not None and parent is not None and not self._explained:
            self._explained = True
            self._screen.run_worker(self._explain_parent(opener, parent), group=_GROUP)

    async def _explain_parent(self, opener: ResourceSpec[Any], parent: str) -> None:
        app = self._screen.gwtui
        state = await opener.feed(app.hub, app.scope).refresh()
        self._say_missing(opener, parent, state, "")

    def _say_missing(
        self, spec: ResourceSpec[Any], path: str, state: FeedState[Sequence[Any]], instead: str
    ) -> None:
        """Say that nothing is called so, what is called alike, and what is shown."""
        names = spec.names(self._screen.now)
        alike = [safe_line(name, _NAME) for name in nearest(state.value or (), path, names)]
        missing = f"There is no {spec.singular} “{safe_line(path, _NAME)}”"
        unsure = " among those that could be read" if state.lacks else ""
        near = f"; there is {', '.join(alike)}" if alike else ""
        text = f"{missing}{unsure}{near}. {instead}".strip()
        self._screen.gwtui.say(text, severity="warning")

    def _called(self, row: Any) -> str:
        return f"{self._spec.singular} “{self._spec.name(row)}”"

    @property
    def _plural(self) -> str:
        return self._spec.plural or in_sentence(self._spec.title)


def _note(identity: str, differs: str) -> str:
    """What tells one of several of a name from the others; the identity always does."""
    begins = identity if len(identity) <= _BEGINS else f"{identity[:_BEGINS]}…"
    return safe_line(" · ".join(filter(None, (differs, begins))), _NOTE)
