"""Probes: tiny requests that tell whether an endpoint answers, how soon, and what they may cost.

Amounts are USD, exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal

from gwtui.contract.chat import ChatRequest, Message
from gwtui.contract.models import Endpoint
from gwtui.contract.routing import ProviderPreferences
from gwtui.domain.request_cost import max_prompt_tokens, max_request_cost

PROBE_PROMPT = "Reply with the word OK."
PROBE_TOKENS = 5
"""Tokens of answer that a probe asks for at the most."""
JITTER = 0.1
"""Share of the pace by which a probe may come later, never earlier."""

_DAY = timedelta(days=1)
_EXACT = Context(prec=80)


@dataclass(frozen=True, slots=True)
class ProbeTarget:
    """An endpoint that is probed.

    ``identity`` is the one it has in the history, ``name`` what it is called.
    """

    identity: str
    name: str
    model: str
    endpoint: Endpoint
    pinned: ProviderPreferences

    def request(self) -> ChatRequest:
        """The request of one probe."""
        return ChatRequest(
            model=self.model,
            messages=[Message(role="user", content=PROBE_PROMPT)],
            max_tokens=PROBE_TOKENS,
            provider=self.pinned,
        )

    def most(self, moment: datetime) -> Decimal | None:
        """The most that one probe costs at a moment; None when a price is not known."""
        prompt = max_prompt_tokens(self.request())
        if self.endpoint.pricing is None or prompt is None:
            return None
        return max_request_cost(self.endpoint.pricing, prompt, PROBE_TOKENS, moment).cost


def max_probes_per_day(every: timedelta) -> int:
    """How many probes of one endpoint fit into a day at the most."""
    return _DAY // every + 1


def max_daily_cost(mosts: Iterable[Decimal], every: timedelta) -> Decimal:
    """What probes cost a day at the most, by what one of each endpoint costs at the most."""
    total = Decimal(0)
    for most in mosts:
        total = _EXACT.add(total, most)
    return _EXACT.multiply(total, Decimal(max_probes_per_day(every)))


def delay_after(every: timedelta, chance: float) -> float:
    """Seconds from one probe of an endpoint to the next; ``chance`` is in [0, 1)."""
    return every.total_seconds() * (1 + JITTER * chance)


@dataclass(frozen=True, slots=True)
class ProbeSpending:
    """What probes cost on a day: ``reported`` by the gateway, ``open`` the bound of the others.

    The cost of a probe is open while it is under way, and stays so when its answer was lost.
    """

    reported: Decimal = Decimal(0)
    open: Decimal = Decimal(0)

    @property
    def at_most(self) -> Decimal:
        """What was spent at the most."""
        return _EXACT.add(self.reported, self.open)

    def leaves_room(self, most: Decimal, cap: Decimal) -> bool:
        """Whether one more probe keeps the day's maximum."""
        return _EXACT.add(self.at_most, most) <= cap

    def begun(self, most: Decimal) -> ProbeSpending:
        """With one more probe under way."""
        return ProbeSpending(self.reported, _EXACT.add(self.open, most))

    def ended(self, most: Decimal, cost: Decimal) -> ProbeSpending:
        """With the cost of a probe in the place of its bound."""
        return ProbeSpending(_EXACT.add(self.reported, cost), _EXACT.subtract(self.open, most))


NOTHING_SPENT = ProbeSpending()
