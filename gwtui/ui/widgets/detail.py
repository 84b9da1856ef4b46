"""The pane with every figure of one resource."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gwtui.crud.resource import ResourceSpec
from gwtui.ui.detail_lines import detail_lines
from gwtui.ui.tones import toned
from gwtui.ui.widgets.lines import LinesView

_NARROWEST = 20


class DetailPane(LinesView):
    """Shows one item of a resource; another item starts at the top, the same one stays in place."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._identity: str | None = None
        self._shown: tuple[ResourceSpec[Any], Any, datetime] | None = None

    def on_resize(self) -> None:
        """Fold the lines anew: they may have been shown before the pane had its width."""
        if self._shown is not None:
            self.show_item(*self._shown)

    def show_item(self, spec: ResourceSpec[Any], item: Any | None, now: datetime) -> None:
        """Show this item, None for no selection."""
        self._shown = None if item is None else (spec, item, now)
        if item is None:
            self._identity = None
            self.show([toned("Nothing is selected", "muted")])
            return
        identity = spec.identity(item)
        if identity != self._identity:
            self._identity = identity
            self.scroll_to(0, 0, animate=False)
        width = max(_NARROWEST, self.scrollable_content_region.width)
        self.show(detail_lines(spec, item, now, width))
