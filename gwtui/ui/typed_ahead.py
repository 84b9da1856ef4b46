"""Keys that arrive together, as over a slow line, do what they would do one by one."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.widget import Widget

from gwtui.ui.guarded import GuardedApp


class TypedAheadApp(GuardedApp, inherit_bindings=False):
    """A key goes to what has the focus when its turn comes.

    Textual hands every key to the widget that has the focus as it arrives. When several come at
    once and the first one moves the focus, the others were handed to the wrong widget: what was
    typed behind ``:`` or ``/`` would be lost.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._handed: WeakKeyDictionary[events.Key, Widget] = WeakKeyDictionary()

    async def on_event(self, event: events.Event) -> None:
        """Remember whom a key is handed to."""
        if isinstance(event, events.Key) and not event.is_forwarded and self.screen_stack:
            self._handed[event] = self.focused or self.screen
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """Nobody wanted it: hand it on when the focus has moved since, else it is a binding's."""
        before = self._handed.pop(event, None)
        now = (self.focused or self.screen) if self.screen_stack else None
        if before is not None and now is not None and now is not before:
            event.prevent_default()
            again = event.copy()
            self._handed[again] = now
            now._forward_event(again)
