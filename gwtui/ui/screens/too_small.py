"""What is shown while the terminal is too small for anything else."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.widgets import Static

from gwtui.ui.screens.modal import Modal

SMALLEST = Size(60, 15)


def is_too_small(size: Size) -> bool:
    """Whether the dashboard cannot be drawn in this size."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


class TooSmallScreen(Modal[None]):
    """Covers everything, forms included, and leaves it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", show=False)]

    def compose(self) -> ComposeResult:
        """The notice."""
        yield Static(
            "The terminal is too small for gwtui.\n"
            f"It needs {SMALLEST.width} columns and {SMALLEST.height} lines.\n"
            "Everything is kept; q quits.",
            markup=False,
        )
