"""The command palette: every action of the screen by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual.content import Content

from gwtui.crud.action import Action
from gwtui.crud.fields import PickOption
from gwtui.resources.actions import GO, for_scope, place_actions
from gwtui.ui.commands import asked_by, shown
from gwtui.ui.screens.picker import OptionSource, Picker
from gwtui.ui.text import toned

_KEY = 7
"""Width of the key column in cells."""


def palette(
    actions: Sequence[Action], refusal: Callable[[Action], str | None], about: str
) -> Picker:
    """A list of actions; returns the id of the chosen one.

    It only chooses: the target of the action was captured before it was opened. ``refusal`` gives
    why an action is not possible now.
    """

    def option(action: Action) -> PickOption:
        held = "" if refusal(action) is None else "not now · "
        return PickOption(action.id, action.title, f"{held}{action.help}", action.names)

    def more(text: str) -> Sequence[PickOption]:
        return [option(action) for action in elsewhere(actions, text)]

    places = {action.id: action for action in place_actions()}
    marks = {action.id: _key(action) for action in (*places.values(), *actions)}
    source = OptionSource(map(option, actions), noun="actions")
    return Picker(about, source, marks=marks, more=more)


def _key(action: Action) -> Content:
    word = f":{action.command_words[0]}" if action.command_words else ""
    key = shown(action.keys[0]) if action.keys else word
    return toned(f"{key.rjust(_KEY)}  ", "accent")


def elsewhere(actions: Sequence[Action], text: str) -> list[Action]:
    """Screens that have a matching action which these ``actions`` lack.

    One for each such place, whose help says what is found there. Nothing where one of ``actions``
    is called so itself.
    """
    words = text.casefold().split()

    def called(action: Action) -> bool:
        return all(word in action.names for word in words)

    if not words or any(map(called, actions)):
        return []
    here = {action.scope for action in actions}
    found = []
    for place in place_actions():
        scope = place.id.removeprefix(GO)
        there = next(filter(called, for_scope(scope)), None)
        if there is not None and scope not in here:
            found.append(
                replace(place, help=f"{asked_by(there)} there · {there.title}: {there.help}")
            )
    return found
