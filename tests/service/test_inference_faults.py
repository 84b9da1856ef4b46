"""Every fault that the embedded gateway can make, met by a request to a model that is sent once.

Each fault strikes the first request only: a client that tried again would get an answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from inference_client_kit import VECTORS, Place, asks, open_place

from gwtui.client import errors
from gwtui.client.errors import GatewayError
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.embedded.faults import KINDS, FaultInjector

CHAT, EMBED = "createChatCompletion", "createEmbeddings"


@dataclass(frozen=True)
class Row:
    """A fault, and what comes of it; None is an answer. ``begun``: what a stream ends with."""

    fault: str
    error: type[GatewayError] | None
    begun: type[GatewayError] | None = None
    streams_only: bool = False

    def armed(self, operation: str) -> str:
        """For the next request of an operation; a clock is wrong for all of them."""
        return self.fault if self.fault.startswith("clock") else f"{self.fault}:{operation} x1"


LOST, UNREADABLE = errors.NoAnswerError, errors.UnreadableAnswerError
ROWS = (
    Row("latency=0.01", None),
    Row("hang", LOST),
    Row("hang-after", LOST),
    Row("reset-before", LOST),
    Row("reset-after", LOST),
    Row("half-body", LOST, begun=LOST),
    Row("401", errors.UnauthorizedError),
    Row("403", errors.ForbiddenError),
    Row("409", errors.ConflictError),
    Row("429", errors.RateLimitedError),
    Row("429-date", errors.RateLimitedError),
    *(
        Row(f"{status}{after}", errors.ServerError)
        for status in (500, 502, 503, 504, 524)
        for after in ("", "-after")
    ),
    Row("malformed-not-json", UNREADABLE),
    Row("malformed-type", UNREADABLE),
    Row("malformed-data", UNREADABLE),
    Row("malformed-empty", UNREADABLE),
    Row("malformed-content-type", UNREADABLE),
    Row("stream-cut=3", None, begun=LOST, streams_only=True),
    Row("stream-silence=3", None, begun=LOST, streams_only=True),
    Row("stream-garbage=3", None, streams_only=True),
    Row("stream-late=0.01", None, streams_only=True),
    Row("clock-skew=60", None),
)


@pytest.fixture(scope="module")
def faults() -> FaultInjector:
    return FaultInjector()


@pytest_asyncio.fixture
async def place(tmp_path: Path, faults: FaultInjector) -> AsyncIterator[Place]:
    faults.clear()
    async with open_place(tmp_path, faults=faults) as found:
        yield found


async def whole(place: Place) -> type[GatewayError] | None:
    """What becomes of a whole answer."""
    async with place.models(whole=0.5) as models:
        try:
            error = (await models.chat(asks())).error
        except GatewayError as refused:
            error = refused
    return None if error is None else type(error)


async def vectors(place: Place) -> type[GatewayError] | None:
    async with place.models(whole=0.5) as models:
        try:
            await models.embed(EmbeddingRequest(model=VECTORS, input="x"))
        except GatewayError as refused:
            return type(refused)
    return None


async def streamed(place: Place) -> tuple[type[GatewayError] | None, bool]:
    """What becomes of an answer in pieces, and whether it had begun."""
    async with place.models(silence=0.3) as models:
        try:
            async with models.stream(asks()) as stream:
                async for _ in stream:
                    pass
        except GatewayError as refused:
            return type(refused), False
    error = stream.answer.error
    return None if error is None else type(error), True


async def test_every_fault_is_told_and_nothing_is_sent_again(
    place: Place, faults: FaultInjector
) -> None:
    failed = []
    for row in ROWS:
        found = []
        for operation, meet in ((CHAT, whole), (EMBED, vectors)):
            if not row.streams_only:
                faults.clear()
                faults.arm(row.armed(operation))
                found.append(await meet(place))
        faults.clear()
        faults.arm(row.armed(CHAT))
        error, begun = await streamed(place)
        wanted = [] if row.streams_only else [row.error, row.error]
        if found != wanted:
            failed.append(f"{row.fault}: {found}")
        if (error, begun) != ((row.begun, True) if row.begun else (row.error, row.error is None)):
            failed.append(f"{row.fault}, streamed: {error}, begun: {begun}")
    assert not failed, "\n".join(failed)


def test_no_fault_is_left_out() -> None:
    assert {row.fault.partition("=")[0] for row in ROWS} == set(KINDS)


async def test_a_garbage_event_costs_itself_and_late_usage_still_comes(
    place: Place, faults: FaultInjector
) -> None:
    for fault, unreadable in (("stream-garbage=3", 1), ("stream-late=0.2", 0)):
        faults.clear()
        faults.arm(f"{fault}:{CHAT} x1")
        async with place.models() as models, models.stream(asks()) as stream:
            async for _ in stream:
                pass
        assert stream.answer.unreadable == unreadable
        assert stream.answer.usage is not None
        assert stream.answer.text
