"""The bar chart: heights, axis, labels, unknown days, the selected bars."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.money import usd
from gwtui.ui.widgets.plot import Bar, Chart


def drawn(chart: Chart, width: int = 40, height: int = 6) -> list[str]:
    return [line.plain for line in chart.draw(width, height)]


def days(*values: int | str | None) -> list[Bar]:
    return [
        Bar(f"11-{number:02}", None if value is None else Decimal(value))
        for number, value in enumerate(values, start=1)
    ]


def test_heights_are_to_scale_in_eighths() -> None:
    chart = Chart(days(0, 10, 40, 35), lambda amount: usd(amount, places=0))
    lines = [line.rstrip() for line in drawn(chart, width=14, height=5)]
    assert lines == [
        "$40 ┤    █ ▄",
        "    │    █ █",
        "$20 ┤    █ █",
        " $0 ┤  █ █ █",
        "         11-04",
    ]


def test_what_is_more_than_nothing_is_seen() -> None:
    lines = drawn(Chart(days("0.0001", 100), str), height=4)
    assert "▁" in lines[2]


def test_an_unknown_day_is_marked_not_drawn_as_nothing() -> None:
    lines = drawn(Chart(days(None, 0, 5), str))
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
    *_, labels = [one.plain for one in chart.draw(80, 9)]
    assert labels.split() == ["11-04", "11-10"]
    one = Chart(bars, lambda amount: f"${amount}", chosen=(29, 29))
    assert one.draw(80, 9)[-1].plain.split() == ["11-30"]
