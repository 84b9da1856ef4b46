"""Credits on the board: what is left, the burn over three windows, the runway, the curve."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from textual.app import ComposeResult
from textual.content import Content

from gwtui.crud.resource import Cell
from gwtui.domain import money
from gwtui.domain.runway import Outlook
from gwtui.resources.credits.balance import Line as Words
from gwtui.resources.credits.text import burn_cells, left_cells, runway_cells, short_runway
from gwtui.ui.board.panel import Panel, Question, View
from gwtui.ui.tones import cell_content, toned
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.plot import PlotFigure, PlotLine, PlotView
from gwtui.watch.board.questions import CreditsPast, credits_past
from gwtui.watch.board.snapshot import BoardSnapshot

_LABEL = 9


class CreditsPanel(Panel):
    """The balance and what becomes of it."""

    def __init__(self) -> None:
        super().__init__(id="board-credits", classes="panel")
        self._snapshot = BoardSnapshot()
        self._past: CreditsPast | None = None

    def compose(self) -> ComposeResult:
        """Three lines and a plot."""
        yield OneLine(id="board-balance")
        yield OneLine(id="board-burn")
        yield OneLine(id="board-runway")
        yield PlotView(id="board-balance-plot")

    def show_snapshot(self, snapshot: BoardSnapshot, view: View) -> None:
        """What the gateway says, else what is recorded."""
        self._snapshot = snapshot
        self._write(view)

    def question(self, view: View) -> Question | None:
        """Burn, outlook and the curve."""
        reach = view.reach
        return lambda reader: credits_past(reader, reach)

    def answer(self, found: Any, view: View) -> None:
        """Draw the curve."""
        self._past = found
        self._write(view)
        curve = None if self._past is None else self._past.curve
        self.query_one(PlotView).draw(
            PlotFigure(
                "Balance",
                view.window,
                (PlotLine(curve),),
                _usd,
                absent="not said",
                zone=view.zone,
                ascii=view.ascii,
            )
        )

    def summary(self, view: View) -> Content:
        """All of it in one line."""
        past, credits = self._past, self._snapshot.credits.value
        parts: Words = (
            Cell("Credits ", "muted"),
            *left_cells(self._snapshot.credits, view.now, past=view.past),
        )
        if past is not None:
            first = past.standing.burns[:1]
            parts += (Cell("  burn ", "muted"), *burn_cells(first, brief=True))
        outlook = self._outlook(view)
        if past is not None or outlook is not None:
            parts += (Cell("   "), *short_runway(credits, outlook, view.now, view.zone))
        return Content("").join(cell_content(cell) for cell in parts)

    def _outlook(self, view: View) -> Outlook | None:
        standing = None if self._past is None else self._past.standing
        return self._snapshot.outlook(None if standing is None else standing.outlook, view.now)

    def _write(self, view: View) -> None:
        past, credits = self._past, self._snapshot.credits
        lines: dict[str, tuple[str, Words]] = {
            "board-balance": ("Credits", left_cells(credits, view.now, past=view.past)),
            "board-burn": ("Burn", burn_cells(past.standing.burns if past else ())),
            "board-runway": (
                "Runway",
                runway_cells(credits.value, self._outlook(view), view.now, view.zone),
            ),
        }
        for name, (label, words) in lines.items():
            self.query_one(f"#{name}", OneLine).show(
                Content.assemble(
                    toned(f"{label:<{_LABEL}}", "muted"), *(cell_content(cell) for cell in words)
                )
            )


def _usd(amount: Decimal) -> str:
    return money.usd(amount)
