"""Which endpoints are probed: those of the watched models that a request can be pinned to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gwtui.domain.probing import ProbeTarget
from gwtui.domain.route_order import pinned_to
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.history.model import endpoint_identity
from gwtui.watch.history.observations import LONGEST_IDENTITY
from gwtui.watch.hub import FeedHub, Scope

NO_TAG = "nothing in a request means this endpoint alone"
NO_PRICE = "its price is not known"
_NAME = 80


@dataclass(frozen=True, slots=True)
class ProbeTargets:
    """What is probed, and why the other endpoints are not, by their name."""

    probed: tuple[ProbeTarget, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    def mosts(self, moment: datetime) -> Iterable[Decimal]:
        """The most that one probe of each endpoint costs, USD."""
        found = (target.most(moment) for target in self.probed)
        return [most for most in found if most is not None]


def targets_of(
    models: Iterable[str], rows: Iterable[Sequence[EndpointRow]], moment: datetime
) -> ProbeTargets:
    """The endpoints of models, each with its ``rows`` as they were read last."""
    probed: list[ProbeTarget] = []
    left_out: list[tuple[str, str]] = []
    for model, of_model in zip(models, rows, strict=True):
        endpoints = [row.endpoint for row in of_model]
        for row in of_model:
            name = safe_line(f"{model} at {row.title or row.identity}", _NAME)
            pinned = pinned_to(row.endpoint, endpoints)
            if pinned is None:
                left_out.append((name, NO_TAG))
                continue
            identity = safe_text(endpoint_identity(model, row.identity), LONGEST_IDENTITY)
            target = ProbeTarget(identity, name, model, row.endpoint, pinned)
            if target.most(moment) is None:
                left_out.append((name, NO_PRICE))
            else:
                probed.append(target)
    return ProbeTargets(tuple(probed), tuple(left_out))


def read_rows(hub: FeedHub, models: Iterable[str]) -> list[Sequence[EndpointRow]] | None:
    """The endpoints of models as their feeds have them; None until each was read or failed."""
    found: list[Sequence[EndpointRow]] = []
    for model in models:
        state = endpoints_feed(hub, Scope(parent=model)).state
        if state.value is None and state.error is None:
            return None
        found.append(state.value or ())
    return found
