"""Asks for the path of a file to write."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.domain.safe_text import safe_line
from gwtui.local.exported_file import ExportError, path_meant
from gwtui.ui.guarded import clear_notices
from gwtui.ui.screens.modal import Modal
from gwtui.ui.tones import toned
from gwtui.ui.widgets.prompt import QuietInput

KEYS = "Enter writes it · ~ is your home directory · Esc leaves"
_LONGEST = 300


class SaveScreen(Modal[Path | None]):
    """Returns a path that can be written to, None when left. A file there is not asked about.

    ``name`` is how a file is called where only a directory is given; ``start`` what is in the line
    at first, ``problem`` why nothing could be written there.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str, name: str, start: str = "", problem: str = "") -> None:
        super().__init__()
        self._problem = problem
        self._title = title
        self._file_name = name
        self._start = start or name

    def compose(self) -> ComposeResult:
        """Title, path, what is wrong with it, keys."""
        with Vertical(classes="dialog save"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            yield QuietInput(placeholder=self._file_name)
            yield Static(self._note(), id="save-note")
            yield Static(toned(KEYS, "muted"), classes="keys")

    def on_mount(self) -> None:
        """Start with the usual name; no notice stands on what is wrong with another one."""
        clear_notices(self.app)
        line = self.query_one(QuietInput)
        line.begin_with(self._start)
        self.set_focus(line)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            self.dismiss(path_meant(event.value, self._file_name))
        except ExportError as error:
            self.app.bell()
            self._problem = str(error)
            self.query_one("#save-note", Static).update(self._note())

    def _note(self) -> Content:
        if self._problem:
            return toned(f"Not written: {safe_line(self._problem, _LONGEST)}", "bad")
        try:
            return toned(f"paths start in {safe_line(Path.cwd(), _LONGEST)}", "muted")
        except OSError:  # it was removed meanwhile
            return toned("a whole path is needed, or one from ~", "muted")

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss(None)
