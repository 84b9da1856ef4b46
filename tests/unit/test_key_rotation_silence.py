"""Since when a rotated key is silent: by recorded readings, and by whoever reads its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_clock import FakeClock
from gwtui.domain.key_rotation import KeyFigures, KeyRotation
from gwtui.local.ledger import Ledger
from gwtui.local.rotations import RotationLog
from gwtui.watch.feeds.keys import KeyRow, note_keys
from gwtui.watch.feeds.rotations import recorded_unused_since
from gwtui.watch.history.model import BYOK_USAGE, USAGE, SeriesKey
from gwtui.watch.history.observers import ObservedReading, observe_keys
from history_kit import START, Desk, desk
from resource_samples import key

HASH = "a" * 64
SPENT = SeriesKey("key", HASH, USAGE)
BYOK = SeriesKey("key", HASH, BYOK_USAGE)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOW = START + 10 * DAY


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        yield opened


def silence(history: Desk, now: datetime = NOW, **figures: Any) -> datetime | None:
    figures = {"hash": HASH, "usage": 2, "byok_usage": 0, "last_used_at": None, **figures}
    return recorded_unused_since(history.reader, key(**figures), now)


def see(history: Desk, at: datetime, usage: str | None, byok: str | None = None) -> None:
    values = {SPENT: usage} if byok is None else {SPENT: usage, BYOK: byok}
    history.see(at, values, source="keys")


def test_it_is_silent_from_the_first_reading_of_its_present_figures_on(history: Desk) -> None:
    assert silence(history) is None  # nothing is recorded
    see(history, START, "1")
    assert silence(history) is None  # and what it used since then nobody read
    see(history, NOW - 3 * DAY, "2")
    assert silence(history) == NOW - 3 * DAY
    # Neither a gap of days nor readings without a figure end it: what was used only grows.
    see(history, NOW - HOUR, None)
    see(history, NOW - HOUR / 2, "2.000")
    assert silence(history) == NOW - 3 * DAY
    # A last request that the gateway tells is later than what the readings would say.
    asked = NOW - 2 * DAY
    assert silence(history, last_used_at=asked.isoformat()) == asked
    assert silence(history, last_used_at=(NOW - 4 * DAY).isoformat()) == NOW - 3 * DAY
    # What the newest reading does not say is not known.
    assert silence(history, usage=Decimal("2.01")) is None
    assert silence(history, usage=...) is None
    assert silence(history, hash=...) is None


def test_use_of_provider_keys_ends_it_where_the_readings_tell_of_it(history: Desk) -> None:
    see(history, NOW - 3 * DAY, "2")
    assert silence(history, byok_usage=1) is None  # recorded before BYOK usage was
    see(history, NOW - 2 * DAY, "2", "0.5")
    see(history, NOW - DAY, "2", "1")
    assert silence(history, byok_usage=1) == NOW - DAY
    seen = ObservedReading(NOW, 60)
    for used, kept in ((0, []), (1, [Decimal(1)])):
        samples = observe_keys([KeyRow(key(hash=HASH, byok_usage=used))], seen).samples
        found = [one.value for one in samples if one.series.key == BYOK]
        assert found == kept


def test_what_was_gathered_into_buckets_tells_to_the_bucket(history: Desk) -> None:
    for minutes in range(0, 300, 5):
        see(history, START + timedelta(minutes=minutes), "1" if minutes < 150 else "2")
    later = START + 40 * DAY
    see(history, later, "2")
    for hour in range(3):
        history.tidy(later + HOUR * hour)
    found = silence(history, later)
    assert found is not None
    # It changed 150 minutes after the start; the hour of that is one bucket now.
    assert START + 2.5 * HOUR <= found <= START + 3 * HOUR


async def test_any_reading_of_keys_is_noted_for_those_that_are_rotated(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state" / "audit.jsonl")
    log = RotationLog(ledger.path.with_name("rotations.jsonl"))
    place = "https://gateway.example/api/v1"
    clock = FakeClock(NOW)
    hub = cast(
        "Any",
        SimpleNamespace(
            ledger=None,
            history_file=None,
            clock=clock,
            connection=SimpleNamespace(base_url=place),
        ),
    )
    read = key(hash=HASH, usage=3)
    one = KeyRotation(
        id="p1",
        gateway=place,
        began=NOW - DAY,
        old_hash=HASH,
        old_name="ci",
        new_name="ci 2",
        figures=KeyFigures("2", "", ""),
        figures_at=NOW - DAY,
    )
    hub.ledger = ledger
    await note_keys(hub, [read])
    assert not log.path.exists()  # nobody rotates: nothing is written
    log.begin(one)
    log.begin(replace(one, id="p2", gateway="https://other.example/api/v1"))
    log.begin(replace(one, id="p3", old_hash="c" * 64))
    log.begin(replace(one, id="p4"))
    log.note("p4", "ended", NOW - HOUR, stage="forgotten")
    before = log.rotations()
    await note_keys(hub, [read, key(hash="d" * 64)])
    found = log.rotations()
    assert (found[0].figures, found[0].figures_at) == (KeyFigures.of(read), NOW)
    assert found[1:] == before[1:]
    # The same figures later are no news, and say how long they stand.
    await clock.advance(HOUR.total_seconds())
    await note_keys(hub, [read])
    assert log.rotations() == found
    await note_keys(hub, [key(hash=HASH, usage=3, disabled=True)])
    assert log.rotations()[0].disabled_at == NOW + HOUR
    # Without a ledger or a history of this person, nothing of theirs is touched.
    hub.ledger = None
    await note_keys(hub, [key(hash=HASH, usage=9)])
    assert log.rotations()[0].figures == KeyFigures.of(read)
