"""Small dialogs: a question or notice, a wait, a path to write to, a terminal that is too small."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from gwtui.domain.safe_text import safe_line
from gwtui.local.exported_file import ExportError, path_meant
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.modal import Dialog, Result, buttons
from gwtui.ui.terminal.modes import SMALLEST
from gwtui.ui.text import toned
from gwtui.ui.widgets.prompt import QuietInput

_LONGEST = 300


class Question(Dialog[bool]):
    """Returns True only for the deliberate answer; the safe one has the focus and is on Escape.

    Without ``deliberate`` it has only the safe button. Texts must have passed ``safe_text``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n,q", "leave", show=False, id="question.no"),
        Binding("y", "go", show=False, id="question.yes"),
        Binding("left,up", "app.focus_previous", show=False, id="question.previous"),
        Binding("right,down", "app.focus_next", show=False, id="question.next"),
    ]
    AUTO_FOCUS = "#safe"

    def __init__(
        self, question: str, text: str, *, safe: str = "Close", deliberate: str = ""
    ) -> None:
        super().__init__()
        self._question = question
        self._text = text
        self._safe = safe
        self._deliberate = deliberate

    @property
    def hint(self) -> str:
        """The keys of the two answers."""
        if not self._deliberate:
            return "{question.no} closes"
        return "{question.yes} confirms · {question.no} cancels · Tab moves · Enter selects"

    def compose(self) -> ComposeResult:
        """Question, reason, buttons."""
        with Vertical(classes="dialog"):
            yield Static(toned(self._question, "plain", bold=True), classes="title")
            yield Static(toned(self._text, "muted"))
            yield buttons(safe=self._safe, deliberate=self._deliberate)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "deliberate")

    def action_leave(self) -> None:
        """The safe answer."""
        self.dismiss(False)

    def action_go(self) -> None:
        """The deliberate answer, if there is one."""
        if self._deliberate:
            self.dismiss(True)


class AskScreen(Question):
    """A question or a notice."""


class Editing(Dialog[Result]):
    """A dialog with unsaved changes: leaving it asks first if they would be lost."""

    @property
    def unsaved(self) -> bool:
        """Whether leaving now would lose changes."""
        raise NotImplementedError

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        raise NotImplementedError

    def action_leave(self) -> None:
        """Close; ask first if changes would be lost."""
        if self.unsaved:
            self._ask()
        else:
            self.dismiss(None)

    @work(group=OPENING, exclusive=True)
    async def _ask(self) -> None:
        question = AskScreen(
            "Discard your changes?",
            "They have not been sent.",
            safe="Keep editing",
            deliberate="Discard",
        )
        if await self.app.push_screen_wait(question):
            self.dismiss(None)


class WaitScreen(Question):
    """Shows what is waited for; closes when that is over or the person stops waiting."""

    hint = "Esc stops waiting"

    def __init__(
        self, title: str, text: str, until: Callable[[], Awaitable[object]], *, enough: str
    ) -> None:
        super().__init__(title, text, safe=enough)
        self._until = until

    def on_mount(self) -> None:
        """Start waiting."""
        self.run_worker(self._wait())

    async def _wait(self) -> None:
        await self._until()
        self.dismiss(False)


class SaveScreen(Dialog[Path | None]):
    """Asks for a path to write to; returns None if it was left. Existing files are allowed.

    ``name`` is the file name if the person enters a directory, ``start`` the initial text, and
    ``problem`` why the last attempt failed.
    """

    AUTO_FOCUS = "QuietInput"
    hint = "Enter writes the file · Esc cancels · ~ is your home directory"

    def __init__(self, title: str, name: str, start: str = "", problem: str = "") -> None:
        super().__init__()
        self._problem = problem
        self._title = title
        self._file_name = name
        self._start = start or name

    def compose(self) -> ComposeResult:
        """Title, path, problem."""
        with Vertical(classes="dialog save"):
            yield Static(toned(self._title, "accent", bold=True), classes="title")
            yield QuietInput(placeholder=self._file_name)
            yield Static(self._note(), id="save-note")

    def on_mount(self) -> None:
        """Start with the suggested path, and clear notices that could cover the problem."""
        self.clear_notices()
        self.query_one(QuietInput).begin_with(self._start)

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
        except OSError:  # the working directory was removed
            return toned("enter an absolute path, or one that starts with ~", "muted")


class TooSmallScreen(Dialog[None]):
    """Covers everything while the terminal is too small, and changes nothing below."""

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

    def action_leave(self) -> None:
        """Only a larger terminal closes it."""
