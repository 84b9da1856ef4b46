"""What is shown while the terminal is too small for anything else."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from gwtui.ui.screens.modal import Modal
from gwtui.ui.terminal import SMALLEST


class TooSmallScreen(Modal[None]):
    """Covers everything, forms included, and leaves it as it is."""

    covers_all = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "app.quit", show=False)]

    def compose(self) -> ComposeResult:
        """The notice."""
        yield Static(
            "The terminal is too small for gwtui.\n"
            f"It needs {SMALLEST.width} columns and {SMALLEST.height} lines.\n"
            "Everything is kept; q quits.",
            markup=False,
        )
