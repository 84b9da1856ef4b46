"""The board's data: live, recorded, and which is used; limits by how close they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from gwtui.contract.usage import Credits
from gwtui.domain.catalog import verdict
from gwtui.watch.board import (
    MISSED,
    BoardSnapshot,
    direction,
    endpoints_past,
    limits,
    newest,
    recorded,
)
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.models import EndpointRow
from gwtui.watch.feeds.workspaces import WorkspaceFigures
from gwtui.watch.history.model import SeriesKey, Subject
from history_kit import START, HistoryFile, minutes
from resource_samples import key

MODEL = "lab/one"
ENDPOINT = Subject("endpoint", f"{MODEL} lab||")
OTHER = Subject("endpoint", "lab/two lab||")
FACTS = {"name": "Lab /eu", "status": 0, "price_prompt": "0.000002", "discount": "0.5"}


def figure(subject: Subject, name: str) -> SeriesKey:
    return SeriesKey(*subject, name)


def see_endpoint(
    history: HistoryFile, minute: float, uptime: int | None, latency: int | None
) -> None:
    history.see(
        START + minutes(minute),
        {
            figure(ENDPOINT, "uptime_last_5m"): uptime,
            **{
                figure(ENDPOINT, f"latency_{percentile}"): latency
                for percentile in ("p50", "p90", "p99")
            },
        },
        facts={ENDPOINT: FACTS},
        source=f"endpoints:{MODEL}",
    )


def rows_at(history: HistoryFile, minute: float) -> Sequence[EndpointRow]:
    snapshot = recorded(history.reader, START + minutes(minute), [MODEL])
    return snapshot.endpoints[MODEL].value or ()


def test_past_endpoints_equal_the_gateways_answer_at_that_time(history: HistoryFile) -> None:
    see_endpoint(history, 0, 99, 400)
    see_endpoint(history, 1, 20, None)
    (row,) = rows_at(history, 0)
    endpoint = row.endpoint
    assert (row.title, row.identity) == ("Lab /eu", "lab||")
    assert verdict(endpoint).word == "healthy"
    assert endpoint.latency_last_30m.p90 == 400
    assert (endpoint.pricing.prompt, endpoint.pricing.discount) == (
        Decimal("0.000002"),
        Decimal("0.5"),
    )
    (later,) = rows_at(history, 1)
    assert verdict(later.endpoint).word == "down"
    assert later.endpoint.latency_last_30m is None
    assert "latency_last_30m" not in later.endpoint.gaps  # reported as null: no traffic
    assert "uptime_last_1d" in later.endpoint.gaps  # never read: missing, not null


def test_moments_without_readings_show_no_values(history: HistoryFile) -> None:
    see_endpoint(history, 0, 99, 400)
    much_later = recorded(history.reader, START + timedelta(hours=5), [MODEL])
    assert much_later.endpoints == {}
    assert much_later.credits.value is None


def test_only_limits_in_force_count_and_the_nearest_comes_first() -> None:
    def row(**changes: object) -> KeyRow:
        return KeyRow(key(**changes))

    rows = [
        row(hash="a", limit=10, limit_remaining=9),
        row(hash="b", limit=10, limit_remaining=0),
        row(hash="c", limit=None),
        row(hash="d", limit=10, limit_remaining=0, disabled=True),
        row(hash="e", limit=10, limit_remaining=0, expires_at="2020-01-01T00:00:00Z"),
        row(hash="f", limit=10, limit_remaining=None),
    ]
    assert [limit.subject for limit in limits(rows, {}, START)] == ["b", "a", "f"]
    assert limits((), {"w": WorkspaceFigures()}, START) == ()


def test_a_fresh_live_value_goes_first_and_a_newer_recorded_one_when_it_is_old() -> None:
    live = FeedState(Credits(), fetched_at=START, stale_after=45)
    near = FeedState(Credits(), fetched_at=START + timedelta(seconds=20))
    late = FeedState(Credits(), fetched_at=START + timedelta(seconds=60))
    unread: FeedState[Credits] = FeedState()
    for past, expected in ((near, live), (late, late), (unread, live)):
        assert newest(BoardSnapshot(credits=live), BoardSnapshot(credits=past)).credits is expected
    assert newest(BoardSnapshot(), BoardSnapshot(credits=near)).credits is near


def test_recorded_figures_are_old_once_several_readings_are_missing(history: HistoryFile) -> None:
    for minute in range(3):
        history.see(START + minutes(minute), {SeriesKey("credits", "account", "total_usage"): 5})
    sight = recorded(history.reader, START + minutes(3), ())
    assert sight.credits.fetched_at == START + minutes(2)
    assert not sight.credits.is_old(START + minutes(3))
    assert sight.credits.is_old(START + minutes(2 + MISSED) + timedelta(seconds=1))


def test_small_curves_and_changed_prices(history: HistoryFile) -> None:
    for minute in range(60):
        see_endpoint(history, minute, 100 - minute, 100 + minute)
    history.see(
        START + minutes(60),
        facts={ENDPOINT: {**FACTS, "price_prompt": "0.000003"}},
        source=f"endpoints:{MODEL}",
    )
    identities = [ENDPOINT.identity, OTHER.identity]
    past = endpoints_past(history.reader, START, START + minutes(61), identities)
    curve = past.sparks[ENDPOINT.identity]["latency_p50"]
    assert len(curve.points) <= 9
    lows = [point.low for point in curve.points if point.low is not None]
    assert lows == sorted(lows)
    assert past.sparks[OTHER.identity]["latency_p50"] is None
    (change,) = past.prices[ENDPOINT.identity]
    assert (change.field, direction(change)) == ("price_prompt", 1)


def test_the_burn_rate_of_today_ends_when_the_keys_were_read() -> None:
    noon = START.replace(hour=12, minute=0)
    snapshot = BoardSnapshot(
        credits=FeedState(Credits(total_credits=Decimal(48), total_usage=Decimal(0))),
        keys=FeedState([KeyRow(key(usage_daily=Decimal(12)))], fetched_at=noon),
    )
    runway = snapshot.runway(())
    assert runway is not None
    assert runway.days == 2
    assert BoardSnapshot(credits=snapshot.credits).runway(()) is None
