"""The screen that shows a form, sends its request and reports the outcome."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from pydantic import ValidationError
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static
from textual.worker import Worker

from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.request_log import PendingRequests, pending_in
from gwtui.contract.request import RequestModel, problems
from gwtui.crud.fields import Field, PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome, Plan, Refused, Unknown
from gwtui.crud.plan_text import in_one_line, sentence
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_text
from gwtui.ui.commands import focus_keys, with_keys
from gwtui.ui.forms.field_editors import Edited, Entered, TextEditor
from gwtui.ui.forms.form_state import FormState
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.input_queue import SUBMITTING
from gwtui.ui.screens.dialogs import Editing, buttons
from gwtui.ui.text import toned
from gwtui.ui.unresolved_changes import route_to
from gwtui.ui.waits import NOTICEABLE, READING, waiting_text
from gwtui.ui.widgets.containers import DialogBox, FoldingScroll
from gwtui.ui.widgets.frame import TwoEnds

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp

T = TypeVar("T")

Submit = Callable[[Any], Awaitable[Outcome[T] | None]]
"""Sends a request of the form's model. Returns None if nothing was sent and the form stays open."""

SENDING = "Sending…"


def plan_line(plan: Plan[Any]) -> Content:
    """Return one line for the plan: its change, or the warnings to confirm first."""
    if not plan.warnings:
        return toned(in_one_line(plan), "muted")
    asks = with_keys("{form.send} asks you to confirm.")
    return toned(f"! {' '.join(plan.warnings)} {asks}", "warn")


async def keep_request(request: RequestModel) -> Applied[RequestModel]:
    """Accept the request without sending it, for a form whose result is the request itself."""
    return Applied(request)


class _Fields(FoldingScroll, inherit_bindings=False):
    """The scrolling area of the fields; arrows and PgUp/PgDn move the focus between fields."""


class FormScreen(Editing[Applied[T] | Unknown | None], Generic[T]):
    """Fills in a request and sends it.

    Returns the applied change, a lost response, or None if the form was cancelled. A refusal keeps
    the form and every typed text. While the request is in flight the form cannot be changed or
    closed; after a lost response it can only be closed, never sent again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "submit", show=False, id="form.send"),
        Binding("escape", "leave", show=False, id="form.leave"),
        Binding("down", "app.focus_next", show=False, id="form.next_field"),
        Binding("up", "app.focus_previous", show=False, id="form.previous_field"),
        Binding("pagedown", "part(1)", show=False, id="form.next_part"),
        Binding("pageup", "part(-1)", show=False, id="form.previous_part"),
    ]
    AUTO_FOCUS = ".editor"
    SENDING: ClassVar[str] = SENDING
    """Shown while the request is in flight."""
    READING: ClassVar[str] = READING
    """Shown when the reads before the request take long."""

    def __init__(self, spec: FormSpec, preview_context: PreviewContext, submit: Submit[T]) -> None:
        super().__init__()
        self.spec = spec
        self.state = FormState(spec, preview_context)
        self._submit = submit
        self._sending = False
        self._pending = PendingRequests(SYSTEM_CLOCK)
        self._worker: Worker[None] | None = None
        self._sent_from: Widget | None = None
        """The widget that had the focus when the form was sent."""
        self._lost: Unknown | None = None
        self._shown_message = Content("")
        self._parts: list[list[FieldRow]] = []

    def compose(self) -> ComposeResult:
        with DialogBox(id="form", classes="" if self.spec.plan is None else "-planned"):
            yield TwoEnds(
                toned(self.spec.title, "accent", bold=True),
                self.state.preview_context.where,
                id="form-title",
            )
            with _Fields(id="form-fields", classes="long", can_focus=False):
                for title, fields in groupby(self.spec.fields, lambda field: field.group):
                    yield from self._compose_part(title, fields)
            yield Static(id="form-message")
            yield Static(id="form-plan")
            yield buttons(submit=self.spec.submit, cancel="Cancel")

    def _compose_part(self, title: str, fields: Iterable[Field]) -> ComposeResult:
        rows = [FieldRow(field, self.state) for field in fields]
        self._parts.append(rows)
        if title:
            rows[0].heading = Static(toned(title, "accent", bold=True), classes="part")
        if rows[0].heading is not None:
            yield rows[0].heading
        yield from rows

    @property
    def _rows(self) -> Iterator[FieldRow]:
        return (row for part in self._parts for row in part)

    @property
    def hint(self) -> str:
        if self._lost is not None:
            return "{form.leave} closes"
        keys = f"{{form.send}} {self.spec.sends} · {{form.leave}} cancels · Tab moves"
        more = focus_keys(self.focused)
        return f"{keys} · {more}" if more else keys

    def on_mount(self) -> None:
        self._focus_field(self.spec.first)
        self._show()
        self.set_interval(5.0, self._show)
        self.set_interval(NOTICEABLE, self._show_message)

    @property
    def unsaved(self) -> bool:
        return self._sending or (self.state.changed and self._lost is None)

    @property
    def loss(self) -> str:
        if self._sending:
            return "The form is being sent; only the audit log would record the outcome."
        return "Your changes in the form have not been sent."

    # Keys and buttons -----------------------------------------------------------------------

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self._show()  # other fields may mean something else now

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        self.focus_next()

    def action_part(self, step: int) -> None:
        """Go to the first field of the next or previous part; scroll a form without parts."""
        parts = [rows for rows in self._parts if rows[0].heading is not None]
        current = (at for at, rows in enumerate(parts) if self._has_focus(rows))
        goal = next(current, len(parts)) + step
        if not parts:
            self.action_page(step)
        elif 0 <= goal < len(parts):
            open_fields = (row.field.name for row in parts[goal] if row.field.fixed is None)
            self._focus_field(next(open_fields, None))
            if heading := parts[goal][0].heading:
                self.call_after_refresh(heading.scroll_visible, animate=False, top=True)

    @staticmethod
    def _has_focus(rows: list[FieldRow]) -> bool:
        return any(widget and widget.has_focus_within for widget in (*rows, rows[0].heading))

    @on(Button.Pressed)
    async def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "submit" and self._lost is not None:
            self.dismiss(self._lost)
            app = cast("GwtuiApp", self.app)
            app.call_later(app.open_route, route_to(self._lost.plan_id))
        elif event.button.id == "submit":
            self.action_submit()
        else:
            self.action_leave()

    def action_submit(self) -> None:
        """Send the form, unless a field is invalid."""
        if self._sending or self._lost is not None:
            return
        request = self.state.attempt()
        self._show()
        if request is None:
            self._focus_field(self.state.first_problem)
            return
        self._sent_from = self.focused
        self._hold(True)
        # Owned by the app: the worker of a screen would die with the screen.
        self._pending = PendingRequests(SYSTEM_CLOCK)
        self._worker = self.app.run_worker(self._send(request), name="form", group=SUBMITTING)

    def action_leave(self) -> None:
        """Close the form; ask first if changes would be lost."""
        if self._lost is not None:
            self.dismiss(self._lost)
        elif self._sending:
            if not self.cancel_reading():
                self.app.bell()
        else:
            super().action_leave()

    async def fill_in(self, spec: FormSpec) -> RequestModel | None:
        """Let the user fill in another form, above this form, such as one for a single field.

        Returns the request of the other form, or None if it was cancelled.
        """
        form: FormScreen[RequestModel] = FormScreen(spec, self.state.preview_context, keep_request)
        outcome = await self.app.push_screen_wait(form)
        return outcome.value if isinstance(outcome, Applied) else None

    # Sending --------------------------------------------------------------------------------

    def cancel_reading(self) -> bool:
        """Stop submitting and go back to editing, if submitting waits for slow reads.

        Returns whether submitting was stopped; a request that was sent is never cancelled.
        """
        pending = self._pending
        takes_long = pending.reading and pending.seconds >= NOTICEABLE
        if self._worker is None or pending.write_sent or not takes_long:
            return False
        self._worker.cancel()
        self._hold(False)
        return True

    async def _send(self, request: RequestModel) -> None:
        try:
            outcome = await self._outcome(request)
        except Exception:
            self._hold(False)
            raise
        match outcome:
            case Applied():
                self._sending = False
                self.dismiss(outcome)
                return
            case Refused(error):
                self.state.refuse(error)
            case Unknown():
                self._lost = outcome
        self._hold(False)
        self._show()
        if self._lost is not None:
            self._only_close()
        elif outcome is not None:
            self._focus_field(self.state.first_problem)

    async def _outcome(self, request: RequestModel) -> Outcome[T] | None:
        try:
            with pending_in(self._pending):
                return await self._submit(request)
        except GatewayError as error:
            return Refused(error)
        except ValidationError as error:
            refusals = problems(error)
        return Refused(InvalidRequestError(refusals))

    def _hold(self, sending: bool) -> None:
        self._sending = sending
        self.query_one("#form-fields").disabled = sending
        for button in self.query(Button):
            button.disabled = sending
        if not sending and self._sent_from is not None:
            if isinstance(self._sent_from, TextEditor):
                self._sent_from.keep_cursor()
            self._sent_from.focus()
        self._show_message()

    def _only_close(self) -> None:
        self.query_one("#form-fields").disabled = True
        self.query_one("#cancel", Button).label = Content("Close")
        button = self.query_one("#submit", Button)
        button.label = Content("Check now")
        button.focus()

    def _focus_field(self, name: str | None) -> None:
        for row in self._rows:
            if row.field.name == name:
                row.editor.focus()

    # Showing --------------------------------------------------------------------------------

    def _show(self) -> None:
        for row in self._rows:
            row.show_state()
        self._show_message()
        self._show_plan()

    def _show_message(self) -> None:
        if not self.is_open:
            return  # a worker of the form may end just after its widgets are gone
        line = self.query_one("#form-message", Static)
        content = self._message()
        if not content.is_same(self._shown_message):
            self._shown_message = content
            line.display = bool(content.plain)
            line.update(content)

    def _show_plan(self) -> None:
        if self.spec.plan is not None:
            request = self.state.request()
            plan = None if request is None else self.spec.plan(request)
            line = Content("") if plan is None else plan_line(plan)
            self.query_one("#form-plan", Static).update(line, layout=False)

    def on_unmount(self) -> None:
        self.state.forget_secrets()

    def _message(self) -> Content:
        if self._lost is not None:
            message = safe_text(self._lost.error.message, 200)
            return Content.assemble(
                toned(f"Outcome unknown: {sentence(message)} ", "bad"),
                toned(f"It is not sent again. {self.spec.unknown_help}", "plain"),
            )
        if self._sending:
            cancels = not self._pending.write_sent
            text = waiting_text(self._pending, self.READING, cancels=cancels)
            return toned(text or self.SENDING, "accent")
        if self.state.refusal:
            return toned(f"✗ {self.state.refusal}", "bad")
        return Content("")
