"""One row of the board: an endpoint of a watched model, or a model that has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from gwtui.crud import cells
from gwtui.crud.resource import Cell
from gwtui.domain import times
from gwtui.domain.uptime import verdict
from gwtui.watch.board.questions import direction
from gwtui.watch.board.sight import Seen
from gwtui.watch.feeds.endpoints import EndpointRow
from gwtui.watch.history.model import Change, Curve, endpoint_identity

_ARROWS = {1: "▲", -1: "▼", 0: "±"}
_ARROWS_ASCII = {1: "^", -1: "v", 0: "~"}


@dataclass(frozen=True, slots=True)
class EndpointLine:
    """``row`` None stands for a model without endpoints; ``seen`` is the reading it came with."""

    model: str
    row: EndpointRow | None
    seen: Seen[Sequence[EndpointRow]]
    sparks: Mapping[str, Curve | None] = field(default_factory=dict)
    """Small curves by figure."""
    prices: tuple[Change, ...] = ()
    """Prices that changed lately, newest first."""
    ascii: bool = False

    @property
    def identity(self) -> str:
        """As in the history."""
        return endpoint_identity(self.model, "" if self.row is None else self.row.identity)

    @property
    def provider(self) -> str:
        """Who serves the model; for a model without endpoints, that there is none."""
        if self.row is not None:
            return self.row.title or ""
        return "…" if self.seen.value is None else "no endpoint"

    @property
    def title(self) -> str:
        """Model and provider, fit to be shown."""
        row = self.row
        model = cells.text(self.model).text
        return model if row is None else f"{model} · {cells.text(row.title).text}"

    def status(self, now: datetime) -> Cell:
        """The verdict; how old it is once that matters, for then it says nothing about now."""
        if self.seen.is_old(now):
            return Cell(f"{times.age(self.seen.age(now))} old", "warn")
        return self.verdict

    @property
    def verdict(self) -> Cell:
        """The verdict of the last reading."""
        if self.row is not None:
            found = verdict(self.row.endpoint)
            return Cell(found.word, found.tone)
        if self.seen.value is not None:
            return Cell("gone", "bad")
        if self.seen.error is not None:
            return Cell("unreadable", "bad")
        return Cell("reading…", "muted")

    @property
    def price_mark(self) -> str:
        """Which way the price went last; empty when it stayed."""
        if not self.prices:
            return ""
        arrows = _ARROWS_ASCII if self.ascii else _ARROWS
        return arrows[direction(self.prices[0])]


def lines_of(
    endpoints: Mapping[str, Seen[Sequence[EndpointRow]]],
    sparks: Mapping[str, Mapping[str, Curve | None]],
    prices: Mapping[str, tuple[Change, ...]],
    *,
    ascii: bool,
) -> Iterable[EndpointLine]:
    """The rows of all models; one without endpoints has a row that says so."""
    for model, seen in endpoints.items():
        for row in seen.value or (None,):
            identity = endpoint_identity(model, "" if row is None else row.identity)
            yield EndpointLine(
                model, row, seen, sparks.get(identity, {}), prices.get(identity, ()), ascii
            )
