"""What one probe says: of the endpoint, of the probes' own key, or of nothing at all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Literal

from gwtui.client.chat_stream import ChatAnswer
from gwtui.client.errors import (
    GatewayError,
    NotSentError,
    RateLimitedError,
    StatusError,
    UnreadableAnswerError,
)
from gwtui.client.inference import Inference
from gwtui.client.refusals import metadata_of, refusal_kind
from gwtui.domain.probes import ProbeTarget
from gwtui.domain.safe_text import safe_line
from gwtui.watch.history.model import (
    PROBE_OK,
    PROBE_TTFT,
    UNITS,
    Observation,
    Sample,
    Series,
    SeriesKey,
)

LONGEST = 60.0
"""Seconds after which an endpoint that has not answered a probe counts as failed."""
_SAID = 160
_KEY_STATES = frozenset(
    {"key not usable", "credits needed", "key limit used up", "budget used up", "too many requests"}
)
_OF_ENDPOINT = frozenset({"provider failed", "answer lost"})

Verdict = Literal["answered", "failed", "key", "unreached", "nothing"]
"""The endpoint answered; it failed; the state of the key refused the probe; the gateway was not
reached; the probe says nothing of the endpoint for another reason."""


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """What came of a probe.

    ``ttft`` is in ms, None when no token came. ``cost`` is USD, None when it is not known. ``said``
    is for a person, why it did not end well. ``wait`` is how many seconds the gateway asks for.
    """

    verdict: Verdict
    ttft: Decimal | None = None
    cost: Decimal | None = None
    said: str = ""
    wait: float | None = None

    @property
    def tells(self) -> bool:
        """Whether it says something of the endpoint."""
        return self.verdict in {"answered", "failed"}


async def probe(models: Inference, target: ProbeTarget, longest: float = LONGEST) -> ProbeOutcome:
    """Send one probe, once. Raises nothing that the gateway does."""
    try:
        async with asyncio.timeout(longest), models.stream(target.request()) as stream:
            async for _event in stream:
                pass
            return answered(stream.answer, target)
    except TimeoutError:
        return ProbeOutcome("failed", said=f"no answer in {longest:.0f} s")
    except GatewayError as error:
        return refused(error)


def answered(answer: ChatAnswer, target: ProbeTarget) -> ProbeOutcome:
    """What an answer says that began, and may have broken off."""
    first = answer.first_token_ms
    ttft = None if first is None else Decimal(round(first))
    meant = target.endpoint.provider_name
    if answer.provider and meant and answer.provider != meant:
        elsewhere = safe_line(answer.provider, _SAID)
        return ProbeOutcome("nothing", cost=answer.cost, said=f"it was served at {elsewhere}")
    if answer.error is None:
        return ProbeOutcome("answered", ttft, answer.cost)
    found = refused(answer.error)
    # A stream that began may be billed, whatever became of it.
    return ProbeOutcome(found.verdict, None, answer.cost, found.said, found.wait)


def refused(error: GatewayError) -> ProbeOutcome:
    """What a refusal says. One with a status costs nothing; an answer that was lost may."""
    kind = refusal_kind(error)
    said = safe_line(f"{kind}: {error.message}", _SAID)
    free = Decimal(0) if isinstance(error, StatusError | NotSentError) else None
    wait = error.retry_after if isinstance(error, RateLimitedError) else None
    verdict: Verdict = "nothing"
    if kind == "too many requests" and metadata_of(error).provider_name:
        verdict, wait = "failed", None  # it is the provider who asks for fewer
    elif kind in _KEY_STATES:
        verdict = "key"
    elif isinstance(error, NotSentError):
        verdict = "unreached"
    elif (
        kind in _OF_ENDPOINT
        or isinstance(error, UnreadableAnswerError)
        or error.status == HTTPStatus.REQUEST_TIMEOUT
    ):
        verdict = "failed"
    return ProbeOutcome(verdict, None, free, said, wait)


def observed(
    target: ProbeTarget, outcome: ProbeOutcome, at: datetime, every: int
) -> Observation | None:
    """The reading that an outcome is; None when it says nothing of the endpoint.

    ``every`` is the pace in seconds.
    """
    if not outcome.tells:
        return None
    values = {PROBE_OK: Decimal(int(outcome.verdict == "answered")), PROBE_TTFT: outcome.ttft}
    samples = tuple(
        Sample(
            Series(
                SeriesKey("endpoint", target.identity, figure), UNITS["endpoint"][figure], every
            ),
            value,
        )
        for figure, value in values.items()
    )
    return Observation(f"probe:{target.identity}", at, every, samples)
