"""The description of one thing a user can do."""

from __future__ import annotations

from dataclasses import dataclass

APP = "app"
"""Scope of actions that are offered everywhere."""
LIST = "list"
"""Scope of actions that every resource list offers."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a user can do, wherever it is offered.

    ``id`` is scope and verb ("keys.delete"); user interfaces attach a handler to it. ``keys`` are
    Textual key names, the first is the one shown. ``scope`` is APP, LIST or a resource id.
    ``target`` means that it acts on the selected resource. ``footer`` asks for a place there.
    """

    id: str
    title: str
    help: str
    scope: str
    keys: tuple[str, ...] = ()
    mutates: bool = False
    target: bool = False
    footer: bool = False
