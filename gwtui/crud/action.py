"""The declaration of a user action, and functions that declare the common ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

APP = "app"
"""Scope of actions that are offered everywhere."""
LIST = "list"
"""Scope of the actions that every resource list offers."""

COPY = "copy"
"""Scope of the actions that copy or export data from a screen."""

OnMarked = Literal["refuse", "all", "cursor"]
"""How an action on the selected row behaves while rows are marked.

"refuse": disabled, because it acts on one row only. "all": acts on every marked row. "cursor": acts
on the selected row and ignores the marks; only for actions that show that row or navigate from it.
"""


@dataclass(frozen=True, slots=True)
class Action:
    """An action of the user: a key binding, a palette entry, a help line.

    ``id`` is scope and verb ("keys.delete"); user interfaces attach a handler to it. ``keys`` are
    Textual key names; the first one is displayed. ``scope`` is APP, LIST or a resource id.
    ``mutates``: it changes something on the gateway. ``target``: it acts on the selected resource.
    ``marked``: how it behaves while rows are marked. ``footer``: it is listed in the footer.
    ``bills``: it sends a request to a model, which costs money. ``command_words`` can be typed
    after a colon to run it. ``keywords`` are further search terms for the palette; they are not
    displayed.
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
    """Return an action whose scope is the first part of its id; ``more`` sets the other fields."""
    return Action(id, title, help, id.partition(".")[0], keys, **more)


def show_action(id: str, title: str, help: str, *keys: str, **more: Any) -> Action:
    """Return a read-only action that shows the selected row or opens something related."""
    return scoped_action(id, title, help, *keys, target=True, marked="cursor", **more)


def create_action(resource: str, title: str, help: str) -> Action:
    """Return the action that creates a resource (key ``n``)."""
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
    """Return the action that edits the selected or marked resources (key ``e``)."""
    action = on_selected(f"{resource}.edit", "Edit", help, "e")
    return replace(action, marked="all", keywords="change update modify rename")


def switch_action(resource: str, help: str) -> Action:
    """Return the action that disables or enables the selected or marked resources (key ``x``)."""
    action = on_selected(f"{resource}.toggle", "Enable/disable", help, "x")
    return replace(action, marked="all", keywords="disable enable deactivate activate switch block")


def delete_action(resource: str, help: str, *, marked: OnMarked = "all") -> Action:
    """Return the action that deletes the selected or marked resources (keys ``D`` and Delete)."""
    action = on_selected(f"{resource}.delete", "Delete", help, "D", "delete")
    return replace(action, marked=marked, keywords="remove revoke")


def on_selected(id: str, title: str, help: str, *keys: str) -> Action:
    """Return an action that modifies the selected resource; ``keys`` are its keyboard keys."""
    return scoped_action(id, title, help, *keys, mutates=True, target=True, footer=True)


def try_action(resource: str, help: str) -> Action:
    """Return the action that opens a test request for the selected resource (key ``T``)."""
    return scoped_action(
        f"{resource}.try",
        "Try a request",
        help,
        "T",
        target=True,
        bills=True,
        keywords="test send prompt chat",
    )
