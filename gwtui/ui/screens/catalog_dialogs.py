"""A full-screen dialog that shows, model by model, which endpoints a guardrail allows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.domain.catalog import CatalogView
from gwtui.domain.cell_values import Tone
from gwtui.domain.clock import Clock
from gwtui.domain.guardrail_effect import (
    BlockedEndpoint,
    GuardrailEffect,
    ModelEffect,
    effect_on_catalog,
)
from gwtui.domain.safe_text import safe_line
from gwtui.domain.uptime import verdict
from gwtui.resources.guardrails.effect import (
    EFFECT_COLUMNS,
    NamedRestrictions,
    endpoint_title,
    model_identity,
)
from gwtui.ui.connection_health import error_text, freshness, retry_text
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.subscriptions import FeedChanged, Subscriptions
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import FilterPrompt
from gwtui.ui.widgets.table import Highlighted, ResourceTable
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.models import catalog_feed
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
