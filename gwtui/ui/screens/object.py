"""A screen of one object: titled sections of figures that scroll."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from textual.app import ComposeResult

from gwtui.crud.action import COPY
from gwtui.crud.resource import Section
from gwtui.resources.frame_actions import FIGURES
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import LinesView

_MARGINS = 3
"""Padding on both sides and the scrollbar, whose place is always kept free."""
_WIDEST = 100


class ObjectScreen(GatewayScreen):
    """Shows every figure of one object. A subclass calls ``show_object`` when it has one."""

    def __init__(self, resource: str, *, title: str) -> None:
        super().__init__(resource, title=title, extra_scopes=(FIGURES, COPY))
        self._object: tuple[str, Sequence[Section[Any]], Any] | None = None

    def compose_body(self) -> ComposeResult:
        """The figures."""
        yield LinesView(id="object")

    def show_object(self, name: str, sections: Sequence[Section[Any]], item: Any) -> None:
        """Show this one; ``name`` must be fit to be shown."""
        self._object = (name, sections, item)
        self.tick(self.now)

    def tick(self, now: datetime) -> None:
        """Relative times move on; lines that stay the same are not repainted."""
        if self._object is not None:
            name, sections, item = self._object
            width = min(_WIDEST, self.app.size.width - _MARGINS)
            lines = section_lines(name, sections, item, now, width)
            self.query_one("#object", LinesView).show(lines)

    def target(self) -> Any | None:
        """The object."""
        return None if self._object is None else self._object[2]

    def focus_body(self) -> None:
        """The figures scroll."""
        self.query_one("#object").focus()

    def on_resize(self) -> None:
        """Lay the figures out for the new width."""
        self.tick(self.now)
