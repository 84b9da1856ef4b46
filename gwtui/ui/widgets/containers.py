"""Containers of the dashboard."""

from __future__ import annotations

from textual.containers import VerticalScroll

from gwtui.ui.widgets.lifetime import RunsWhileOpen


class FoldingScroll(RunsWhileOpen, VerticalScroll):
    """Keeps what has the focus in view when its size changes."""

    def on_resize(self) -> None:
        """There may be less room for it."""
        self._keep_in_view()

    def watch_virtual_size(self) -> None:
        """Lines were folded anew."""
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        focused = self.screen.focused
        if focused is None:
            return
        for part in self.children:
            if part in focused.ancestors_with_self:
                self.call_after_refresh(part.scroll_visible, animate=False)
