"""Every resource and every screen of the dashboard: one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gwtui.ui.resources.endpoints import ENDPOINTS
from gwtui.ui.resources.keys import KEYS
from gwtui.ui.resources.models import MODELS
from gwtui.ui.resources.providers import PROVIDERS
from gwtui.ui.resources.spec import ResourceSpec
from gwtui.ui.resources.workspaces import WORKSPACES
from gwtui.ui.screens.credits import CreditsScreen

if TYPE_CHECKING:
    from gwtui.ui.screens.base import GatewayScreen

RESOURCES: Mapping[str, ResourceSpec[Any]] = {
    spec.id: spec for spec in (KEYS, MODELS, ENDPOINTS, WORKSPACES, PROVIDERS)
}
"""What the generic list-and-detail screen can draw, by resource id."""

SCREENS: Mapping[str, Callable[[], GatewayScreen]] = {"credits": CreditsScreen}
"""Tabs with a screen of their own."""

TABS: tuple[str, ...] = ("credits", "keys", "models", "workspaces", "providers")
"""The tabs from left to right; each is in RESOURCES or in SCREENS."""
