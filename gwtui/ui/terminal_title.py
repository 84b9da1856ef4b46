"""The terminal's title, taken only while there is something to say, and given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from textual.driver import Driver

_LONGEST = 80
_PUSH, _POP = "\x1b[22;2t", "\x1b[23;2t"
_SET = "\x1b]2;{}\x1b\\"


class TerminalTitle:
    """Sets the title of the window or pane; sends nothing when it is that already.

    The title from before is put on the terminal's own stack. A terminal without one gets an empty
    title at the end, which most replace by their own.
    """

    def __init__(self) -> None:
        self._shown = ""

    def show(self, driver: Driver | None, text: str) -> None:
        """Show a text; an empty one gives the title back."""
        wanted = safe_line(text, _LONGEST)
        if driver is None or wanted == self._shown:
            return
        if not wanted:
            self.give_back(driver)
            return
        driver.write(("" if self._shown else _PUSH) + _SET.format(wanted))
        driver.flush()
        self._shown = wanted

    def give_back(self, driver: Driver | None) -> None:
        """The title from before."""
        if driver is not None and self._shown:
            self._shown = ""
            driver.write(_SET.format("") + _POP)
            driver.flush()

    def last_words(self) -> str:
        """The bytes that give the title back, for an end that waits for nothing."""
        return _SET.format("") + _POP if self._shown else ""
