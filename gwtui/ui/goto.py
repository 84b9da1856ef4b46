"""Paths and commands typed behind a colon: parsed, completed and followed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from textual import on
from textual.suggester import SuggestionReady
from textual.widgets import Input

from gwtui.crud.action import APP, Action
from gwtui.crud.resource import Scope
from gwtui.domain.lookup import all_names, completed, did_you_mean, lookup_path
from gwtui.domain.safe_text import safe_line
from gwtui.resources import actions as registry
from gwtui.resources.registry import ALIASES, PARENTS, PLACES, RESOURCES, resource_of
from gwtui.ui.themes import theme_names
from gwtui.ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from gwtui.ui.actions.context import ActionContext
    from gwtui.ui.app import GwtuiApp
    from gwtui.ui.screens.base import GatewayScreen
    from gwtui.watch.feed import Feed


PROFILE = "app.profile"
THEME = "app.theme"
_TAKING = frozenset({PROFILE, THEME})
"""Commands that take an argument."""
_HINT = "keys/NAME, workspaces, help …"
_SEPARATOR = re.compile(r"[/ ]")
_NAME = 60


@dataclass(frozen=True, slots=True)
class GotoTarget:
    """The meaning of a typed text: a ``route``, a ``command`` with its argument, or a problem.

    The other fields are empty.
    """

    route: str = ""
    command: Action | None = None
    argument: str = ""
    problem: str = ""


@cache
def commands() -> Mapping[str, Action]:
    """The commands, by every word that names one."""
    return {word: action for action in registry.for_scope(APP) for word in action.command_words}


@cache
def first_words() -> tuple[str, ...]:
    """All words that a path or command can begin with, in the order of completion."""
    return (*PLACES, *PARENTS, *ALIASES, *commands())


def split_first_word(text: str) -> tuple[str, str, str]:
    """The first word, the separator (slash or space) behind it, and the rest."""
    match = _SEPARATOR.search(text)
    if match is None:
        return text, "", ""
    return text[: match.start()], match[0], text[match.end() :]


def parse_goto(text: str) -> GotoTarget:
    """Parse a path or command; whether the named rows exist is not checked."""
    head, _, rest = split_first_word(text.strip().strip("/"))
    word, rest = head.lower(), rest.strip()
    command = commands().get(word)
    if command is not None and (not rest or command.id in _TAKING):
        return GotoTarget(command=command, argument=rest)
    if command is not None:
        return GotoTarget(problem=f"“{word}” is a command without arguments")
    place = resource_of(word, rest)
    if place in PLACES or (place in PARENTS and rest):
        return GotoTarget(route=f"{place}/{rest}" if rest else place)
    if place in PARENTS:
        return GotoTarget(problem=f"{place} needs a name of {PARENTS[place]}: {place}/NAME")
    called = safe_line(head, _NAME)
    near = did_you_mean(head, first_words()) or f"; there are {', '.join(PLACES)}"
    return GotoTarget(problem=f"No place or command is called “{called}”{near}")


@dataclass(frozen=True, slots=True)
class _Level:
    """One part of a path: the list whose rows it names, and the typed beginning of a name."""

    place: str
    scope: Scope
    typed: str


class PathNames:
    """Completes paths with the row names of the lists, and reads lists that are missing."""

    def __init__(self, app: GwtuiApp) -> None:
        self._app = app
        self._cached_names: tuple[object, tuple[str, ...]] = (None, ())

    def complete(self, text: str) -> str | None:
        """The completed text; None if nothing known starts with ``text``."""
        head, sign, rest = split_first_word(text)
        if not sign:
            return completed(head, first_words())
        command = commands().get(head.lower())
        if command is not None:
            whole = completed(rest, self._arguments(command))
            return None if whole is None else f"{head}{sign}{whole}"
        level = self._level(head, rest)
        whole = None if level is None else completed(level.typed, self._names(level))
        if level is None or whole is None:
            return None
        return f"{text[: len(text) - len(level.typed)]}{whole}"

    async def read_missing_lists(self, text: str) -> None:
        """Read the lists that completing the text needs and that are not read yet."""
        head, _, rest = split_first_word(text)
        before, level = None, self._level(head, rest)
        while rest and level is not None and level != before:
            if self._feed(level).state.value is not None:
                return
            await self._feed(level).refresh()
            before, level = level, self._level(head, rest)

    def _arguments(self, command: Action) -> Sequence[str]:
        if command.id == THEME:
            return theme_names()
        targets = self._app.targets
        return targets.names() if command.id == PROFILE and targets is not None else ()

    def _level(self, head: str, rest: str) -> _Level | None:
        place = ALIASES.get(head.lower(), head.lower())
        listed = PARENTS.get(place, place)
        if self._app.session is None or listed not in RESOURCES or listed in PARENTS:
            return None
        level = _Level(listed, self._app.scope, rest)
        spec, rows = RESOURCES[listed], self._feed(level).state.value
        child = place if place in PARENTS else spec.opens
        if "/" not in rest or not rows or child is None or child not in RESOURCES:
            return level
        result = lookup_path(rows, rest, spec.names(self._app.clock.now()))
        if result.found is None or not result.rest:
            return level
        return _Level(child, Scope(parent=spec.identity(result.found)), result.rest)

    def _names(self, level: _Level) -> Sequence[str]:
        rows = self._feed(level).state.value
        if rows is None:
            return ()
        if self._cached_names[0] is not rows:
            spec = RESOURCES[level.place]
            self._cached_names = rows, all_names(rows, spec.names(self._app.clock.now()))
        return self._cached_names[1]

    def _feed(self, level: _Level) -> Feed[Sequence[Any]]:
        return RESOURCES[level.place].feed(self._app.hub, level.scope)


class GotoPrompt(Prompt):
    """The prompt for a path such as keys/NAME, or a command."""

    FOCUS_KEYS = "Enter opens · Esc cancels · Tab completes"

    def __init__(self, app: GwtuiApp) -> None:
        super().__init__(":", _HINT)
        self._names = PathNames(app)
        self.input.complete_by(self._names.complete)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.run_worker(self._learn(event.value), group="names", exclusive=True)

    async def _learn(self, text: str) -> None:
        await self._names.read_missing_lists(text)
        typed = self.input.value
        whole = self.input.completed(typed)
        if self.display and whole is not None:
            self.input.post_message(SuggestionReady(typed, whole))

    def submit(self, text: str) -> None:
        """Complete the typed text, then open that path or run that command."""
        screen = cast("GatewayScreen", self.screen)
        self.close()
        screen.focus_body()
        screen.call_later(run_goto, screen.capture(), self.input.completed(text) or text)


async def run_goto(context: ActionContext, text: str) -> None:
    """Go to the typed path or run the typed command; show a warning if it is neither."""
    if not text:
        return
    app, meant = context.app, parse_goto(text)
    if meant.problem:
        app.say(meant.problem, severity="warning")
    elif meant.command is not None:
        await app.perform(meant.command, replace(context, argument=meant.argument))
    else:
        await app.open_route(meant.route)
