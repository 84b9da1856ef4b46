"""The prober beside a recorder: when it sends, what it counts, what it says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from fake_clock import FakeClock
from gwtui.client.connection import Connection
from gwtui.domain.probes import ProbeSpending, ProbeTarget
from gwtui.local.probe_key import ProbeAccess
from gwtui.local.profile_tables import ProbeSettings
from gwtui.local.tokens import TokenError
from gwtui.watch.history.model import Observation, SeriesKey
from gwtui.watch.history.recorder import Recorder
from gwtui.watch.probes import prober as prober_module
from gwtui.watch.probes.outcome import ProbeOutcome
from gwtui.watch.probes.prober import KEY_WAIT, MUTE_WAIT, Prober
from gwtui.watch.probes.spending import spending_of
from recorded_gateway_kit import World
from recorder_kit import ENDPOINT, instance
from resource_samples import endpoint_body, model_endpoints

EVERY = 600.0
OK = SeriesKey("endpoint", ENDPOINT, "probe_ok")
TTFT = SeriesKey("endpoint", ENDPOINT, "probe_ttft")
COST = Decimal("0.0000123")
ANSWERED = ProbeOutcome("answered", Decimal(340), COST)


@dataclass
class Bench:
    """A prober whose probes are answered as ``answer`` says."""

    recorder: Recorder
    time: FakeClock
    answer: Callable[[], Any] = lambda: ANSWERED
    sent: list[ProbeTarget] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    seen: list[Observation] = field(default_factory=list)
    keys: int = 0
    prober: Prober | None = None

    def report(self, text: str) -> None:
        self.said.append(text)

    def on_reading(self, target: ProbeTarget, seen: Observation) -> None:
        self.seen.append(seen)

    async def spent(self) -> ProbeSpending:
        day = self.time.now().date()
        return await self.recorder.archive.read(lambda h: spending_of(h.connection, day))

    async def value(self, key: SeriesKey) -> Decimal | None:
        return (await self.recorder.archive.read(lambda h: h.latest(key))).value


@asynccontextmanager
async def probing(
    recorder: Recorder,
    time: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    *,
    read_only: bool = False,
    allowed: bool = False,
    cap: str = "1.00",
) -> AsyncIterator[Bench]:
    bench = Bench(recorder, time)

    async def send(_models: Any, target: ProbeTarget) -> ProbeOutcome:
        bench.sent.append(target)
        found = bench.answer()
        return await found if asyncio.iscoroutine(found) else found

    class Source(ProbeAccess):
        async def key(self, *_: Any, **__: Any) -> SecretStr:
            bench.keys += 1
            return await super().key({})

    monkeypatch.setattr(prober_module, "probe", send)
    settings = ProbeSettings(every_minutes=10, max_usd_per_day=Decimal(cap))
    where = Connection("https://gateway.test", token=SecretStr("management"), read_only=read_only)
    source = Source(settings, "work", allowed, SecretStr("gw-probe-key"))
    hub = recorder.hub  # type: ignore[attr-defined]
    bench.prober = Prober(hub, recorder, where, source, bench, time.clock)
    task = asyncio.create_task(bench.prober.run())
    try:
        yield bench
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.fixture
def world() -> World:
    """Its endpoint costs the same at all hours."""
    found = World()
    prices = {"prompt": "0.000001", "completion": "0.00001"}
    found.endpoints = model_endpoints(endpoint_body(pricing=prices))
    return found


@pytest.fixture
async def bench(
    recorder: Recorder, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    async with probing(recorder, time, monkeypatch) as found:
        yield found


async def test_the_cost_of_a_day_is_said_before_the_first_probe(bench: Bench) -> None:
    await bench.time.advance(4)
    assert bench.sent == []
    (said,) = bench.said
    assert said.startswith("Probes 1 endpoint every 10 min, for $")
    assert said.endswith("a day at the most")
    await bench.time.advance(60)
    assert len(bench.sent) == 1
    assert len(bench.said) == 1


async def test_probes_keep_their_pace_with_jitter_and_are_recorded(bench: Bench) -> None:
    await bench.time.advance(60)
    await bench.time.advance(EVERY - 30)
    assert len(bench.sent) == 1, "jitter makes it later, never earlier"
    await bench.time.advance(60)
    assert len(bench.sent) == 2
    assert (await bench.value(OK), await bench.value(TTFT)) == (1, 340)
    assert bench.seen[0].every == EVERY
    assert (await bench.spent()).reported == 2 * COST
    assert (await bench.spent()).open == 0


async def test_a_failure_of_the_endpoint_is_recorded_and_not_retried(bench: Bench) -> None:
    bench.answer = lambda: ProbeOutcome("failed", None, Decimal(0), "provider failed: 502")
    await bench.time.advance(EVERY)
    assert len(bench.sent) == 1
    assert await bench.value(OK) == 0
    assert await bench.value(TTFT) is None


async def test_a_refused_key_says_nothing_of_the_endpoint_and_is_told_once(bench: Bench) -> None:
    words = (f"key not usable: expired {number}" for number in count())
    bench.answer = lambda: ProbeOutcome("key", None, Decimal(0), next(words))
    await bench.time.advance(EVERY * 3.5)
    assert len(bench.sent) == 4
    assert await bench.value(OK) is None
    assert bench.said[1:] == ["Probes: their key was refused: key not usable: expired 0"]
    assert bench.prober is not None
    assert "expired" in bench.prober.status.line
    assert bench.keys == 4, "another one may be in its place by now"
    bench.answer = lambda: ANSWERED
    await bench.time.advance(EVERY * 1.1)
    assert await bench.value(OK) == 1
    assert bench.prober.status.problem == ""


async def test_a_refused_key_keeps_all_probes_back_for_a_while(bench: Bench, world: World) -> None:
    world.endpoints = model_endpoints(
        *(endpoint_body(provider_name=f"P{n}", tag=f"p{n}") for n in range(6))
    )
    bench.answer = lambda: ProbeOutcome("key", None, Decimal(0), "credits needed")
    await bench.time.advance(130)
    sent = len(bench.sent)
    assert 0 < sent < 6
    await bench.time.advance(KEY_WAIT - 130)
    assert len(bench.sent) == sent


async def test_the_days_maximum_stops_them_until_the_next_day(
    recorder: Recorder, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.suspended = timedelta(hours=15).total_seconds()
    async with probing(recorder, time, monkeypatch) as bench:
        await time.advance(70)
        most = bench.sent[0].most(time.now())
        assert most is not None
    cap = str(most + 2 * COST)
    async with probing(recorder, time, monkeypatch, cap=cap) as bench:
        await time.advance(EVERY * 1.2)
        assert len(bench.sent) == 1
        await time.advance(EVERY * 1.2)
        assert len(bench.sent) == 2, "what was spent is the cost, not the bound"
        await time.advance(EVERY * 4)
        assert len(bench.sent) == 2
        assert (await bench.spent()).reported == 3 * COST
        assert bench.prober is not None
        assert bench.prober.status.full
        assert len([each for each in bench.said if "stop for today" in each]) == 1
        await time.advance(EVERY * 8)
        assert len(bench.sent) > 2, "it is the next day"


async def test_a_lost_answer_counts_with_its_bound(bench: Bench) -> None:
    bench.answer = lambda: ProbeOutcome("failed", said="no answer in 60 s")
    await bench.time.advance(EVERY)
    spent = await bench.spent()
    assert spent.reported == 0
    assert spent.open == bench.sent[0].most(bench.time.now())


async def test_what_was_spent_outlives_a_restart_and_so_does_the_pace(
    path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = FakeClock()
    async with (
        instance(path, world, time) as recorder,
        probing(recorder, time, monkeypatch) as bench,
    ):
        await time.advance(60)
        assert len(bench.sent) == 1
    async with (
        instance(path, world, time) as recorder,
        probing(recorder, time, monkeypatch) as bench,
    ):
        await time.advance(EVERY - 120)
        assert bench.sent == [], "the last one is not that long ago"
        assert (await bench.spent()).reported == COST
        await time.advance(240)
        assert len(bench.sent) == 1


async def test_one_at_a_time_at_an_endpoint(bench: Bench) -> None:
    release = asyncio.Event()

    async def hangs() -> ProbeOutcome:
        await release.wait()
        return ANSWERED

    bench.answer = hangs
    await bench.time.advance(EVERY * 3)
    assert len(bench.sent) == 1
    release.set()
    await bench.time.advance(EVERY)
    assert len(bench.sent) == 2


async def test_while_read_only_nothing_is_sent_unless_it_is_allowed(
    recorder: Recorder, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with probing(recorder, time, monkeypatch, read_only=True) as bench:
        await time.advance(EVERY)
        assert bench.sent == []
        (said,) = bench.said
        assert "read-only" in said
    async with probing(recorder, time, monkeypatch, read_only=True, allowed=True) as bench:
        await time.advance(EVERY)
        assert len(bench.sent) == 1


async def test_who_does_not_record_does_not_probe(
    path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = FakeClock()
    async with (
        instance(path, world, time),
        instance(path, world, time) as second,
        probing(second, time, monkeypatch) as bench,
    ):
        await time.advance(EVERY)
        assert bench.sent == []
        assert bench.prober is not None
        assert "another gwtui" in bench.prober.status.line


async def test_endpoints_that_cannot_be_probed_are_named(bench: Bench, world: World) -> None:
    world.endpoints = model_endpoints(
        endpoint_body(),
        endpoint_body(provider_name="Twin", tag="twin"),
        endpoint_body(provider_name="Twin", tag="twin"),
        endpoint_body(provider_name="Dear", tag="dear", pricing={"prompt": "-1"}),
    )
    await bench.time.advance(EVERY)
    assert {each.endpoint.tag for each in bench.sent} == {"northwind/fp8"}
    assert bench.prober is not None
    reasons = [why for _, why in bench.prober.status.left_out]
    assert len(reasons) == 3
    assert any("price" in why for why in reasons)


async def test_a_key_that_cannot_be_found_is_told_once(
    recorder: Recorder, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_key(*_: Any, **__: Any) -> SecretStr:
        raise TokenError("there is no key for probes")

    monkeypatch.setattr(ProbeAccess, "key", no_key)
    async with probing(recorder, time, monkeypatch) as bench:
        await time.advance(EVERY * 2)
        assert bench.sent == []
        assert bench.said[1:] == ["Probes: there is no key for probes"]
        assert (await bench.spent()) == ProbeSpending()


async def test_a_maximum_below_a_single_probe_is_told(
    recorder: Recorder, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with probing(recorder, time, monkeypatch, cap="0.000001") as bench:
        await time.advance(EVERY)
        assert bench.sent == []
        assert "less than what one probe may cost" in bench.said[-1]


async def test_an_endpoint_of_which_a_probe_says_nothing_is_left_alone_for_hours(
    bench: Bench,
) -> None:
    bench.answer = lambda: ProbeOutcome("nothing", None, Decimal(0), "no endpoint left: guardrail")
    await bench.time.advance(EVERY * 3)
    assert len(bench.sent) == 1
    assert await bench.value(OK) is None
    assert bench.said[1:] == [
        "Probes say nothing of aurora/glass-2 at Northwind /fp8: no endpoint left: guardrail"
    ]
    assert bench.prober is not None
    assert "1 say nothing" in bench.prober.status.line
    bench.time.elapsed += MUTE_WAIT
    bench.answer = lambda: ANSWERED
    await bench.time.advance(30)
    assert len(bench.sent) == 2
    assert await bench.value(OK) == 1
    assert bench.prober.status.mute == 0


async def test_a_gateway_out_of_reach_is_told_once_and_tried_again_at_the_pace(
    bench: Bench,
) -> None:
    bench.answer = lambda: ProbeOutcome("unreached", None, Decimal(0), "not connected: refused")
    await bench.time.advance(EVERY * 2.5)
    assert len(bench.sent) == 3
    assert await bench.value(OK) is None
    assert bench.said[1:] == ["Probes: not connected: refused"]
