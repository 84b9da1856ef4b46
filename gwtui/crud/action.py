"""The description of one thing a user can do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

APP = "app"
"""Scope of actions that are offered everywhere."""
LIST = "list"
"""Scope of actions that every resource list offers."""

COPY = "copy"
"""Scope of actions on what a screen shows, that take it out of the program."""

OnMarked = Literal["refuse", "all", "cursor"]
"""What an action with a target does while rows are marked.

"refuse": it acts on one row only, so it does nothing. "all": it acts on every marked row. "cursor":
it stays with the selected row; only for what shows that row or goes somewhere from it, with its
name in sight, and changes and takes along nothing.
"""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a user can do, wherever it is offered.

    ``id`` is scope and verb ("keys.delete"); user interfaces attach a handler to it. ``keys`` are
    Textual key names, the first is the one shown. ``scope`` is APP, LIST or a resource id.
    ``target`` means that it acts on the selected resource, ``marked`` says what it does while rows
    are marked. ``footer`` asks for a place there. ``bills`` means that it sends a request to a
    model, which costs money. ``command_words`` may be typed for it behind a colon. ``keywords`` are
    further names that a search finds it by; they are not shown.
    """

    id: str
    title: str
    help: str
    scope: str
    keys: tuple[str, ...] = ()
    mutates: bool = False
    target: bool = False
    marked: OnMarked = "refuse"
    footer: bool = False
    bills: bool = False
    command_words: tuple[str, ...] = ()
    keywords: str = ""

    @property
    def names(self) -> str:
        """Title, command words and keywords in lower case, for searches."""
        return f"{self.title} {' '.join(self.command_words)} {self.keywords}".casefold()


def scoped_action(id: str, title: str, help: str, *keys: str, **more: Any) -> Action:
    """Return an action whose scope is the first part of its id; ``more`` sets other fields."""
    return Action(id, title, help, id.partition(".")[0], keys, **more)


def show_action(id: str, title: str, help: str, *keys: str, **more: Any) -> Action:
    """Return an action that shows the selected row or opens something related; it only reads."""
    return scoped_action(id, title, help, *keys, target=True, marked="cursor", **more)


def create_action(resource: str, title: str, help: str) -> Action:
    """Return the action that creates a resource: ``n``."""
    return scoped_action(
        f"{resource}.create",
        title,
        help,
        "n",
        mutates=True,
        footer=True,
        keywords="create add make",
    )


def edit_action(resource: str, help: str) -> Action:
    """Return the action that edits the selected or marked resources: ``e``."""
    action = on_selected(f"{resource}.edit", "Edit", help, "e")
    return replace(action, marked="all", keywords="change update modify rename")


def switch_action(resource: str, help: str) -> Action:
    """Return the action that disables or enables the selected or marked resources: ``x``."""
    action = on_selected(f"{resource}.toggle", "On/off", help, "x")
    return replace(action, marked="all", keywords="disable enable deactivate activate switch block")


def delete_action(resource: str, help: str, *, marked: OnMarked = "all") -> Action:
    """Return the action that deletes the selected or marked resources: ``D`` or Delete."""
    action = on_selected(f"{resource}.delete", "Delete", help, "D", "delete")
    return replace(action, marked=marked, keywords="remove revoke")


def on_selected(id: str, title: str, help: str, *keys: str) -> Action:
    """Return an action that changes the selected resource; the id begins with its scope."""
    return scoped_action(id, title, help, *keys, mutates=True, target=True, footer=True)


def try_action(resource: str, help: str) -> Action:
    """Return the action that tries a request from the selected resource: ``T``."""
    return scoped_action(
        f"{resource}.try",
        "Try a request",
        help,
        "T",
        target=True,
        bills=True,
        keywords="test send prompt chat",
    )
