"""The key that the dashboard uses: its permissions and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.contract.current_key import CurrentKey
from gwtui.resources.copying import declared
from gwtui.resources.keys.current import SECTIONS, THIS_KEY, key_rights_section, shown_name
from gwtui.ui.screens.pages import ObjectScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.keys import KeyRights, current_key_feed, key_rights_feed

if TYPE_CHECKING:
    from gwtui.resources.copying import CopySource
    from gwtui.watch.hub import FeedHub


class CurrentKeyScreen(ObjectScreen):
    """Permissions, models, limits, budgets and usage of the key in use."""

    def __init__(self) -> None:
        super().__init__("key", title="This key")
        self._current: CurrentKey | None = None
        self._reach: KeyRights | None = None

    def copy_source(self) -> CopySource[CurrentKey]:
        """The key in use; its path needs no id."""
        return declared(THIS_KEY, lambda _label: self.resource)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The key in use, and the models it may call."""
        scope = self.gwtui.scope
        return [
            (current_key_feed(hub, scope), self._show),
            (key_rights_feed(hub, scope), self._show_reach),
        ]

    def _show(self, state: FeedState[CurrentKey]) -> None:
        if state.value is not None:
            self._current = state.value
            self._lay_out()

    def _show_reach(self, state: FeedState[KeyRights]) -> None:
        if state.value is not None:
            self._reach = state.value
            self._lay_out()

    def _lay_out(self) -> None:
        if self._current is not None:
            rights, *others = SECTIONS
            sections = (rights, key_rights_section(self._reach), *others)
            self.show_object(shown_name(self._current), sections, self._current)
