"""Which endpoints remain under a guardrail: model by model, with what needs a look first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint
from gwtui.crud import cells
from gwtui.domain import times
from gwtui.domain.catalog import CatalogView
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
from gwtui.ui.connection_health import error_text, retry_text
from gwtui.ui.screens.modal import FedDialog
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import FilterPrompt
from gwtui.ui.widgets.table import Highlighted, ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.models import catalog_feed
from gwtui.watch.hub import FeedHub

_NAME, _STATE = 28, 12


def model_lines(effect: ModelEffect) -> list[Content]:
    """The remaining endpoints with how they do, then the blocked ones with every reason.

    Where a rule could not be read, none is said to remain.
    """
    found = effect.verdict
    lines = [
        Content.assemble(
            toned(cells.text(effect.model.name or effect.model.id).text, "plain", bold=True),
            toned(f"  {found.word}", found.tone),
            toned(f": {found.why}", "muted"),
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


_EVERY = 0.5
"""Seconds between looks at how far the reading is."""
_STRANGERS = 3


class RemainingScreen(FedDialog[None]):
    """The catalog under ``guardrail``; with ``default`` also under that of its workspace."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f2", "leave", show=False),
        Binding("b", "both", show=False),
        Binding("r", "reread", show=False),
        Binding("slash", "filter", show=False),
    ]

    def __init__(
        self,
        hub: FeedHub,
        clock: Clock,
        dialect: Dialect,
        guardrail: NamedRestrictions,
        *,
        default: NamedRestrictions | None = None,
    ) -> None:
        super().__init__()
        self._feed = catalog_feed(hub)
        self._clock = clock
        self._dialect = dialect
        self._guardrail = guardrail
        self._default = default
        self._both = default is not None
        self._effect: GuardrailEffect | None = None
        self._applied_to: tuple[CatalogView, bool] | None = None
        self._table: ResourceTable[ModelEffect] = ResourceTable(
            EFFECT_COLUMNS, model_identity, clock.now, id="remaining-models"
        )

    def compose(self) -> ComposeResult:
        """Title, summary, the models, the endpoints of the selected one, keys."""
        with Vertical(id="remaining"):
            yield OneLine(id="remaining-title")
            yield OneLine(id="remaining-state")
            yield OneLine(id="remaining-strangers")
            yield self._table
            yield LinesView(id="remaining-lines")
            yield FilterPrompt("/", id="remaining-filter")
            yield OneLine(id="remaining-keys")

    def on_mount(self) -> None:
        """What needs a look first."""
        self._table.sort_by("verdict", descending=False)
        self._table.focus()
        self.set_interval(_EVERY, self._show_state)
        self._show_title()
        self._show_state()

    def feeds(self) -> Sequence[FeedUse]:
        """The catalog."""
        return [(self._feed, self._show)]

    @on(Highlighted)
    def _selected(self, event: Highlighted) -> None:
        event.stop()
        self._show_lines()

    @on(FilterPrompt.Changed)
    def _filtered(self, event: FilterPrompt.Changed) -> None:
        event.stop()
        self._table.filter_by(event.text)
        self._show_lines()

    @on(FilterPrompt.Closed)
    def _filter_closed(self, event: FilterPrompt.Closed) -> None:
        event.stop()
        self._table.focus()

    def action_leave(self) -> None:
        """Clear the filter, else close."""
        prompt = self.query_one(FilterPrompt)
        if prompt.text:
            prompt.clear()
        else:
            self.dismiss()

    def action_filter(self) -> None:
        """Narrow the list while typing."""
        self.query_one(FilterPrompt).show()

    def action_both(self) -> None:
        """Apply the default guardrail of the workspace too, or not."""
        if self._default is not None:
            self._both = not self._both
            self._show_title()
            self._apply()

    async def action_reread(self) -> None:
        """Read the catalog again."""
        self._feed.invalidate()

    # Showing --------------------------------------------------------------------------------

    def _applied(self) -> Sequence[NamedRestrictions]:
        both = self._both and self._default is not None
        return (self._guardrail, self._default) if both and self._default else (self._guardrail,)

    def _show_title(self) -> None:
        names = " and ".join(safe_line(one.name, 60) for one in self._applied())
        self.query_one("#remaining-title", OneLine).show(
            Content.assemble(
                toned("What remains under ", "accent", bold=True),
                toned(names, "plain", bold=True),
            )
        )
        keys = "Esc closes · ↑ ↓ models · / filter · r reads again"
        if self._default is not None:
            keys += f" · b {'without' if self._both else 'with'} the default"
        self.query_one("#remaining-keys", OneLine).show(toned(keys, "muted"))

    def _show(self, _state: FeedState[CatalogView]) -> None:
        self._apply()
        self._show_state()

    def _apply(self) -> None:
        view = self._feed.state.value
        before = self._applied_to
        if view is None or (before and before[0] is view and before[1] is self._both):
            return
        self._applied_to = (view, self._both)
        rules = [one.restrictions for one in self._applied()]
        self._effect = effect_on_catalog(view, rules, self._dialect)
        self._table.show(self._effect.models)
        self._show_lines()
        self._show_strangers(self._effect)
        self._show_state()

    def _show_state(self) -> None:
        self.query_one("#remaining-state", OneLine).show(self._state_line())

    def _state_line(self) -> Content:
        state, now = self._feed.state, self._clock.now()
        if self._effect is None:
            if state.error is not None:
                retry = retry_text(state.retry_at, now, refreshing=state.refreshing)
                return toned(f"{error_text(state.error)} · {retry}", "bad")
            progress = f": {state.progress}" if state.progress else "…"
            return toned(f"Reading the catalog{progress}", "muted")
        text, tone = self._effect.summary
        if state.refreshing:
            note = "reading again"
        elif state.error is not None:
            note = error_text(state.error)
        else:
            note = f"read {times.relative(state.fetched_at or now, now)}"
        return Content.assemble(toned(text, tone), toned(f" · {note}", "muted"))

    def _show_strangers(self, effect: GuardrailEffect) -> None:
        """Entries that name nothing: a misspelt one silently allows or ignores nothing."""
        line = self.query_one("#remaining-strangers", OneLine)
        entries = list(dict.fromkeys(entry for _, entry in effect.unmatched))
        line.display = bool(entries)
        named = ", ".join(safe_line(entry, 40) for entry in entries[:_STRANGERS])
        rest = f" and {len(entries) - _STRANGERS} more" if len(entries) > _STRANGERS else ""
        line.show(toned(f"not in the catalog: {named}{rest}", "warn"))

    def _show_lines(self) -> None:
        effect = self._table.selected
        lines = [] if effect is None else model_lines(effect)
        self.query_one("#remaining-lines", LinesView).show(lines)
