"""Credits screen: balance, burn rate, and the top spenders by key and workspace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Digits

from gwtui.contract.usage import Credits
from gwtui.crud.action import COPY
from gwtui.crud.resource import Scope
from gwtui.domain import money, times
from gwtui.domain.runway import Rate
from gwtui.resources.copying import CopySource, declared, row_path
from gwtui.resources.credits import (
    KEY_COLUMNS,
    WINDOW_WORDS,
    WINDOWS,
    WORKSPACE_COLUMNS,
    Line,
    Spender,
    Spending,
    Window,
    balance_lines,
    balance_text,
    balance_tone,
    burn_lines,
    spending,
)
from gwtui.resources.keys.resource import KEYS
from gwtui.ui.actions.context import ActionContext
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import cell_content, choice_line, toned
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import SPANS, PlotFigure, PlotLine, fitted, window_at
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.credits import CreditsRow, credits_feed, rate_today
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.recorded import CreditsPast, credits_past_feed
from gwtui.watch.hub import FeedHub

_LINES = ("balance", "used", "burn", "today", "runway")
_WIDE = [(110, "-beside")]
"""Terminal width in columns from which the workspaces have a table of their own."""
_TALL = [(34, "-tall")]
"""Terminal height in lines from which the plot is shown."""
DAY = SPANS[1]
"""The time span of the balance plot."""


class CreditsScreen(TableScreen):
    """Balance, burn rate and top spenders of the whole account, in any workspace scope."""

    HORIZONTAL_BREAKPOINTS = _WIDE
    VERTICAL_BREAKPOINTS = _TALL

    def __init__(self) -> None:
        super().__init__("credits", title="Credits", extra_scopes=(COPY,))
        self._credits: Credits | None = None
        self._past: CreditsPast | None = None
        self._keys: Sequence[KeyRow] | None = None
        self._keys_read_at: datetime | None = None
        self._today: Rate | None = None
        self._window: Window = WINDOWS[0]
        self.table = ResourceTable(
            KEY_COLUMNS, lambda row: row.identity, lambda: self.now, id="burner-keys"
        )
        self._workspaces_table: ResourceTable[Spender] = ResourceTable(
            WORKSPACE_COLUMNS, lambda row: row.identity, lambda: self.now, id="burner-workspaces"
        )

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="standing"):
            yield Digits(id="balance-figure")
            with Vertical(id="standing-lines"):
                for name in _LINES:
                    yield OneLine(id=f"credits-{name}")
        yield DrawingView(id="credits-plot")
        yield OneLine(id="burners")
        with Horizontal(id="burner-tables"):
            yield self.table
            yield self._workspaces_table

    def on_mount(self) -> None:
        self.table.sort_by("amount", descending=True)
        self._workspaces_table.sort_by("amount", descending=True)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        return [
            (credits_feed(hub, Scope()), self._show_credits),
            (keys_feed(hub, Scope()), self._show_keys),
            (credits_past_feed(hub, Scope()), self._show_past),
        ]

    def target(self) -> Any | None:
        spender = self.table.selected
        return None if spender is None else spender.key

    @property
    def is_loading(self) -> bool:
        """Whether a feed has not answered yet."""
        return any(state.unanswered for state in self.states)

    def copy_source(self) -> CopySource[KeyRow]:
        return declared(KEYS, row_path(KEYS.id))

    def status_parts(self) -> Sequence[Content]:
        if not self.states:
            return []
        state = self.states[1]  # the second feed reads the keys
        if state.value is None:
            if state.error is not None:
                return [toned("keys could not be read", "muted")]
            # Without the credits, the panel already says that the screen is loading.
            return [] if self._credits is None else [toned("reading keys…", "muted")]
        parts = [toned(f"{len(state.value):,} keys in all workspaces", "muted")]
        is_old = state.is_stale(self.now) or state.error is not None
        if is_old and self.states[0].error is None:
            parts.append(toned(f"keys read {times.age(state.age(self.now) or 0.0)} ago", "warn"))
        return parts

    def tick(self, now: datetime) -> None:
        self._show_state(now)
        self.table.tick()

    def _show_past(self, state: FeedState[CreditsPast | None]) -> None:
        self._past = past = state.value
        self._show_state(self.now)
        curve = None if past is None else past.curve
        plot = self.query_one("#credits-plot", DrawingView)
        known = curve is not None and any(point.state == "value" for point in curve.points)
        plot.set_class(not known and not state.unanswered, "-unrecorded")
        if known:
            window = fitted(window_at(DAY, self.now), (curve,))
            plot.draw(PlotFigure("Balance", window, (PlotLine(curve),), money.usd))

    def next_window(self) -> None:
        """Rank the spenders of the next period: today, this week, this month."""
        self._window = WINDOWS[(WINDOWS.index(self._window) + 1) % len(WINDOWS)]
        self._show_spending()

    async def open_selected(self, context: ActionContext) -> None:
        """Open the list of keys at the selected key."""
        await self.gwtui.open_route(f"keys/{context.identity}")

    # Showing --------------------------------------------------------------------------------

    def _show_credits(self, state: FeedState[Credits]) -> None:
        self._credits = state.value or self._credits
        self._show_state(self.now)

    def _show_keys(self, state: FeedState[Sequence[KeyRow]]) -> None:
        read_at = state.fetched_at
        if state.value is not None and read_at is not None and read_at != self._keys_read_at:
            self._keys, self._keys_read_at = state.value, read_at
            self._today = rate_today(state.value, read_at)
            self._show_spending()
            self._show_state(self.now)

    def _show_state(self, now: datetime) -> None:
        credits = self._credits
        if credits is None:
            return
        figure = self.query_one("#balance-figure", Digits)
        text = balance_text(credits)
        if figure.value != text:
            figure.update(text)
        figure.set_classes(f"-{balance_tone(credits)}")
        past = None if self._past is None else self._past.state
        row = CreditsRow(credits, self._today, past)
        burn = burn_lines(row, now, brief=not self.has_class("-beside"))
        for name, line in zip(_LINES, (*balance_lines(credits), *burn), strict=True):
            self.query_one(f"#credits-{name}", OneLine).show(_content(line))

    def _show_spending(self) -> None:
        if self._keys is None:
            return
        ranking = spending(self._keys, self._window)
        self.table.show(ranking.keys)
        self._workspaces_table.show(ranking.workspaces)
        self.query_one("#burners", OneLine).show(_heading(ranking))


def _content(line: Line) -> Content:
    return Content("").join(cell_content(cell) for cell in line)


def _heading(ranking: Spending) -> Content:
    total = f"  · total of all keys {money.usd(ranking.total)}"
    if ranking.unknown:
        total += f" and {ranking.unknown} unknown"
    words = [WINDOW_WORDS[window] for window in WINDOWS]
    return choice_line("Top spenders", words, WINDOW_WORDS[ranking.window], toned(total))
