"""Collects, without a terminal, every text that shows data of a gateway, and its place."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hostile_gateway import CLOCK, NOW, Spoilt
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.contract.dialects import GENERIC
from gwtui.crud.export import exported
from gwtui.crud.resource import Column, DetailRow, ResourceSpec, Scope, Section
from gwtui.domain.guardrail_effect import effect_on_catalog, restrictions_of
from gwtui.resources import activity
from gwtui.resources import credits as spending
from gwtui.resources import generations as generation
from gwtui.resources.activity import account_usage, key_usage
from gwtui.resources.copying import copyables, declared, row_path
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.keys import current as current_key
from gwtui.resources.registry import PARENTS, RESOURCES
from gwtui.ui.actions.guardrails import allowed_lines
from gwtui.ui.screens.pages import raw_lines
from gwtui.ui.terminal.app import ControlCharacterFilter
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.table.layout import arrange, header_strip, row_strip
from gwtui.ui.widgets.table.model import TableModel
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.activity import activity_feed, key_activity_feed
from gwtui.watch.feeds.credits import CreditsRow, credits_feed
from gwtui.watch.feeds.keys import current_key_feed, keys_feed
from gwtui.watch.feeds.models import catalog_feed
from gwtui.watch.hub import FeedHub
from gwtui.watch.reads import FeedKey

WIDTHS = (80, 120)
CONNECTION = Connection("https://gateway.example", named_by=("--profile", "here"))
_UNSTYLED = Style()


def _plain(_name: str) -> Style:
    return _UNSTYLED


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text, the kind of sink that shows it, and the place in that sink."""

    sink: str
    place: str
    text: str


@dataclass(frozen=True)
class Subject:
    """A list or screen of the dashboard: the data that it reads, and all texts made of it."""

    name: str
    feeds: Callable[[FeedHub, Callable[[str], str]], Sequence[Feed[Any]]]
    show: Callable[[Sequence[Any]], Iterator[ShownText]]


# Bad characters -----------------------------------------------------------------------------

_BAD = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def dangerous(text: str) -> list[str]:
    """The characters of a text that must not reach a terminal, line breaks aside."""
    if text.isascii() and text.isprintable():
        return []
    return [char for char in text if unicodedata.category(char) in _BAD]


# Tables -------------------------------------------------------------------------------------


def table(
    columns: Sequence[Column[Any]],
    identity: Callable[[Any], str],
    items: Sequence[Any],
    facets: Any = None,
    query: str = "",
) -> Iterator[ShownText]:
    """Cells, the text that filters search, and painted rows at every page and width."""
    model: TableModel[Any] = TableModel(columns, identity, lambda: NOW, facets or {})
    model.show(items)
    for column in columns:
        model.sort_by(column.id, True)
        model.sort_by(column.id, False)
    model.sort_by(columns[0].id, False)
    for number, item in enumerate(items):
        for column in columns:
            yield ShownText("cell", f"{number} {column.id}", column.cell(item, NOW).text)
        for name, facet in (facets or {}).items():
            yield ShownText("facet", f"{number} {name}", facet(item, NOW).replace("\n", " "))
    for width in WIDTHS:
        layout = arrange(columns, width)
        for page in range(layout.pages):
            layout = arrange(columns, width, page)
            header = header_strip(layout, columns, model.sorting, _plain)
            yield ShownText("painted", f"{width} {page} header", _exact(header, width))
            for line, item in enumerate(model.visible):
                cells = [columns[slot.index].cell(item, NOW) for slot in layout.slots]
                cursor = None if line else _UNSTYLED
                strip = row_strip(cells, layout, columns, _plain, cursor=cursor)
                yield ShownText("painted", f"{width} {page} {line}", _exact(strip, width))
    for text in (query, f"-{query}", f"{columns[0].id}:{query}", f"{columns[-1].id}>{query}"):
        model.filter_by(text)
        if model.filter_error:
            yield ShownText("filter", "error", model.filter_error)
    model.filter_by("")


def _exact(strip: Any, width: int) -> str:
    text: str = strip.text
    assert cell_len(text) == width == strip.cell_length, f"{cell_len(text)} cells for {width}"
    return text


# Figures ------------------------------------------------------------------------------------


def figures(sections: Sequence[Section[Any]], item: Any, number: int = 0) -> Iterator[ShownText]:
    for section in sections:
        for row, part in enumerate(section.content(item, NOW)):
            place = f"{number} {section.title}/{row}"
            if isinstance(part, DetailRow):
                yield ShownText("figure", f"{place} label", part.label)
                yield ShownText("figure", f"{place} value", part.value.text.replace("\n", " "))
                yield ShownText("figure", f"{place} note", part.note.replace("\n", " "))
                continue
            yield from (ShownText("figure", f"{place} head", title) for title in part.columns)
            for line, cells in enumerate(part.rows):
                for column, cell in enumerate(cells):
                    yield ShownText("figure", f"{place} {line},{column}", cell.text)


def pane(
    name: str, sections: Sequence[Section[Any]], item: Any, number: int = 0
) -> Iterator[ShownText]:
    """The detail pane as folded lines."""
    for width in (38, 76):
        for line, content in enumerate(section_lines(name, sections, item, NOW, width)):
            yield ShownText("pane", f"{number} {width} {line}", content.plain)


def raw(value: Any, item: Any, number: int = 0) -> Iterator[ShownText]:
    """The view of the raw response."""
    for content in raw_lines(value, item):
        yield ShownText("raw", f"{number} line", content.plain)


def copied(spec: ResourceSpec[Any], rows: Sequence[Any], path: str | None) -> Iterator[ShownText]:
    """What can be copied of the first rows and of all rows, and the exported list."""
    described = declared(spec, row_path(spec.id, path))
    for number, selection in enumerate((rows[:1], rows[1:2], rows)):
        for item in copyables(described, selection, NOW, CONNECTION) if selection else ():
            for line in item.text().split("\n"):
                yield ShownText("copied", f"{number} {item.kind}", line)
    for line in exported(spec, spec.columns, rows, "csv", NOW).split("\n"):
        yield ShownText("copied", "csv", line)


# Subjects -----------------------------------------------------------------------------------


def _of_spec(spec: ResourceSpec[Any], parent: str | None) -> Subject:
    def feeds(hub: FeedHub, known_as: Callable[[str], str]) -> Sequence[Feed[Any]]:
        scope = Scope(parent=None if parent is None else known_as(parent))
        results = [spec.feed(hub, scope)]
        if spec.completion is not None:
            results.append(spec.completion.feed(hub, scope))
        return results

    def show(values: Sequence[Any]) -> Iterator[ShownText]:
        rows = values[0]
        if spec.completion is not None and values[1] is not None:
            rows = [spec.completion.complete(row, values[1]) for row in rows]
        names = [spec.name(row) for row in rows]
        yield from table(spec.columns, spec.identity, rows, spec.facets, names[0] if names else "")
        yield from copied(spec, rows, parent)
        for number, row in enumerate(rows):
            yield ShownText("name", str(number), names[number])
            yield from figures(spec.sections, row, number)
            yield from pane(names[number], spec.sections, row, number)
            yield from raw(spec.raw(row), row, number)

    return Subject(spec.id, feeds, show)


def _credits(values: Sequence[Any]) -> Iterator[ShownText]:
    credits, keys = values
    for number, line in enumerate(
        (*spending.balance_lines(credits), *spending.burn_lines(CreditsRow(credits), NOW))
    ):
        yield from (
            ShownText("line", f"{number} {index}", cell.text) for index, cell in enumerate(line)
        )
    yield ShownText("line", "digits", spending.balance_text(credits))
    for window in spending.WINDOWS:
        result = spending.spending(keys or (), window)
        for columns, items in (
            (spending.KEY_COLUMNS, result.keys),
            (spending.WORKSPACE_COLUMNS, result.workspaces),
        ):
            for text in table(columns, lambda item: item.identity, items):
                yield ShownText(text.sink, f"{window} {columns[0].title} {text.place}", text.text)


def _activity(values: Sequence[Any]) -> Iterator[ShownText]:
    usage, keys = values
    measures: tuple[Any, ...] = tuple(activity.MEASURE_LABELS)
    ways: list[Any] = ["model", "provider", "workspace"]
    for measure in measures:
        totals = account_usage(usage)
        ranked = {by: activity.ranked(totals, usage.rows, by, measure) for by in ways}
        if keys is not None:
            by_key = key_usage(keys, usage)
            for by in ("key", "user"):
                ranked[by] = activity.ranked(by_key, usage.rows, by, measure)
        for grouping, items in ranked.items():
            for text in table(activity.COLUMNS, lambda item: item.identity, items):
                yield ShownText(text.sink, f"{measure} {grouping} {text.place}", text.text)
    for number, cell in enumerate(activity.total_cells(activity.activity.summarize(usage.rows))):
        yield ShownText("line", str(number), cell.text)


def _object(sections: Sequence[Section[Any]], name_of: Callable[[Any], str]) -> Any:
    def show(values: Sequence[Any]) -> Iterator[ShownText]:
        item = values[0]
        yield ShownText("name", "0", name_of(item))
        yield from figures(sections, item)
        yield from pane(name_of(item), sections, item)
        yield from raw(item.raw, item)

    return show


def _effects(values: Sequence[Any]) -> Iterator[ShownText]:
    guardrails, view = values
    if view is None:
        return
    for number, row in enumerate(guardrails):
        rules = restrictions_of(row.guardrail)
        effect = effect_on_catalog(view, [rules], GENERIC)
        for line, content in enumerate(allowed_lines(effect, 80)):
            yield ShownText("line", f"{number} {line}", content.plain)


def _generation_feed(hub: FeedHub, identity: str) -> Feed[Any]:
    return hub.feed(
        FeedKey("generation"), lambda reader: reader.client.generations.get(identity), cadence.KEYS
    )


def subjects(parents: Mapping[str, str]) -> Iterator[Subject]:
    """Every list and every other screen; ``parents`` open those that need a parent."""
    for name, spec in RESOURCES.items():
        yield _of_spec(spec, parents.get(PARENTS.get(name, "")))
    scope = Scope()
    yield Subject(
        "credits", lambda hub, _: [credits_feed(hub, scope), keys_feed(hub, scope)], _credits
    )
    yield Subject(
        "activity",
        lambda hub, _: [
            activity_feed(hub, scope),
            key_activity_feed(hub, scope),
        ],
        _activity,
    )
    yield Subject(
        "key",
        lambda hub, _: [current_key_feed(hub, scope)],
        _object(current_key.SECTIONS, current_key.shown_name),
    )
    yield Subject(
        "generation",
        lambda hub, known_as: [_generation_feed(hub, known_as(parents["generation"]))],
        _object(generation.SECTIONS, generation.shown_name),
    )
    yield Subject(
        "remaining", lambda hub, _: [GUARDRAILS.feed(hub, scope), catalog_feed(hub)], _effects
    )


@dataclass(frozen=True)
class SubjectReading:
    """The result of reading a subject once: the errors of its feeds, and every text."""

    errors: tuple[GatewayError, ...]
    shown: tuple[ShownText, ...]


async def look(subject: Subject, spoilt: Spoilt, known_as: Callable[[str], str]) -> SubjectReading:
    """Read a subject once and show it; unexpected errors are raised."""
    client = spoilt.client()
    hub = FeedHub(client, CLOCK)
    try:
        states = [await feed.refresh() for feed in subject.feeds(hub, known_as)]
    finally:
        await hub.close()
        await client.close()
    errors = tuple(state.error for state in states if state.error is not None)
    for error in errors:
        if error.__cause__ is not None:
            raise error.__cause__
    if states[0].value is None:
        return SubjectReading(errors, ())
    return SubjectReading(errors, tuple(subject.show([state.value for state in states])))


HARMLESS = frozenset("\u200d\ufe0e\ufe0f")
"""Parts of ordinary emoji."""


class Witness(ControlCharacterFilter):
    """The last boundary before the terminal; records what reaches it."""

    def __init__(self, leaks: list[str]) -> None:
        self._leaks = leaks

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        self._leaks += [
            segment.text
            for segment in segments
            if not segment.control and [c for c in dangerous(segment.text) if c not in HARMLESS]
        ]
        return super().apply(segments, background)
