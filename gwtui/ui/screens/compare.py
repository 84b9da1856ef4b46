"""One prompt to several endpoints or models: their answers side by side, as they come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from decimal import Decimal
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content

from gwtui.client.inference import Inference
from gwtui.client.refusals import refusal_details, refusal_kind
from gwtui.crud.resource import Cell, Tone
from gwtui.domain.clock import Clock
from gwtui.domain.money import grouped, usd
from gwtui.domain.safe_text import safe_line
from gwtui.lazy_dataclass import dataclass
from gwtui.resources.tries.comparison import Comparison, ComparisonUpdate, ContenderResult
from gwtui.resources.tries.form import KEPT_TO_COMPARE
from gwtui.resources.tries.plan import TryPlan
from gwtui.ui.screens.tries import InferenceScreen, TryScreen, drop_traceback
from gwtui.ui.text import cell_content, toned
from gwtui.ui.textual_compat.widgets import is_whole
from gwtui.ui.widgets.containers import BlankVertical
from gwtui.ui.widgets.growing_text import GrowingText, Painting
from gwtui.ui.widgets.lines import OneLine

ROOM = 38
"""Columns that an answer needs to stand beside another one."""
_EVERY = 1.0
_SAID = 400
_STATES: dict[str, Cell] = {
    "waiting": Cell("waits", "muted"),
    "under way": Cell("under way", "accent"),
    "answered": Cell("✓ answered", "good"),
    "failed": Cell("✗ failed", "bad"),
    "cancelled": Cell("cancelled", "warn"),
}


class CompareRequestScreen(TryScreen):
    """Fills in the request; it stays until the person leaves it."""

    KEEPS: ClassVar[Sequence[str]] = KEPT_TO_COMPARE


@dataclass(frozen=True, slots=True)
class ReadyComparison:
    """What is ready to be sent. ``refresh`` reads again what the requests may have changed."""

    comparison: Comparison
    plans: tuple[TryPlan, ...]
    refresh: Callable[[], Awaitable[None]]


class CompareScreen(InferenceScreen[None]):
    """Sends the requests when it is shown. Leaving, and whatever else closes it, hangs up."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", show=False),
        Binding("tab", "app.focus_next", show=False),
        Binding("shift+tab", "app.focus_previous", show=False),
    ]

    def __init__(self, ready: ReadyComparison, models: Inference, clock: Clock) -> None:
        super().__init__(models, clock)
        self._ready = ready
        self._compared = ready.comparison.compared
        self._unpainted: dict[int, list[tuple[str, Tone]]] = {}
        self._painting = Painting(self, self._paint)
        self._ended: set[int] = set()

    def compose(self) -> ComposeResult:
        """Title, state, a part for each answer, keys."""
        with BlankVertical(id="compare"):
            yield OneLine(id="compare-title")
            yield OneLine(id="compare-state")
            with Container(id="compare-parts"):
                for place in range(len(self._compared)):
                    with BlankVertical(classes="compare-one"):
                        yield OneLine(id=f"compare-name-{place}")
                        yield GrowingText(id=f"compare-answer-{place}")
                        yield OneLine(id=f"compare-figures-{place}")
            yield OneLine(id="compare-keys")

    def on_mount(self) -> None:
        """Send the requests."""
        self.query_one("#compare-title", OneLine).show(
            toned(f"{len(self._compared)} answers to one prompt", "accent", bold=True)
        )
        self.query_one("#compare-answer-0").focus()
        self.set_interval(_EVERY, self._show_state)
        self._arrange()
        self._show()
        self._asking = self.run_worker(self._ask(), name="compare", group="compare")

    def on_resize(self, _event: events.Resize) -> None:
        """All in one row where there is room, else in two columns."""
        self._arrange()

    def _arrange(self) -> None:
        count = len(self._compared)
        columns = count if self.app.size.width >= ROOM * count else 2
        parts = self.query_one("#compare-parts")
        parts.styles.grid_size_columns = columns
        parts.styles.grid_size_rows = -(-count // columns)

    @property
    def under_way(self) -> bool:
        """Whether an answer is still to come, or to end."""
        return not all(one.over for one in self._compared)

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "Requests to models are under way; what was made of their answers may be billed."

    # Asking ---------------------------------------------------------------------------------

    async def _ask(self) -> None:
        if self._models is None:
            return
        try:
            async with aclosing(self._ready.comparison.updates(self._models)) as updates:
                async for update in updates:
                    self._take(update)
        finally:
            self._painting.now()
            self._show()
        await self._ready.refresh()

    def _take(self, update: ComparisonUpdate) -> None:
        one, delta = self._compared[update.place], update.delta
        waiting = self._unpainted.setdefault(update.place, [])
        if delta is not None:
            pieces: list[tuple[str, Tone]] = [
                (delta.reasoning, "muted"),
                (delta.text + delta.refusal, "plain"),
            ]
            waiting += [piece for piece in pieces if piece[0]]
        elif one.over and update.place not in self._ended:
            self._ended.add(update.place)
            drop_traceback(one.error)
            waiting += _refusal(one)
        self._painting.soon()

    def _paint(self) -> None:
        waiting, self._unpainted = self._unpainted, {}
        if not is_whole(self):
            return
        for place, pieces in waiting.items():
            one, view = self._compared[place], self.query_one(f"#compare-answer-{place}")
            if pieces and isinstance(view, GrowingText):
                view.put(pieces)
                if one.error is not None and not one.text:
                    view.scroll_to(y=0, animate=False)  # why, before the details
            self._show_one(place)
        self._show_state()

    def action_leave(self) -> None:
        """Cancel what is under way, else go back."""
        if not self.under_way:
            self.dismiss()
        elif self._asking is not None:
            self._asking.cancel()
            self.run_worker(self._ready.refresh(), name="after", group="after")

    # Showing --------------------------------------------------------------------------------

    def _show(self) -> None:
        if not is_whole(self):
            return
        for place in range(len(self._compared)):
            self._show_one(place)
        self._show_state()
        keys = "Esc cancels and hangs up on all" if self.under_way else "Esc back to the form"
        self.query_one("#compare-keys", OneLine).show(
            toned(f"{keys} · ↑ ↓ PgUp PgDn scroll · Tab the next answer", "muted")
        )

    def _show_one(self, place: int) -> None:
        one = self._compared[place]
        name = Content.assemble(
            toned(one.contender.name, "plain", bold=True), "  ", cell_content(_STATES[one.state])
        )
        self.query_one(f"#compare-name-{place}", OneLine).show(name)
        self.query_one(f"#compare-figures-{place}", OneLine).show(
            toned(" · ".join(_figures(one)), "muted")
        )

    def _show_state(self) -> None:
        if is_whole(self):
            self.query_one("#compare-state", OneLine).show(self._state())

    def _state(self) -> Content:
        if self.under_way:
            most = [plan.most_cost for plan in self._ready.plans]
            total = (
                None
                if None in most
                else sum((each for each in most if each is not None), Decimal(0))
            )
            return Content.assemble(
                toned(f"Under way · {self._seconds} s", "accent"),
                toned(f" · at most {usd(total)} for all" if total is not None else "", "muted"),
            )
        done = sum(one.state == "answered" for one in self._compared)
        tone: Tone = "good" if done == len(self._compared) else "warn"
        cost = self._ready.comparison.cost
        told = "cost not told" if cost is None else f"{usd(cost)} for all"
        return toned(f"{done} of {len(self._compared)} answered · {told}", tone)


def _figures(one: ContenderResult) -> Iterator[str]:
    """What is known by now: time to the first token, speed, tokens, cost."""
    answer, usage = one.answer, one.answer.usage
    if answer.first_token_ms is not None:
        yield f"{answer.first_token_ms:,.0f} ms"
    if answer.tokens_per_second is not None:
        yield f"{answer.tokens_per_second:.0f} t/s"
    if usage is not None and usage.completion_tokens is not None:
        yield f"{grouped(usage.completion_tokens)} tokens"
    if answer.cost is not None:
        yield usd(answer.cost)


def _refusal(one: ContenderResult) -> list[tuple[str, Tone]]:
    """What failed and why, below what came of the answer."""
    error = one.error
    if error is None:
        return []
    begun: list[tuple[str, Tone]] = [("\n", "plain")] if one.text else []
    said = safe_line(f"{refusal_kind(error)}: {error.message}", _SAID)
    details = (safe_line(detail, _SAID) for detail in refusal_details(error))
    return [*begun, (f"{said}\n", "bad"), *((f"{line}\n", "muted") for line in details)]
