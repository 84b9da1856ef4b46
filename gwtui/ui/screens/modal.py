"""The base of the shell's modal screens."""

from __future__ import annotations

from typing import TypeVar

from textual.reactive import Reactive
from textual.screen import ModalScreen
from textual.widget import Widget

Result = TypeVar("Result")


class Modal(ModalScreen[Result]):
    """Opaque, and not repainted as a whole when the focus moves."""

    AUTO_FOCUS = ""
    focused = Reactive[Widget | None](None, repaint=False)
