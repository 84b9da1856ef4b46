"""Test requests to a model: the form, the worst-case cost, the request and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import SecretStr
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.worker import Worker

from gwtui.client.connection import InvalidConnectionError
from gwtui.client.errors import GatewayError, InvalidRequestError
from gwtui.client.inference import ChatAnswer, Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import Problem
from gwtui.crud.fields import PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Applied, Outcome, Refused
from gwtui.crud.resource import Tone
from gwtui.domain.clock import Clock
from gwtui.domain.diffs import ABSENT
from gwtui.domain.known_secrets import remember
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.tries.form import (
    IN_FORM,
    KEPT,
    KnownKey,
    SelectedKey,
    TryForm,
    find_known_key,
    try_form,
)
from gwtui.resources.tries.outcome import (
    SECTIONS,
    TryOutcome,
    answered_outcome,
    headline,
    plan_summary,
    refusal_lines,
)
from gwtui.resources.tries.plan import (
    TryFacts,
    TryPlan,
    cap_problem,
    key_hash,
    models_of,
    read_key_facts,
    read_try_facts,
    try_plan,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.writing import form_context, preview_context, refresh
from gwtui.ui.forms.form_screen import FormScreen, Submit
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import GrowingText, LinesView, OneLine
from gwtui.watch.feeds.byok import ByokRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import WorkspaceRow

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp


CHANGED_FEEDS = ("key", "credits", "workspaces", "members")
"""Prefixes of the feeds to refresh after a request."""
_NAME = 40


async def _submit(
    context: ActionContext, known: KnownKey | None, given: TryForm
) -> Outcome[str] | None:
    app = context.app
    key = chosen_key(app, known, given.key)
    try:
        models = Inference(app.connection, key, allow_tries=app.tries.allowed, clock=app.clock)
        trial = await _ready_try(context, given, key)
    except InvalidConnectionError as error:
        trial = Problem("key", str(error))
    except GatewayError as error:
        return Refused(error)
    if isinstance(trial, Problem):
        return Refused(InvalidRequestError([trial]))
    generation = await app.push_screen_wait(AnswerScreen(trial, models, app.clock))
    return Applied(generation) if generation else None


async def _ready_try(context: ActionContext, given: TryForm, key: SecretStr) -> ReadyTry | Problem:
    app, request = context.app, given.chat_request()
    of_key = await read_key_facts(app.gateway, key_hash(key))
    facts = await read_try_facts(app.gateway, models_of(request), of_key, app.connection.dialect)
    if facts.unknown:
        meant = did_you_mean(facts.unknown[0], facts.known_models)
        return Problem("model", f"the catalog has no such model{meant}")
    plan = try_plan(request, facts, app.clock.now(), app.clock.chance)
    problem = cap_problem(plan, given.max_cost, IN_FORM)
    if problem is not None:
        return Problem("max_cost", problem)
    called = "a key" if of_key.key is None else f"key “{_key_name(of_key.key)}”"
    refresh_feeds = partial(refresh, context, *CHANGED_FEEDS)
    return ReadyTry(request, given.stream, plan, facts, called, refresh_feeds)


def chosen_key(app: GwtuiApp, known: KnownKey | None, typed: SecretStr | None) -> SecretStr:
    """Return the key for the request: ``typed``, else ``known``.

    A typed key is kept in memory for further requests.
    """
    if typed is None and known is not None:
        return known.value
    key = typed or SecretStr("")
    remember(key)
    app.tries.typed = key
    return key


def _key_name(key: ApiKey) -> str:
    return safe_line(key.name or key.label or key.hash or "without a name", _NAME)


async def try_it(context: ActionContext) -> None:
    """Show the form of a test request, filled from the selected row, and then its result."""
    app = context.app
    if app.session is None:
        return
    preselected = _key_of_row(context.target)
    known, begun = find_known_key(app.tries, preselected), _defaults_from(context.target)
    match await _fill_in(context, known, preselected, begun):
        case Applied(generation):
            await app.open_route(f"generation/{generation}")


async def _fill_in(
    context: ActionContext,
    known: KnownKey | None,
    preselected: SelectedKey | None,
    begun: Mapping[str, Any],
) -> Outcome[str] | None:
    app = context.app
    form = form_context(context)
    spec = try_form(
        known,
        choices.models(form, giving="text"),
        choices.providers(form),
        {**app.tries.draft, **begun},
        preselected,
    )

    spec = replace(spec, first="prompt" if spec.initial.get("model") else "model")

    def keep(typed: Mapping[str, Any]) -> None:
        app.tries.draft = typed

    submit = partial(_submit, context, known)
    return await app.push_screen_wait(TryScreen(spec, preview_context(context), submit, keep))


def _key_of_row(row: Any) -> SelectedKey | None:
    if isinstance(row, KeyRow) and row.key.hash:
        return SelectedKey(row.key.hash, _key_name(row.key))
    return None


def _defaults_from(row: Any) -> Mapping[str, Any]:
    pin: list[str] | None = None
    model: str | None = None
    match row:
        case EndpointRow():
            model = row.model_id
            pin = [row.endpoint.tag] if row.endpoint.tag else None
        case ByokRow():
            pin = [row.credential.provider] if row.credential.provider else None
            model = _first(row.credential.allowed_models)
        case GuardrailRow():
            model = _first(row.guardrail.allowed_models)
        case WorkspaceRow():
            model = row.workspace.default_text_model
        case KeyRow():
            model = None if row.workspace is None else row.workspace.default_text_model
        case _:
            model = getattr(row, "id", None)
    return {"only": pin, **({"model": model} if model else {})}


def _first(names: Sequence[str] | None) -> str | None:
    return names[0] if names else None


HANDLERS: Mapping[str, Handler] = {
    f"{resource}.try": try_it
    for resource in (
        "keys",
        "guardrails",
        "models",
        "endpoints",
        "all-endpoints",
        "byok",
        "workspaces",
    )
}


# The screens --------------------------------------------------------------------------------------

_BESIDE = [(110, "-beside")]
"""Terminal width in columns from which the figures are beside the answer instead of below."""
_PAINTING = 0.1
"""Seconds between two repaints of an answer while it arrives."""
_NARROWEST = 20


@dataclass(frozen=True, slots=True)
class ReadyTry:
    """A request that is ready to be sent.

    ``plan`` is the cost estimate, and ``facts`` are the data that it is based on. ``refresh``
    reloads the feeds that the request may change. ``key_name`` is safe to display.
    """

    request: ChatRequest
    stream: bool
    plan: TryPlan
    facts: TryFacts
    key_name: str
    refresh: Callable[[], Awaitable[None]]


class AnswerScreen(Dialog[str]):
    """Sends the request when it opens, and shows the answer.

    Returns the id of a generation to open, or None. However the screen ends, its connections are
    closed and the key is released.
    """

    HORIZONTAL_BREAKPOINTS = _BESIDE

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("enter", "open", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def __init__(self, trial: ReadyTry, models: Inference, clock: Clock) -> None:
        super().__init__()
        self._models: Inference | None = models
        self._clock = clock
        self._started = clock.monotonic()
        self._asking: Worker[None] | None = None
        self._ready_try = trial
        self._answer = ChatAnswer()
        self._waiting_text: list[tuple[str, Tone]] = []
        self.tried: TryOutcome | None = None
        """The outcome; None while the request is in progress."""

    def compose(self) -> ComposeResult:
        with Vertical(id="try"):
            yield OneLine(id="try-title")
            yield OneLine(id="try-state")
            with Container(id="try-parts"):
                yield GrowingText(id="try-answer")
                yield LinesView(id="try-figures")
            yield OneLine(id="try-keys")

    def on_mount(self) -> None:
        trial = self._ready_try
        title = f"{safe_line(trial.request.model, _NAME)} with {trial.key_name}"
        self.query_one("#try-title", OneLine).show(
            Content.assemble(
                toned("Request to ", "accent", bold=True), toned(title, "plain", bold=True)
            )
        )
        self.query_one("#try-answer").focus()
        self.set_interval(_PAINTING, self._paint)
        self.call_later(self._show)
        self._asking = self.run_worker(self._ask(), name="try", group="try")

    def on_resize(self, _event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    @property
    def unsaved(self) -> bool:
        """Whether the request is still in progress, so that quitting would lose its answer."""
        return self.tried is None

    async def on_unmount(self) -> None:
        models, self._models = self._models, None
        if models is not None:
            await models.close()

    @property
    def loss(self) -> str:
        return "A request to a model is in progress; the answer so far may be billed."

    # Asking ---------------------------------------------------------------------------------

    async def _ask(self) -> None:
        trial, error = self._ready_try, None
        try:
            if self._models is not None:
                await (self._streamed if trial.stream else self._whole)(self._models)
        except GatewayError as refusal:
            error = refusal
        tried = answered_outcome(trial.plan, self._answer, trial.facts, self._clock.now())
        self._end(tried if error is None else replace(tried, error=error))
        await self._refresh_usage()

    async def _streamed(self, models: Inference) -> None:
        async with models.stream(self._ready_try.request) as stream:
            self._answer = stream.answer
            async for piece in stream:
                self._put(piece.reasoning, "muted")
                self._put(piece.text + piece.refusal, "plain")

    async def _whole(self, models: Inference) -> None:
        self._answer = answer = await models.chat(self._ready_try.request)
        self._put(answer.reasoning, "muted")
        self._put(answer.text + answer.refusal, "plain")

    async def _refresh_usage(self) -> None:
        # The request has changed the usage of its key.
        if self.tried is not None and self._models is not None:
            with suppress(GatewayError):
                self._end(replace(self.tried, key=await self._models.key()))
        await self._ready_try.refresh()

    def _end(self, tried: TryOutcome) -> None:
        first = self.tried is None
        self.tried = tried
        drop_traceback(tried.error)
        if first and tried.error is not None:
            self._put("\n" if self._answer.text else "", "plain")
            for cell in refusal_lines(tried.error):
                self._put(f"{cell.text}\n", cell.tone)
        self._show()

    # Keys -----------------------------------------------------------------------------------

    def action_leave(self) -> None:
        """Cancel the request if it is in progress, else close."""
        if not self.unsaved:
            self.dismiss()
            return
        if self._asking is not None:
            self._asking.cancel()
        tried = answered_outcome(
            self._ready_try.plan, self._answer, self._ready_try.facts, self._clock.now()
        )
        self._end(replace(tried, cancelled=True))
        self.run_worker(self._refresh_usage(), name="after", group="after")

    def action_open(self) -> None:
        if self.tried is not None and self.tried.answer.generation_id is not None:
            self.dismiss(self.tried.answer.generation_id)
        else:
            self.app.bell()

    # Showing --------------------------------------------------------------------------------

    def _put(self, text: str, tone: Tone) -> None:
        if text:
            self._waiting_text.append((text, tone))

    def _paint(self) -> None:
        if self.is_open:
            waiting, self._waiting_text = self._waiting_text, []
            if waiting:
                self.query_one(GrowingText).put(waiting)
            self.query_one("#try-state", OneLine).show(self._state())

    def _show(self) -> None:
        if not self.is_open:
            return
        self._paint()
        self.query_one("#try-keys", OneLine).show(toned(self._keys(), "muted"))
        view = self.query_one("#try-figures", LinesView)
        tried = self.tried or TryOutcome(self._ready_try.plan, self._answer)
        width = view.scrollable_content_region.width or self.app.size.width
        width = max(_NARROWEST, width)
        view.show(section_lines("", SECTIONS, tried, self._clock.now(), width)[2:])

    def _keys(self) -> str:
        if self.unsaved:
            return "Esc cancels · ↑ ↓ PgUp PgDn scroll · Tab moves"
        opens = (
            "Enter opens the generation · "
            if self.tried and self.tried.answer.generation_id
            else ""
        )
        return f"Esc back to the form · {opens}↑ ↓ scroll · Tab moves"

    def _state(self) -> Content:
        if self.tried is not None:
            return cell_content(headline(self.tried))
        begun = self._answer.first_token_ms is not None
        words = "Answering" if begun else "Sent, waiting for the first token"
        if not self._ready_try.stream:
            words = "Sent, waiting for the response"
        seconds = int(self._clock.monotonic() - self._started)
        return Content.assemble(
            toned(f"{words} · {seconds} s", "accent"),
            toned(f" · {plan_summary(self._ready_try.plan)}", "muted"),
        )


def drop_traceback(error: BaseException | None) -> None:
    """Drop the traceback of an error and of its causes: it refers to the request and its key."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


class TryScreen(FormScreen[str]):
    """The form of a test request. Returns the id of a generation to open, or None.

    ``keep`` is called with the typed values when the form closes, so that the next form can start
    with them; the key is left out.
    """

    READING: ClassVar[str] = "Estimating the worst-case cost"
    SENDING: ClassVar[str] = f"{READING}…"

    def __init__(
        self,
        spec: FormSpec,
        preview_context: PreviewContext,
        submit: Submit[str],
        keep: Callable[[Mapping[str, Any]], None],
    ) -> None:
        super().__init__(spec, preview_context, submit)
        self._keep = keep

    @property
    def unsaved(self) -> bool:
        return self.state.changed

    @property
    def loss(self) -> str:
        return "The form is not saved."

    def action_leave(self) -> None:
        """Close the form; the typed values are kept for the next one."""
        if self._sending:
            self.app.bell()
        else:
            self.dismiss(None)

    def on_unmount(self) -> None:
        values = {name: self.state.value(name) for name in KEPT}
        self._keep({name: value for name, value in values.items() if value is not ABSENT})
