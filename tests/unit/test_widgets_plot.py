"""Plots: curves to scale, gaps, no traffic as its own character, round axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.crud.cells import sparkline
from gwtui.domain.money import usd
from gwtui.ui.screens.board_endpoints import STATES
from gwtui.ui.widgets.plot import (
    NOTHING,
    SPANS,
    Bar,
    Block,
    Chart,
    PlotFigure,
    PlotLine,
    PlotWindow,
    Span,
    fitted,
    legend,
    scale_of,
    ticks_of,
    timeline,
    window_at,
)
from gwtui.watch.history.model import Curve, Point

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
WINDOW = PlotWindow(NOON - timedelta(hours=1), NOON)
AMOUNTS = st.decimals(min_value=-(10**6), max_value=10**6, places=3)

Value = int | str | None


def curve(values: Sequence[Value], width: int = 60, begin: datetime = WINDOW.since) -> Curve:
    """Slots from ``begin``; None is no traffic, "gap" was not recorded."""
    points = []
    for index, value in enumerate(values):
        moment = begin + timedelta(seconds=index * width)
        if value == "gap":
            points.append(Point(moment))
        elif value is None:
            points.append(Point(moment, "null"))
        else:
            amount = Decimal(value)
            points.append(Point(moment, "value", amount, amount, amount, amount))
    return Curve(timedelta(seconds=width), tuple(points))


def figure(values: Sequence[Value], **changes: object) -> PlotFigure:
    plain = PlotFigure("Credits", WINDOW, (PlotLine(curve(values)),), usd)
    return replace(plain, **changes)  # type: ignore[arg-type]


def drawn_lines(plot: Chart | PlotFigure, width: int = 40, height: int = 7) -> list[str]:
    return [line.plain for line in plot.draw(width, height)]


def body(lines: list[str]) -> list[str]:
    """The plot area, without title, value axis and time axis."""
    return [line[max(line.find("┤"), line.find("│")) + 1 :] for line in lines[1:-1]]


def test_a_falling_curve_falls_from_top_left_to_bottom_right() -> None:
    rows = body(drawn_lines(figure([100 - index for index in range(60)])))
    filled = [[column for column, sign in enumerate(row) if sign != " "] for row in rows]
    starts = [columns[0] for columns in filled if columns]
    assert starts == sorted(starts)
    assert len(starts) > 2


def test_a_gap_is_blank_and_no_traffic_is_a_dot_on_the_ground() -> None:
    rows = body(drawn_lines(figure([5] * 20 + ["gap"] * 20 + [None] * 20)))
    wide = len(rows[0])
    third = wide // 3
    assert all(row[third + 2 : 2 * third - 1].strip() == "" for row in rows)
    assert set(rows[-1][2 * third + 2 : wide - 1]) == {"·"}
    assert all(row[2 * third + 2 :].strip() == "" for row in rows[:-1])


def test_a_plot_without_readings_says_so() -> None:
    lines = drawn_lines(figure(["gap"] * 60), width=70)
    assert any(NOTHING in line for line in lines)
    assert "not recorded" in lines[0]


def test_a_plot_that_is_still_read_claims_nothing() -> None:
    lines = drawn_lines(figure(["gap"] * 60, loading=True), width=70)
    assert any("loading…" in line for line in lines)
    assert lines[0] == "Credits"


def test_the_title_names_the_newest_value() -> None:
    assert drawn_lines(figure([3] * 30 + [1] * 30), width=70)[0].endswith("$1.00")
    assert drawn_lines(figure([1] * 30 + [None] * 15 + ["gap"] * 15), width=70)[0].endswith(
        "no traffic"
    )


def test_dense_readings_show_a_line_with_extremes() -> None:
    day = replace(WINDOW, since=NOON - timedelta(days=1))
    noisy = figure(
        [], window=day, lines=(PlotLine(curve([100, 50, 90, 0] * 360, begin=day.since)),)
    )
    dots = sum((ord(sign) - 0x2800).bit_count() for sign in signs(drawn_lines(noisy, 40, 22)))
    columns = 2 * len(body(drawn_lines(noisy, 40, 22))[0])
    assert columns * 2 < dots < columns * 8  # of 80 in each column


def signs(lines: list[str]) -> str:
    """Every braille character."""
    return "".join(sign for row in body(lines) for sign in row if sign > "\u2800")


def test_a_single_spike_among_many_readings_is_in_sight() -> None:
    flat = body(drawn_lines(figure([10] * 60, ceiling=Decimal(100)), width=20))
    spiked = body(
        drawn_lines(figure([10] * 30 + [100] + [10] * 29, ceiling=Decimal(100)), width=20)
    )
    assert not flat[0].strip()
    assert spiked[0].strip()


@given(st.lists(st.one_of(st.none(), st.just("gap"), AMOUNTS.map(str)), max_size=60))
def test_every_line_fits_whatever_is_recorded(values: list[Value]) -> None:
    for width, height in ((24, 3), (40, 7), (120, 20)):
        lines = figure(values).draw(width, height)
        assert len(lines) == height
        assert all(line.cell_length <= width for line in lines)


@given(AMOUNTS, AMOUNTS, st.integers(1, 40))
def test_the_scale_holds_all_and_is_not_wasteful(
    first: Decimal, second: Decimal, rows: int
) -> None:
    low, high = min(first, second), max(first, second)
    scale = scale_of(low, high, rows=rows)
    assert scale.bottom <= low <= high <= scale.top
    assert scale.bottom < scale.top
    assert 0 <= scale.share(low) <= scale.share(high) <= 1
    if low != high:
        assert scale.top - scale.bottom <= (high - low) * 7


def test_scales_waste_no_rows() -> None:
    few = scale_of(Decimal(140), Decimal(540), rows=4)
    assert (few.bottom, few.top) == (0, 600)
    some = scale_of(Decimal(140), Decimal(190), rows=7)
    assert (some.bottom, some.top) == (140, 200)


@pytest.mark.parametrize("low", [None, Decimal(100)])
def test_the_scale_ends_at_its_ceiling(low: Decimal | None) -> None:
    for rows in (2, 5, 30):
        scale = scale_of(low, low, ceiling=Decimal(100), rows=rows)
        assert scale.bottom < scale.top == 100


@given(AMOUNTS, st.decimals(0, "0.1", places=5), st.integers(3, 40))
def test_no_two_figures_of_the_axis_read_the_same(low: Decimal, more: Decimal, height: int) -> None:
    lines = figure([str(low), str(low + more)]).draw(60, height)
    labels = [line.plain.partition("┤")[0].strip() for line in lines if "┤" in line.plain]
    assert len(set(labels)) == len(labels) > 0


def test_labels_of_time_are_round() -> None:
    labels = [label for _, label in ticks_of(WINDOW, 4)]
    assert labels == ["11:00", "11:15", "11:30", "11:45"]
    days = PlotWindow(NOON - timedelta(days=30), NOON)
    assert all("-" in label for _, label in ticks_of(days, 5))


@pytest.mark.parametrize("span", SPANS, ids=lambda span: span.name)
def test_a_window_holds_now_and_stands_still_for_a_stride(span: Span) -> None:
    window = window_at(span, NOON)
    assert window.since <= NOON - span.length
    assert NOON < window.until <= NOON + span.stride
    assert window_at(span, window.until - timedelta(seconds=1)) == window
    assert window_at(span, window.until).since == window.since + span.stride


def test_an_axis_begins_where_the_recording_does_in_steps_that_stand_still() -> None:
    window = PlotWindow(NOON - timedelta(hours=4), NOON)

    def begins(hours: float) -> timedelta:
        recorded = curve([*["gap"] * 60, 1], 60, NOON - timedelta(hours=hours + 1))
        return NOON - fitted(window, (None, recorded)).since

    assert fitted(window, (None,)) == window
    assert begins(4) == begins(3.1) == timedelta(hours=4)
    assert begins(2.9) == timedelta(hours=3)
    assert begins(0.1) == timedelta(hours=1), "the axis keeps a quarter of its window"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 50, 100, None, "gap"], " ▁▄▇· "),
        ([1, 5, 900], "▁▁▇"),
        ([1000, 1001, 1002], "▄▄▄"),
        ([7, 7], "▄▄"),
        ([60, 100], "▁▇"),
    ],
)
def test_a_sparkline_leaves_headroom_and_tells_no_traffic_and_gaps_apart(
    values: list[Value], expected: str
) -> None:
    assert sparkline(curve(values), len(expected)) == expected


def test_a_sparkline_without_readings_is_blank_and_one_at_its_ceiling_is_full() -> None:
    assert sparkline(None, 4) == "    "
    assert sparkline(curve([99, 100]), 2, floor=Decimal(0), ceiling=Decimal(100)) == "██"


def test_a_timeline_names_each_unhealthy_state_once() -> None:
    down, healthy = Block("down", "bad"), Block("healthy", "good")
    assert timeline([*[healthy] * 10, *[down] * 8]).plain == "▁▁▁▁▁▁▁▁▁▁██down██"
    assert timeline([*[down] * 3, *[healthy] * 7, *[down] * 4]).plain == "███▁▁▁▁▁▁▁down"
    assert timeline([*[down] * 4, healthy, *[down] * 4]).plain == "down▁████"


def test_the_legend_has_a_distinct_symbol_per_state() -> None:
    entries = dict(part.split(" ", 1) for part in legend(STATES).plain.split("  "))
    assert list(entries.values()) == ["healthy", "degraded", "down", "no traffic"]
    assert len(entries) == len(STATES)


# Bars ---------------------------------------------------------------------------------------------


def days(*values: int | str | None) -> list[Bar]:
    return [
        Bar(f"11-{number:02}", None if value is None else Decimal(value))
        for number, value in enumerate(values, start=1)
    ]


def test_heights_are_to_scale_in_eighths() -> None:
    chart = Chart(days(0, 10, 40, 35), lambda amount: usd(amount, places=0))
    lines = [line.rstrip() for line in drawn_lines(chart, width=14, height=5)]
    assert lines == [
        "$40 ┤    █ ▄",
        "    │    █ █",
        "$20 ┤    █ █",
        " $0 ┤  █ █ █",
        "         11-04",
    ]


def test_small_values_are_visible() -> None:
    lines = drawn_lines(Chart(days("0.0001", 100), str), height=4)
    assert "▁" in lines[2]


def test_an_unknown_day_is_marked_not_drawn_as_nothing() -> None:
    lines = drawn_lines(Chart(days(None, 0, 5), str), height=6)
    assert lines[4].count("?") >= 1
    assert all("?" not in line for line in lines[:4])


def test_selected_bars_have_their_own_colour() -> None:
    *bars, _labels = Chart(days(8, 8, None, 8), str, chosen=(1, 1)).draw(12, 4)
    for number, line in enumerate(reversed(bars)):
        styles = [
            str(span.style)
            for column in range(line.plain.index("│" if number == 1 else "┤") + 1, 12, 2)
            for span in line.spans
            if span.start <= column < span.end
        ]
        assert [style.split("-")[-1] for style in styles[:4]] == [
            "muted",
            "accent",
            "warn",
            "muted",
        ]


@given(
    values=st.lists(
        st.none() | st.decimals(0, 10**15, allow_nan=False, places=6), min_size=0, max_size=40
    ),
    width=st.integers(8, 200),
    height=st.integers(2, 30),
)
def test_every_line_fits(values: list[Decimal | None], width: int, height: int) -> None:
    bars = [Bar(f"{number:02}", value) for number, value in enumerate(values)]
    chart = Chart(bars, lambda amount: f"{amount:.0e}"[:5])
    lines = chart.draw(width, height)
    assert len(lines) == height
    assert all(line.cell_length <= max(width, 8) for line in lines)


def test_chosen_bars_have_the_labels() -> None:
    bars = [Bar(f"11-{day:02}", Decimal(day)) for day in range(1, 31)]
    chart = Chart(bars, lambda amount: f"${amount}", chosen=(3, 9))
    *_, labels = [entry.plain for entry in chart.draw(80, 9)]
    assert labels.split() == ["11-04", "11-10"]
    item = Chart(bars, lambda amount: f"${amount}", chosen=(29, 29))
    assert item.draw(80, 9)[-1].plain.split() == ["11-30"]
