"""Two full-screen dialogs with a table of catalog data and details of the selected row.

The price calculator compares the cost of one request at all endpoints of a model. The other
dialog shows, model by model, which endpoints a guardrail allows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Label

from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint
from gwtui.contract.values import WEEKDAYS
from gwtui.crud import cells
from gwtui.crud.resource import Scope
from gwtui.domain import money, times
from gwtui.domain.catalog import CatalogView
from gwtui.domain.cell_values import Tone
from gwtui.domain.clock import Clock
from gwtui.domain.guardrail_effect import (
    BlockedEndpoint,
    GuardrailEffect,
    ModelEffect,
    effect_on_catalog,
)
from gwtui.domain.pricing import QuoteLine, Usage
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.uptime import verdict
from gwtui.resources.guardrails.effect import (
    EFFECT_COLUMNS,
    NamedRestrictions,
    endpoint_title,
    model_identity,
)
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
from gwtui.ui.connection_health import error_text, freshness, retry_text
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.subscriptions import FeedChanged, Subscriptions
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import FilterPrompt, QuietInput
from gwtui.ui.widgets.table import Highlighted, ResourceTable
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.models import EndpointRow, catalog_feed, endpoints_feed
from gwtui.watch.hub import FeedHub

Row = TypeVar("Row")
Parsed = TypeVar("Parsed")

_EVERY = 1.0
"""Seconds between two updates of the ages of data."""


class TableDialog(Dialog[None], Generic[Row]):
    """Base of dialogs with a table; the feed is watched only while the dialog is on top.

    ``lines`` returns the details of a row, shown below the table.
    """

    def __init__(
        self,
        feed: Feed[Any],
        table: ResourceTable[Row],
        lines: Callable[[Row], Sequence[Content]],
        clock: Clock,
    ) -> None:
        super().__init__()
        self._lines = lines
        self._feed = feed
        self._table = table
        self._clock = clock
        self._subscriptions = Subscriptions(self.post_message)

    @abstractmethod
    def title_line(self) -> tuple[str, str]:
        """Return the title and its subject; the subject must be safe to display."""

    @abstractmethod
    def summary(self) -> tuple[str, Tone]:
        """Return a summary of the rows, with its tone."""

    @abstractmethod
    def show_value(self, value: Any) -> None:
        """Show a new value of the feed."""

    def compose(self) -> ComposeResult:
        """Yield title, state, table, and details of the selected row."""
        with Vertical(classes="table-dialog"):
            yield OneLine(id="title")
            yield from self.compose_above()
            yield OneLine(id="state")
            yield self._table
            yield LinesView(id="lines")
            yield from self.compose_below()

    def compose_above(self) -> ComposeResult:
        """Yield the widgets above the table."""
        yield from ()

    def compose_below(self) -> ComposeResult:
        """Yield the widgets below the details."""
        yield from ()

    def on_mount(self) -> None:
        """Start the timer that updates the ages of data."""
        self.set_interval(_EVERY, self.show_state)
        self.show_state()

    def on_screen_resume(self) -> None:
        """Watch the feed."""
        self._subscriptions.open([(self._feed, self._show)])

    def on_screen_suspend(self) -> None:
        """Stop watching the feed."""
        self._subscriptions.close()

    def on_unmount(self) -> None:
        """Stop watching the feed."""
        self._subscriptions.close()

    def on_feed_changed(self, message: FeedChanged) -> None:
        """Show the new state of the feed."""
        if self.is_open:
            self._subscriptions.handle(message)

    @on(Highlighted)
    def _selected(self, event: Highlighted) -> None:
        event.stop()
        self.show_lines()

    def _show(self, state: FeedState[Any]) -> None:
        if state.value is not None:
            self.show_value(state.value)
        self.show_state()

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows in the table, and the details of the selected one."""
        self._table.show(rows)
        self.show_lines()

    def show_lines(self) -> None:
        """Show the details of the selected row."""
        row = self._table.selected
        self.query_one("#lines", LinesView).show([] if row is None else self._lines(row))

    def show_state(self) -> None:
        """Show the title, the summary, and the state of the feed."""
        title, subject = self.title_line()
        parts = toned(f"{title} ", "accent", bold=True), toned(subject, "plain", bold=True)
        self.query_one("#title", OneLine).show(Content.assemble(*parts))
        self.query_one("#state", OneLine).show(self._state_line())

    def _state_line(self) -> Content:
        state, now = self._feed.state, self._clock.now()
        if state.error is not None:
            retry = retry_text(state.retry_at, now, refreshing=state.refreshing)
            note = toned(f"{error_text(state.error)} · {retry}", "bad")
        elif state.refreshing or state.value is None:
            note = toned(f"reading{state.progress and f': {state.progress}'}…", "muted")
        else:
            note = freshness(state, now)
        if state.value is None:
            return note
        return Content.assemble(toned(*self.summary()), toned(" · ", "muted"), note)


# Prices -----------------------------------------------------------------------------------------

_KEY, _QUANTITY, _PRICE, _AMOUNT = 12, 11, 22, 12
"""Column widths of a quote in cells."""


def offer_lines(offer: QuotedEndpoint) -> list[Content]:
    """Return the quote of an endpoint: one line per price, then the total."""
    provider = cells.text(offer.row.title).text
    if offer.quote is None:
        return [toned(f"{provider} has no price", "warn")]
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
    unit = cells.NOTHING if line.unit_price is None else unit_price(line.key, line.unit_price)
    price = f"{unit.text}/{unit_of(line.key)}"
    return Content.assemble(
        toned(f"{line.key:<{_KEY}}", "muted"),
        toned(f"{line.quantity:>{_QUANTITY},} x {price:<{_PRICE}}"),
        toned(f"{money.usd(line.amount, places=places):>{_AMOUNT}}"),
        toned(f"  {line.rule}", "muted"),
    )


class PriceScreen(TableDialog[QuotedEndpoint]):
    """The price calculator: compares the cost of a request at each endpoint as the person types.

    ``endpoint`` is the identity of the endpoint that is selected first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "to_table", show=False)]
    AUTO_FOCUS = "#price-prompt"
    hint = "Esc closes · Tab next · ↓ endpoints · Tokens: 128k, 1.5m · Time: sat 18:30, +2h"

    def __init__(
        self,
        hub: FeedHub,
        clock: Clock,
        *,
        model_id: str,
        model_name: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        table = ResourceTable(OFFER_COLUMNS, lambda offer: offer.row.identity, clock.now)
        super().__init__(endpoints_feed(hub, Scope(parent=model_id)), table, offer_lines, clock)
        table.sort_by("total", descending=False)
        self._model_name = cells.text(model_name or model_id).text
        self._begin_on = endpoint
        self._rows: Sequence[EndpointRow] = ()
        self._unread = False
        """Whether an input is invalid, so that the prices are those of the last valid inputs."""

    def title_line(self) -> tuple[str, str]:
        """Return the title and the name of the model."""
        return "Price of a request to", self._model_name

    def summary(self) -> tuple[str, Tone]:
        """Return the number of endpoints, or a warning if an input is invalid."""
        if not self._rows:
            return "No endpoint serves this model", "warn"
        if self._unread:
            return "Invalid input: the prices below are for the last valid input", "warn"
        return f"{len(self._rows)} endpoints, cheapest first", "muted"

    def compose_above(self) -> ComposeResult:
        """Yield the inputs for prompt tokens, completion tokens, and the time of the request."""
        with Horizontal(id="price-inputs"):
            yield from self._input("prompt", "Prompt tokens", "10k")
            yield from self._input("completion", "Completion tokens", "1k")
            yield from self._input("when", "When (UTC)", "now")

    def _input(self, name: str, label: str, value: str) -> ComposeResult:
        with Vertical(classes="price-field"):
            yield Label(label, markup=False)
            field = QuietInput(id=f"price-{name}")
            field.value = value
            yield field
            yield OneLine(id=f"price-{name}-note")

    def action_to_table(self) -> None:
        """Focus the table."""
        self._table.focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.show_state()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._table.focus()

    def show_value(self, value: Sequence[EndpointRow]) -> None:
        """Show quotes for new endpoint data."""
        first, self._rows = not self._rows, value
        self.show_state()
        if first and self._begin_on is not None:
            self._table.select(self._begin_on)

    def show_state(self) -> None:
        """Compute the quotes again: an input has changed, or the current time."""
        usage = self._usage()
        self._unread = usage is None
        super().show_state()
        if self._rows and usage is not None:
            self.show_rows(compare_quotes(self._rows, usage))

    def _usage(self) -> Usage | None:
        """Return the usage to quote; None if an input is invalid, which its note explains."""
        now = self._clock.now().replace(second=0, microsecond=0)
        prompt = self._read("prompt", parse_tokens, "{:,}".format)
        completion = self._read("completion", parse_tokens, "{:,}".format)
        moment = self._read("when", lambda text: parse_when(text, now), _moment_note)
        if prompt is None or completion is None or moment is None:
            return None
        return Usage(prompt_tokens=prompt, completion_tokens=completion, moment=moment)

    def _read(
        self, name: str, parse: Callable[[str], Parsed], note: Callable[[Parsed], str]
    ) -> Parsed | None:
        line = self.query_one(f"#price-{name}-note", OneLine)
        try:
            value = parse(self.query_one(f"#price-{name}", QuietInput).value)
        except ValueError as error:
            line.show(toned(safe_text(error, 60), "bad"))
            return None
        line.show(toned(note(value), "muted"))
        return value


def _moment_note(moment: datetime) -> str:
    return f"{WEEKDAYS[moment.weekday()][:3].capitalize()} {times.utc(moment)}"


# Allowed endpoints --------------------------------------------------------------------------------

_NAME, _STATE = 28, 12
_STRANGERS = 3
"""Maximum number of unknown guardrail entries to list."""


def model_lines(effect: ModelEffect) -> list[Content]:
    """Return the allowed endpoints of a model with their status, then the blocked ones and why.

    A question mark replaces the check mark if a rule could not be read, so that nobody knows what
    the guardrail allows.
    """
    outcome = effect.verdict
    lines = [
        Content.assemble(
            toned(cells.text(effect.model.name or effect.model.id).text, "plain", bold=True),
            toned(f"  {outcome.word}", outcome.tone),
            toned(f": {outcome.why}", "muted"),
        )
    ]
    mark = toned("? ", "warn") if effect.unreadable else toned("✓ ", "good")
    lines += [_remaining(endpoint, mark) for endpoint in effect.remaining]
    lines += [_blocked(blocked) for blocked in effect.blocked]
    return lines


def _remaining(endpoint: Endpoint, mark: Content) -> Content:
    state = verdict(endpoint)
    return Content.assemble(
        mark,
        toned(f"{endpoint_title(endpoint):<{_NAME}} "),
        toned(f"{state.word:<{_STATE}} ", state.tone),
        toned(state.why, "muted"),
    )


def _blocked(blocked: BlockedEndpoint) -> Content:
    return Content.assemble(
        toned("✗ ", "bad"),
        toned(f"{endpoint_title(blocked.endpoint):<{_NAME}} ", "muted"),
        toned(", ".join(blocked.reasons)),
    )


class RemainingScreen(TableDialog[ModelEffect]):
    """Shows which endpoints of the catalog a guardrail allows.

    ``default`` is the workspace's default guardrail. It applies as well unless the person turns it
    off.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f2", "leave", show=False),
        Binding("l", "both", show=False),
        Binding("r", "reread", show=False),
        Binding("slash", "filter", show=False),
    ]
    AUTO_FOCUS = "ResourceTable"

    def __init__(
        self,
        hub: FeedHub,
        clock: Clock,
        dialect: Dialect,
        guardrail: NamedRestrictions,
        *,
        default: NamedRestrictions | None = None,
    ) -> None:
        table = ResourceTable(EFFECT_COLUMNS, model_identity, clock.now)
        super().__init__(catalog_feed(hub), table, model_lines, clock)
        table.sort_by("verdict", descending=False)
        self._dialect = dialect
        self._known = [one for one in (guardrail, default) if one is not None]
        self._applied = self._known
        self._effect: GuardrailEffect | None = None

    @property
    def hint(self) -> str:
        """The key hints."""
        keys = "Esc closes · ↑ ↓ models · / filter · r refreshes"
        if len(self._known) == 1:
            return keys
        return f"{keys} · l {'with' if len(self._applied) == 1 else 'without'} the default"

    def title_line(self) -> tuple[str, str]:
        """Return the title and the names of the applied guardrails."""
        names = " and ".join(safe_line(one.name, 60) for one in self._applied)
        return "Endpoints allowed by", names

    def summary(self) -> tuple[str, Tone]:
        """Return how many models still have an allowed endpoint."""
        return ("", "muted") if self._effect is None else self._effect.summary

    def compose_above(self) -> ComposeResult:
        """Yield the line for entries that match nothing in the catalog."""
        yield OneLine(id="strangers")

    def compose_below(self) -> ComposeResult:
        """Yield the filter prompt."""
        yield FilterPrompt("/")

    @on(FilterPrompt.Changed)
    def _filtered(self, event: FilterPrompt.Changed) -> None:
        event.stop()
        self._table.filter_by(event.text)
        self.show_lines()

    @on(FilterPrompt.Closed)
    def _filter_closed(self, event: FilterPrompt.Closed) -> None:
        event.stop()
        self._table.focus()

    def action_leave(self) -> None:
        """Clear the filter; without one, close the dialog."""
        prompt = self.query_one(FilterPrompt)
        if prompt.text:
            prompt.clear()
        else:
            self.dismiss()

    def action_filter(self) -> None:
        """Open the filter prompt."""
        self.query_one(FilterPrompt).show()

    def action_both(self) -> None:
        """Turn the workspace's default guardrail on or off."""
        self._applied = self._known if len(self._applied) == 1 else self._known[:1]
        self._show(self._feed.state)
        self.refresh()

    async def action_reread(self) -> None:
        """Read the catalog again."""
        self._feed.invalidate()

    def show_value(self, value: CatalogView) -> None:
        """Apply the guardrails to a new catalog."""
        rules = [one.restrictions for one in self._applied]
        self._effect = effect_on_catalog(value, rules, self._dialect)
        self._show_strangers(self._effect)
        self.show_rows(self._effect.models)

    def _show_strangers(self, effect: GuardrailEffect) -> None:
        # Entries that match nothing have no effect: they may be misspelt.
        line = self.query_one("#strangers", OneLine)
        entries = list(dict.fromkeys(entry for _, entry in effect.unmatched))
        line.display = bool(entries)
        named = ", ".join(safe_line(entry, 40) for entry in entries[:_STRANGERS])
        rest = f" and {len(entries) - _STRANGERS} more" if len(entries) > _STRANGERS else ""
        line.show(toned(f"not in the catalog: {named}{rest}", "warn"))
