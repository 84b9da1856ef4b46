"""The one screen that draws every form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import ValidationError
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static
from textual.worker import Worker

from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.request_log import PendingRequests, pending_in
from gwtui.contract.request import RequestModel, problems
from gwtui.crud.fields import Facts, row_id
from gwtui.crud.form import FieldGroup, FormSpec
from gwtui.crud.plan import Applied, Outcome, Plan, Refused, Unknown
from gwtui.crud.plan_text import in_one_line, sentence
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.safe_text import safe_text
from gwtui.ui.commands import focus_keys, with_keys
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.form_state import FormState, FormSummary
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.in_doubt_writes import ShowInDoubt
from gwtui.ui.input_queue import SUBMITTING
from gwtui.ui.screens.dialogs import Editing
from gwtui.ui.text import toned
from gwtui.ui.waits import NOTICEABLE, waiting_text
from gwtui.ui.widgets.containers import FoldingScroll
from gwtui.ui.widgets.frame import TwoEnds
from gwtui.ui.widgets.lines import Part, PartsLine

_GAP = "  "


class ProgressLine(PartsLine):
    """The titles of the parts on one line; a click goes there.

    ✗ counts fields whose problem is said, … those that must still be filled in, • changed ones.
    """

    def show_progress(self, state: FormState, current: int) -> None:
        """Show every part."""
        groups = state.spec.groups
        parts = [Part(toned(f"{current + 1}/{len(groups)}{_GAP}", "muted"))]
        for at, group in enumerate(groups):
            parts.append(Part(_part(group, state.summary(group), at == current), f"part.{at}"))
            parts.append(Part(Content(_GAP)))
        self.show_parts(parts)


def _part_with(focused: Widget | None, groups: Sequence[FieldGroup]) -> int:
    """The place of the part that the focus is in; the buttons stand below the last one."""
    nodes = [] if focused is None else focused.ancestors_with_self
    fields = [node.field for node in nodes if isinstance(node, FieldRow)]
    places = [at for at, group in enumerate(groups) for field in fields if field in group.fields]
    return places[0] if places else len(groups) - 1


def _part(group: FieldGroup, summary: FormSummary, current: bool) -> Content:
    title = toned(group.title, "accent" if current else "plain", bold=current)
    return Content.assemble(toned("▸", "accent") if current else "", title, _marks(summary))


def _marks(summary: FormSummary) -> Content:
    marks = []
    if summary.wrong:
        marks.append(toned(f" ✗{summary.wrong}", "bad", bold=True))
    if summary.lacking:
        marks.append(toned(f" …{summary.lacking}", "warn"))
    if summary.changed and not summary.wrong and not summary.lacking:
        marks.append(toned(f" •{summary.changed}", "muted"))
    return Content("").join(marks)


T = TypeVar("T")

Submit = Callable[[Any], Awaitable[Outcome[T] | None]]
"""Carries a request out: an instance of the form's model. None: the person went back to the form
before anything was sent."""

SENDING = "Sending…"

_FRAME_LINES = 4
"""Lines of the title and the buttons with the blank ones between."""
_MESSAGE_LINES = 4
"""Lines kept free for what the gateway said."""
_PLAN_LINES = 1
"""Lines of what the form would do."""
_ROW_LINES = 2
"""Lines that a field takes at least: its editor and what is said of it."""


def plan_line(plan: Plan[Any]) -> Content:
    """What a form would do now, or what has to be confirmed before."""
    if not plan.warnings:
        return toned(in_one_line(plan), "muted")
    asks = with_keys("! {form.send} asks first · ")
    return toned(asks + " · ".join(plan.warnings), "warn")


async def _kept(request: RequestModel) -> Applied[RequestModel]:
    return Applied(request)


class _Fields(FoldingScroll, inherit_bindings=False):
    """Scrolls with the focus only: arrows and pages go from field to field."""


class FormScreen(Editing[Applied[T] | Unknown | None], Generic[T]):
    """Fills in a request. Gives back what was applied, a lost answer, or None when left.

    A refusal keeps the form and everything typed. While the request is under way nothing can be
    changed or left; after a lost answer it can only be closed, never sent again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "submit", show=False, id="form.send"),
        Binding("escape", "leave", show=False, id="form.leave"),
        Binding("down", "app.focus_next", show=False, id="form.next_field"),
        Binding("up", "app.focus_previous", show=False, id="form.previous_field"),
        Binding("pagedown,ctrl+pagedown", "part(1)", show=False, id="form.next_part"),
        Binding("pageup,ctrl+pageup", "part(-1)", show=False, id="form.previous_part"),
    ]
    AUTO_FOCUS = ".editor"
    SENDING: ClassVar[str] = SENDING
    """What is said while the request is under way."""
    READING: ClassVar[str] = "Reading from the gateway"
    """What is said while something is read before, once that takes long."""

    def __init__(self, spec: FormSpec, facts: Facts, submit: Submit[T]) -> None:
        super().__init__()
        self.spec = spec
        self.state = FormState(spec, facts)
        self._submit = submit
        self._sending = False
        self._pending = PendingRequests(SYSTEM_CLOCK)
        self._worker: Worker[None] | None = None
        self._sent_from: Widget | None = None
        """What had the focus when the form was sent."""
        self._lost: Unknown | None = None
        self._shown_message = Content("")
        self._rows: list[FieldRow] = []

    def compose(self) -> ComposeResult:
        """Title, fields, what the gateway said, buttons."""
        with Vertical(id="form") as form:
            form.set_class(self._in_parts, "-parts")
            form.set_class(self.spec.plan is not None, "-planned")
            yield TwoEnds(
                toned(self.spec.title, "accent", bold=True), self.state.facts.where, id="form-title"
            )
            yield ProgressLine(id="form-progress")
            with _Fields(id="form-fields", can_focus=False):
                for at, group in enumerate(self.spec.groups):
                    if group.title:
                        title = toned(group.title, "accent", bold=True)
                        yield Static(title, id=f"part-{at}", classes="part")
                    for field in group.fields:
                        self._rows.append(FieldRow(field, self.state))
                        yield self._rows[-1]
            yield Static(Content(""), id="form-message")
            if self.spec.plan is not None:
                yield Static(Content(""), id="form-plan")
            with Horizontal(id="form-buttons"):
                yield Button(Content(self.spec.submit), id="submit", compact=True)
                yield Button(Content("Cancel"), id="cancel", compact=True)

    @property
    def hint(self) -> str:
        """How to send and to leave, then what the focus takes."""
        if self._lost is not None:
            return "{form.leave} closes"
        keys = f"{{form.send}} {self.spec.sends} · {{form.leave}} leaves · Tab next"
        if self._in_parts:
            keys += " · {form.next_part} next part"
        more = focus_keys(self.focused)
        return f"{keys} · {more}" if more else keys

    @property
    def _in_parts(self) -> bool:
        """Whether it is a long form."""
        return any(group.title for group in self.spec.groups)

    def on_mount(self) -> None:
        """Say what every field is for; relative times move on."""
        self.clear_notices()
        if self.spec.first:
            self._focus_field(self.spec.first)
        self._fit()
        self._expect_scrollbar()
        self._show()
        self.set_interval(5.0, self._show)
        self.set_interval(NOTICEABLE, self._show_message)

    @property
    def unsaved(self) -> bool:
        """Whether leaving now would lose something."""
        return self._sending or (self.state.changed and self._lost is None)

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        if self._sending:
            return "The form is being sent; its outcome would only stand in the ledger."
        return "What was typed into the form was not sent."

    # Keys and buttons -----------------------------------------------------------------------

    @on(FieldRow.Changed)
    def _changed(self, event: FieldRow.Changed) -> None:
        event.stop()
        self._show()

    @on(FieldRow.Done)
    def _next(self, event: FieldRow.Done) -> None:
        event.stop()
        self.focus_next()

    @on(PartsLine.Clicked)
    def _part_clicked(self, event: PartsLine.Clicked) -> None:
        event.stop()
        self._go_to_part(int(event.action.removeprefix("part.")))

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """Another field, perhaps in another part."""
        self._show_progress()

    def action_part(self, step: int) -> None:
        """To the first field of the next part, or the one before."""
        self._go_to_part(self._part() + step)

    def _part(self) -> int:
        """The place of the part that has the keys."""
        return _part_with(self.focused, self.spec.groups)

    def _go_to_part(self, place: int) -> None:
        groups = self.spec.groups
        if not self._in_parts or not 0 <= place < len(groups):
            return
        for field in groups[place].fields:
            if field.fixed is None:
                self.query_one(f"#{field.row_id}", FieldRow).editor.focus()
                self.call_after_refresh(self._show_part, place)
                return

    def _show_part(self, place: int) -> None:
        """As much of a part as there is room for, from its title on."""
        for title in self.query(f"#part-{place}"):
            title.scroll_visible(animate=False, top=True)

    @on(Button.Pressed)
    async def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "submit" and self._lost is not None:
            self._look(self._lost)
        elif event.button.id == "submit":
            self.action_submit()
        else:
            self.action_leave()

    def action_submit(self) -> None:
        """Send what was typed, unless something is wrong with it."""
        if self._sending or self._lost is not None:
            return
        well = self.state.attempt()
        request = self.state.request() if well else None
        self._show()
        if request is None:
            self._focus_problem()
            return
        self._sent_from = self.focused
        self._hold(True)
        self._carry_out(request)

    def action_leave(self) -> None:
        """Close; ask first when something typed would be lost."""
        if self._lost is not None:
            self.dismiss(self._lost)
        elif self._sending:
            if not self.cancel_reading():
                self.app.bell()
        else:
            super().action_leave()

    async def fill_in(self, spec: FormSpec) -> RequestModel | None:
        """Fill in a form of a part of this one, above it; None when it was left."""
        form: FormScreen[RequestModel] = FormScreen(spec, self.state.facts, _kept)
        outcome = await self.app.push_screen_wait(form)
        return outcome.value if isinstance(outcome, Applied) else None

    # Sending --------------------------------------------------------------------------------

    def _carry_out(self, request: RequestModel) -> None:
        # Owned by the app: the worker of a screen would die with the screen.
        self._pending = PendingRequests(SYSTEM_CLOCK)
        self._worker = self.app.run_worker(self._send(request), name="form", group=SUBMITTING)

    def cancel_reading(self) -> bool:
        """Go back to what was typed while only reads were sent; whether there was one to end."""
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
            self._focus_problem()

    async def _outcome(self, request: RequestModel) -> Outcome[T] | None:
        """What became of the request. One made in part of what the gateway gave may be illegal."""
        try:
            with pending_in(self._pending):
                return await self._submit(request)
        except GatewayError as error:
            return Refused(error)
        except ValidationError as error:
            refusals = problems(error)
        return Refused(InvalidRequestError(refusals))

    def _hold(self, sending: bool) -> None:
        """Freeze the form while its request is under way."""
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
        """After a lost answer: read what happened, then look or close."""
        self.query_one("#form-fields").disabled = True
        self.query_one("#cancel", Button).label = Content("Close")
        button = self.query_one("#submit", Button)
        button.label = Content("Look now")
        button.focus()

    def _look(self, lost: Unknown) -> None:
        """Close, and go to the write in doubt."""
        self.dismiss(lost)
        self.app.post_message(ShowInDoubt(lost.plan_id))

    def _focus_problem(self) -> None:
        wrong = self.state.first_problem
        if wrong is not None:
            self._focus_field(wrong)

    def _focus_field(self, name: str) -> None:
        self.query_one(f"#{row_id(name)}", FieldRow).editor.focus()

    # Showing --------------------------------------------------------------------------------

    def _show(self) -> None:
        for row in self._rows:
            row.show_state()
        self._show_message()
        self._show_plan()
        self._show_progress()

    def _show_progress(self) -> None:
        if self._in_parts:
            self.query_one(ProgressLine).show_progress(self.state, self._part())

    def _show_message(self) -> None:
        if not self.is_open:
            return  # what works for the form may end a moment after its lines are gone
        line = self.query_one("#form-message", Static)
        content = self._message()
        if not content.is_same(self._shown_message):
            self._shown_message = content
            line.display = bool(content.plain)
            line.update(content)
            self._fit()

    def _show_plan(self) -> None:
        if self.spec.plan is not None:
            request = self.state.request()
            plan = None if request is None else self.spec.plan(request)
            line = Content("") if plan is None else plan_line(plan)
            self.query_one("#form-plan", Static).update(line, layout=False)

    def on_unmount(self) -> None:
        """Secrets do not outlive the form."""
        self.state.forget_secrets()

    def on_resize(self) -> None:
        """Title and buttons stay in sight; the fields scroll."""
        self.call_after_refresh(self._fit)  # the frame around the form may come or go
        self.call_after_refresh(self._show_progress)

    def _fit(self) -> None:
        form = self.query_one("#form")
        taken = (
            form.gutter.height + _FRAME_LINES + (_MESSAGE_LINES if self._shown_message.plain else 0)
        )
        taken += 0 if self.spec.plan is None else _PLAN_LINES
        self.query_one("#form-fields").styles.max_height = max(2, self.most_lines(form) - taken)

    def _expect_scrollbar(self) -> None:
        """Show the scrollbar from the first layout on where the fields need one at any rate.

        Otherwise the first layout finds that out, and everything is laid out again beside it.
        """
        fields = self.query_one("#form-fields")
        most = fields.styles.max_height
        if most is not None and most.value < _ROW_LINES * len(self._rows):
            fields.show_vertical_scrollbar = True

    def _message(self) -> Content:
        if self._lost is not None:
            message = safe_text(self._lost.error.message, 200)
            return Content.assemble(
                toned(f"The answer was lost: {sentence(message)} ", "bad"),
                toned(f"It is not sent again. {self.spec.unknown_help}", "plain"),
            )
        if self._sending:
            cancels = not self._pending.write_sent
            text = waiting_text(self._pending, self.READING, cancels=cancels)
            return toned(text or self.SENDING, "accent")
        if self.state.refusal:
            return toned(f"✗ {self.state.refusal}", "bad")
        return Content("")
