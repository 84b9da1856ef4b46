"""The price calculator: one request at every endpoint of a model, the cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Label

from gwtui.contract.values import WEEKDAYS
from gwtui.crud import cells
from gwtui.crud.resource import Scope
from gwtui.domain import money, times
from gwtui.domain.clock import Clock
from gwtui.domain.pricing import QuoteLine, Usage
from gwtui.domain.safe_text import safe_text
from gwtui.resources.models.prices import (
    OFFER_COLUMNS,
    QuotedEndpoint,
    compare_quotes,
    other_prices,
    parse_tokens,
    parse_when,
    rules_text,
    unit_of,
    unit_price,
)
from gwtui.ui.connection_health import error_text, retry_text
from gwtui.ui.screens.modal import FedDialog
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import QuietInput
from gwtui.ui.widgets.table import Highlighted, ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.models import EndpointRow, endpoints_feed
from gwtui.watch.hub import FeedHub

_KEY, _QUANTITY, _PRICE, _AMOUNT = 12, 11, 22, 12
"""Widths of a quote's line."""


def offer_lines(offer: QuotedEndpoint) -> list[Content]:
    """The quote line by line, each with the rule that set its price."""
    provider = cells.text(offer.row.title).text
    if offer.quote is None:
        return [toned(f"{provider} gives no price", "warn")]
    lines = [toned(f"{provider}: {rules_text(offer)}", "plain", bold=True)]
    lines += [_quote_line(line, offer.places) for line in offer.quote.lines]
    lines += [toned(note, "warn") for note in offer.quote.notes]
    others = other_prices(offer.row.endpoint.pricing)
    if others is not None:
        lines.append(toned(f"not counted: {others}", "warn"))
    total = money.usd(offer.total, places=offer.places)
    left = _KEY + _QUANTITY + len(" x ") + _PRICE
    lines.append(toned(f"{'total':<{left}}{total:>{_AMOUNT}}", "accent", bold=True))
    return lines


def _quote_line(line: QuoteLine, places: int) -> Content:
    """Key, quantity, unit price, amount and the rule that set the price."""
    unit = cells.NOTHING if line.unit_price is None else unit_price(line.key, line.unit_price)
    price = f"{unit.text}/{unit_of(line.key)}"
    return Content.assemble(
        toned(f"{line.key:<{_KEY}}", "muted"),
        toned(f"{line.quantity:>{_QUANTITY},} x {price:<{_PRICE}}"),
        toned(f"{money.usd(line.amount, places=places):>{_AMOUNT}}"),
        toned(f"  {line.rule}", "muted"),
    )


R = TypeVar("R")

_DEFAULT_PROMPT, _DEFAULT_COMPLETION = "10k", "1k"
_EVERY = 5.0
"""Seconds between looks at the clock while the moment is "now"."""


class PriceScreen(FedDialog[None]):
    """Prompt size, completion size and moment in; what each endpoint asks out, as one types.

    ``endpoint`` is the identity of the endpoint to begin on.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close"),
        Binding("down", "to_table", show=False),
    ]
    AUTO_FOCUS = "#price-prompt"

    def __init__(
        self,
        hub: FeedHub,
        clock: Clock,
        *,
        model_id: str,
        model_name: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        super().__init__()
        self._feed = endpoints_feed(hub, Scope(parent=model_id))
        self._clock = clock
        self._model_name = cells.text(model_name or model_id).text
        self._begin_on = endpoint
        self._rows: Sequence[EndpointRow] | None = None
        self._quoted_for: Usage | None = None
        self._unread = False
        """Whether a field holds what cannot be read."""
        self._table: ResourceTable[QuotedEndpoint] = ResourceTable(
            OFFER_COLUMNS, lambda offer: offer.row.identity, clock.now, id="price-offers"
        )

    def compose(self) -> ComposeResult:
        """Inputs, comparison, and the lines of the selected quote."""
        with Vertical(id="price"):
            yield OneLine(id="price-title")
            with Horizontal(id="price-inputs"):
                yield from self._input("prompt", "Prompt tokens", _DEFAULT_PROMPT)
                yield from self._input("completion", "Completion tokens", _DEFAULT_COMPLETION)
                yield from self._input("when", "When (UTC)", "now")
            yield OneLine(id="price-state")
            yield self._table
            yield LinesView(id="price-lines")
            yield OneLine(id="price-keys")

    def _input(self, name: str, label: str, value: str) -> ComposeResult:
        with Vertical(classes="price-field"):
            yield Label(label, markup=False)
            field = QuietInput(id=f"price-{name}")
            field.value = value
            yield field
            yield OneLine(id=f"price-{name}-note")

    def on_mount(self) -> None:
        """Say what this is and how to leave."""
        self.query_one("#price-title", OneLine).show(
            Content.assemble(
                toned("Price of a request  ", "accent", bold=True),
                toned(self._model_name, "plain", bold=True),
            )
        )
        self.query_one("#price-keys", OneLine).show(
            toned(
                "Esc closes · Tab next field · ↓ endpoints · 128k, 1.5m · 18:30, sat 03:00, +2h",
                "muted",
            )
        )
        self._table.sort_by("total", descending=False)
        self.set_interval(_EVERY, self._quote)
        self._quote()

    def feeds(self) -> Sequence[FeedUse]:
        """The endpoints."""
        return [(self._feed, self._show_endpoints)]

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()

    def action_to_table(self) -> None:
        """From the inputs to the comparison."""
        self._table.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._quote()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._table.focus()

    @on(Highlighted)
    def _selected(self, event: Highlighted) -> None:
        event.stop()
        self._show_lines()

    # Showing --------------------------------------------------------------------------------

    def _show_endpoints(self, state: FeedState[Sequence[EndpointRow]]) -> None:
        self._show_state()
        if state.value is None or state.value is self._rows:
            return
        first, self._rows = self._rows is None, state.value
        self._quoted_for = None
        self._quote()
        if first and self._begin_on is not None:
            self._table.select(self._begin_on)

    def _show_state(self) -> None:
        """The state of the feed, unless a field needs the line: then figures are not of it."""
        if self._rows and self._unread:
            text = toned(
                "Not readable as typed: the figures are for what was typed before.", "warn"
            )
        else:
            text = self._state_line(self._feed.state)
        self.query_one("#price-state", OneLine).show(text)

    def _state_line(self, state: FeedState[Sequence[EndpointRow]]) -> Content:
        now = self._clock.now()
        if state.error is not None:
            held = "" if state.value is None else f", prices {times.age(state.age(now) or 0)} old"
            retry = retry_text(state.retry_at, now, refreshing=state.refreshing)
            return toned(f"{error_text(state.error)}{held} · {retry}", "bad")
        if state.value is None:
            return toned("Reading the endpoints…", "muted")
        if not state.value:
            return toned("No endpoint serves this model now.", "warn")
        if state.is_stale(now):
            return toned(f"prices {times.age(state.age(now) or 0)} old", "warn")
        return toned(f"{len(state.value)} endpoints, cheapest first", "muted")

    def _quote(self) -> None:
        usage = self._usage()
        self._unread = usage is None
        self._show_state()
        if usage is None or self._rows is None or usage == self._quoted_for:
            return
        self._quoted_for = usage
        self._table.show(compare_quotes(self._rows, usage))
        self._show_lines()

    def _usage(self) -> Usage | None:
        """What is asked for; None while a field cannot be read, which is said below it."""
        now = self._clock.now().replace(second=0, microsecond=0)
        prompt = self._read("prompt", parse_tokens, _tokens_note)
        completion = self._read("completion", parse_tokens, _tokens_note)
        moment = self._read("when", lambda text: parse_when(text, now), _moment_note)
        if prompt is None or completion is None or moment is None:
            return None
        return Usage(prompt_tokens=prompt, completion_tokens=completion, moment=moment)

    def _read(self, name: str, parse: Callable[[str], R], note: Callable[[R], str]) -> R | None:
        line = self.query_one(f"#price-{name}-note", OneLine)
        try:
            value = parse(self.query_one(f"#price-{name}", QuietInput).value)
        except ValueError as error:
            line.show(toned(safe_text(error, 60), "bad"))
            return None
        line.show(toned(note(value), "muted"))
        return value

    def _show_lines(self) -> None:
        offer = self._table.selected
        lines = [] if offer is None else offer_lines(offer)
        self.query_one("#price-lines", LinesView).show(lines)


def _tokens_note(tokens: int) -> str:
    return f"{tokens:,}"


def _moment_note(moment: datetime) -> str:
    return f"{WEEKDAYS[moment.weekday()][:3].capitalize()} {times.utc(moment)}"
