from __future__ import annotations

from typing import Any

from gwtui.resources.models.endpoints import EVERY_ENDPOINT, blended
from gwtui.resources.models.resource import MODELS
from gwtui.resources.models.side_by_side import FigureLine, SideBySide, side_by_side
from gwtui.ui.actions.models import figure_lines
from gwtui.watch.feeds.models import EndpointRow, rows_of
from resource_samples import NOW, endpoint_body, model, model_endpoints, percentiles


def row(**changes: Any) -> EndpointRow:
    [found] = rows_of(model_endpoints(endpoint_body(**changes)))
    return found


def line(found: SideBySide, label: str) -> FigureLine:
    lines = [line for _, part in found.parts for line in part if line.label == label]
    assert len(lines) == 1, label
    return lines[0]


def test_what_differs_and_what_is_best_of_them() -> None:
    slow = row(latency_last_30m=percentiles("900", "950", "990", "1200"), uptime_last_30m=90)
    cheap = row(pricing={"prompt": "0.000001", "completion": "0.000002", "image": "0.5"})
    found = side_by_side(EVERY_ENDPOINT, [slow, cheap], NOW)
    assert line(found, "p50 ms").best == {1}
    assert line(found, "Up 30m").best == {1}
    assert line(found, "In $/M").best == {1}
    assert line(found, "In $/M").differs
    assert not line(found, "Max out").differs
    assert line(found, "Max out").best == frozenset()
    assert line(found, "image /image in").cells[1].text == "$0.50"
    assert "Author/id" not in {line.label for _, part in found.parts for line in part}


def test_parameters_that_only_some_support_are_told_one_by_one() -> None:
    rows = [row(supported_parameters=["tools", "seed"]), row(supported_parameters=["seed", "stop"])]
    found = side_by_side(EVERY_ENDPOINT, rows, NOW)
    assert found.shared == ("seed",)
    assert [cell.text for cell in line(found, "tools").cells] == ["yes", "no"]
    assert [cell.text for cell in line(found, "stop").cells] == ["no", "yes"]
    unknown = side_by_side(EVERY_ENDPOINT, [rows[0], row(supported_parameters=None)], NOW)
    assert unknown.shared == ()
    assert [cell.text for cell in line(unknown, "tools").cells] == ["yes", "—"]


def test_an_unknown_figure_is_neither_best_nor_worst() -> None:
    found = side_by_side(
        EVERY_ENDPOINT,
        [row(context_length=None), row(context_length=5), row(context_length=9)],
        NOW,
    )
    assert line(found, "Context").best == {2}
    alone = side_by_side(EVERY_ENDPOINT, [row(context_length=None), row(context_length=5)], NOW)
    assert line(alone, "Context").best == frozenset()


def test_models_are_compared_by_their_own_columns() -> None:
    found = side_by_side(MODELS, [model(), model(context_length=9)], NOW)
    assert found.names[0][0] == "Aurora: Glass 2"
    assert line(found, "Context").best == {0}


def test_the_lines_fit_the_width_and_say_what_differs_without_colour() -> None:
    rows = [row(context_length=5), row(context_length=9)]
    lines = [one.plain for one in figure_lines(side_by_side(EVERY_ENDPOINT, rows, NOW), 77)]
    assert max(map(len, lines)) <= 77
    assert any(text.startswith("≠ Context") and text.count("✓") == 1 for text in lines)
    hostile = side_by_side(EVERY_ENDPOINT, [row(tag="[red]\x1b[31m"), row(tag="[/")], NOW)
    shown = "\n".join(one.plain for one in figure_lines(hostile, 77))
    assert "[red]" in shown
    assert "\x1b" not in shown


def test_the_blended_price_is_unknown_where_tokens_are_not_what_is_paid_for() -> None:
    assert blended(row(pricing={"prompt": "0", "completion": "0", "image": "0.04"})) is None
    assert blended(row(pricing={"prompt": "0", "completion": "0"})) == 0
    assert blended(row(pricing={"prompt": "0.000001", "completion": "0.000005"})) == 2
    assert blended(row(pricing={"prompt": "-1", "completion": "0"})) is None
    assert blended(row(pricing=None)) is None
