"""The bases of the shell's modal screens."""

from __future__ import annotations

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.reactive import Reactive
from textual.screen import ModalScreen
from textual.widget import Widget

Result = TypeVar("Result")


class Answered(ModalScreen[Result]):
    """Gives its answer once, whatever comes in one burst of keys and whatever stands above it.

    Textual takes the topmost screen away for each ``dismiss``, whichever screen asked for it: a
    second answer would close what is beneath, and one that comes while another screen stands above
    would close that one.
    """

    _waiting: tuple[Result | None] | None = None

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with this result: now, or as soon as nothing stands above; the first one counts."""
        stack = self.app.screen_stack
        if self not in stack:
            return AwaitComplete()
        if stack[-1] is self:
            return super().dismiss(result if self._waiting is None else self._waiting[0])
        if self._waiting is None:
            self._waiting = (result,)
        return AwaitComplete()

    def on_screen_resume(self) -> None:
        """Nothing stands above any more: what was answered meanwhile holds."""
        if self._waiting is not None:
            self.dismiss()


class Modal(Answered[Result]):
    """Opaque, and not repainted as a whole when the focus moves."""

    AUTO_FOCUS = ""
    focused = Reactive[Widget | None](None, repaint=False)
