"""The key that the dashboard uses: what it may do and what binds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.contract.keys import CurrentKey
from gwtui.ui.resources.current_key import SECTIONS, current_key_feed, shown_name
from gwtui.ui.screens.object import ObjectScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub


class CurrentKeyScreen(ObjectScreen):
    """Rights, limits, budgets and usage of the key in use."""

    def __init__(self) -> None:
        super().__init__("key", title="This key")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The key in use."""
        return [(current_key_feed(hub, self.gwtui.scope), self._show)]

    def _show(self, state: FeedState[CurrentKey]) -> None:
        if state.value is not None:
            self.show_object(shown_name(state.value), SECTIONS, state.value)
