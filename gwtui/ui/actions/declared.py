"""Handlers of the resources that need no code of their own: the engine's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gwtui.resources.organization.settings import SETTINGS
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import Handler

HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("byok", "create", "edit", "rotate", "toggle", "delete"),
    "organization.edit": partial(crud.edit_only, SETTINGS),
}
