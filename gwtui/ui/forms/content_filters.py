"""Editors for the content filters of a guardrail: builtin filters and custom filters.

Both open a form: one with a choice for every builtin filter, or one for a single custom filter,
which is tested on a sample message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar, cast

import pydantic
from pydantic import create_model
from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList

from gwtui.contract.content_filters import (
    BUILTIN_LABELS,
    BUILTIN_SLUGS,
    PROMPT_INJECTION,
    CustomFilterRequest,
    pattern_problem,
)
from gwtui.contract.guardrails import legal_actions
from gwtui.contract.request import RequestModel
from gwtui.crud.fields import Facts, Field, Preview
from gwtui.crud.form import BuiltinRow, CustomRow, FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.guardrail_verdict import FilterMatches, FilterVerdict, MessagePiece, apply_filters
from gwtui.domain.patterns import SAMPLE_LIMIT, SAMPLE_TIME, find_all
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.field_editors import Edited, OpeningEditor, fill_in
from gwtui.ui.forms.form_state import Typed
from gwtui.ui.input_queue import OPENING
from gwtui.ui.text import toned

Options = list[tuple[str, str]]

_NAMED = 24
_SHOWN = 200
"""Maximum number of characters of a pattern shown in the list."""
_NEW = CustomRow("", "block")


class BuiltinsEditor(OpeningEditor):
    """Shows the active builtin filters on one line; opens a form with a choice for each."""

    def __init__(self, field: Field, typed: Typed) -> None:
        super().__init__(typed)
        self.field = field

    @property
    def rows(self) -> tuple[BuiltinRow, ...]:
        """The active filters."""
        return cast("tuple[BuiltinRow, ...]", self.typed)

    def summary(self) -> str:
        """The active filters with their actions, on one line."""
        active = [safe_line(f"{row.slug} {row.action}", 50) for row in self.rows]
        return ", ".join(active) or "all off"

    async def ask(self, search_text: str) -> Typed:  # noqa: ARG002 - nothing to search
        """Open the form: the active filters in their order, then the others."""
        active = {row.slug for row in self.rows}
        rows = [*self.rows, *(BuiltinRow(slug, "") for slug in BUILTIN_SLUGS if slug not in active)]
        request = await fill_in(self, _builtins_form(self.field, rows))
        if request is None:
            return self.typed
        chosen = []
        for at, row in enumerate(rows):
            action, scope = getattr(request, f"action_{at}"), getattr(request, f"scope_{at}")
            if action:
                chosen.append(replace(row, action=action, scan_scope=scope or ""))
        return tuple(chosen)


@cache
def _builtins_model(count: int) -> type[RequestModel]:
    names = [f"{part}_{at}" for at in range(count) for part in ("action", "scope")]
    fields: dict[str, Any] = dict.fromkeys(names, (str | None, None))
    return create_model("BuiltinFilters", __base__=RequestModel, **fields)


def _builtins_form(field: Field, rows: Sequence[BuiltinRow]) -> FormSpec:
    fields: list[Field] = []
    initial: dict[str, Any] = {}
    for at, row in enumerate(rows):
        name = safe_line(row.slug, _NAMED).removeprefix("regex-")
        known = row.slug in BUILTIN_SLUGS
        note = "" if known else "unknown to this version of gwtui; kept"
        legal = legal_actions(row.slug, field.dialect) if known else ()
        actions = _with_present(legal, row.action, "not allowed here" if known else "")
        labels = {"redact": f"redact as {BUILTIN_LABELS.get(row.slug, '')}".removesuffix(" as ")}
        options = [("", "off"), *((value, labels.get(label, label)) for value, label in actions)]
        fields.append(Field(f"action_{at}", name, kind="choice", help=note, options=options))
        initial |= {f"action_{at}": row.action, f"scope_{at}": row.scan_scope or None}
        if row.slug == PROMPT_INJECTION:
            fields.append(
                Field(f"scope_{at}", "  looks in", kind="choice", options=_scopes(row.scan_scope))
            )
    return FormSpec(
        title=field.label,
        model=_builtins_model(len(rows)),
        fields=fields,
        submit="Done",
        sends="done",
        initial=initial,
    )


def _with_present(legal: Sequence[str], present: str, why: str) -> Options:
    options: Options = [(action, action) for action in legal]
    if present and present not in legal:
        word = safe_line(present, _NAMED)
        options.append((present, f"{word} ({why})" if why else word))
    return options


def _scopes(present: str) -> Options:
    every = "all_messages" if present else ""
    options = [(every, "every message"), ("user_only", "the user's only")]
    if present not in dict(options):
        options.append((present, safe_line(present, _NAMED)))
    return options


class FiltersEditor(OptionList, inherit_bindings=False):
    """The custom filters, one per line; Enter opens a filter in a form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("enter", "select", show=False),
        Binding("ctrl+n,n,plus", "add", show=False, id="form.add"),
        Binding("D,delete", "remove", show=False),
    ]
    FOCUS_KEYS: ClassVar[str] = "{form.add} adds · D removes"

    def __init__(self, field: Field, typed: Typed) -> None:
        super().__init__(markup=False, compact=True)
        self.field = field
        self._rows = cast("tuple[CustomRow, ...]", typed)
        self._tester = PatternTester()

    def on_mount(self) -> None:
        """List the filters."""
        self._list(0)

    def _list(self, highlighted: int) -> None:
        lines = [_line(at, row) for at, row in enumerate(self._rows, 1)]
        self.set_options([*lines, toned(with_keys("+ add a filter ({form.add})"), "muted")])
        self.highlighted = highlighted

    def _keep(self, rows: Sequence[CustomRow], highlighted: int) -> None:
        if tuple(rows) != self._rows:
            self._rows = tuple(rows)
            self._list(highlighted)
            self.post_message(Edited(self._rows))

    def action_step(self, step: int) -> None:
        """Move to another filter, or past the ends to the previous or next field."""
        place = (self.highlighted or 0) + step
        if 0 <= place < self.option_count:
            self.highlighted = place
        elif step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def action_add(self) -> None:
        """Open the form of a new filter."""
        self._edit(len(self._rows))

    def action_remove(self) -> None:
        """Remove the highlighted filter."""
        at = self.highlighted or 0
        self._keep([*self._rows[:at], *self._rows[at + 1 :]], at)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._edit(event.option_index)

    @work(group=OPENING, exclusive=True)
    async def _edit(self, at: int) -> None:
        row = self._rows[at] if at < len(self._rows) else _NEW
        before, after = self._rows[:at], self._rows[at + 1 :]

        def tried(sample: str | None, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
            return self._tester.outcome(sample or "", [*before, _row(values), *after])

        title = f"{self.field.label}: {at + 1}"
        spec = _filter_form(self.field, row, title, self._tester.sample, tried)
        request = await fill_in(self, spec)
        if request is not None:
            self._keep([*before, _row(request.model_dump()), *after], at)


class _FilterDraft(CustomFilterRequest):
    """A custom filter and a sample message to test it on."""

    sample: str | None = pydantic.Field(
        None, description="type or paste a message: it stays on this machine"
    )


def _row(values: Mapping[str, Any]) -> CustomRow:
    return CustomRow(values.get("pattern") or "", values["action"], values.get("label") or "")


def _filter_form(field: Field, row: CustomRow, title: str, sample: str, tried: Preview) -> FormSpec:
    legal = legal_actions(None, field.dialect)
    return FormSpec(
        title=title,
        model=_FilterDraft,
        fields=(
            Field("pattern", "Pattern", kind="pattern", placeholder="such as [A-Z]{2}[0-9]{6}"),
            Field(
                "action",
                "Action",
                kind="choice",
                options=_with_present(legal, row.action, "not allowed here"),
            ),
            Field("label", "Label", kind="text", placeholder="such as [ID]"),
            Field("sample", "Sample message", kind="lines", preview=tried),
        ),
        submit="Done",
        sends="done",
        initial={
            "pattern": row.pattern,
            "action": row.action,
            "label": row.label or None,
            "sample": sample or None,
        },
    )


def _line(number: int, row: CustomRow) -> Content:
    return Content.assemble(
        toned(f"{number:>2} {safe_line(row.action, 10):<8}", "muted"),
        toned(safe_line(row.pattern, _SHOWN)),
        toned(f" → {safe_line(row.label, 20)}" if row.label else "", "muted"),
    )


# Trying filters on a sample -----------------------------------------------------------------------

_CONTEXT = 40
"""Maximum number of characters shown of a passage that no filter matches."""
_TRIED = 1_000


class PatternTester:
    """Tests filters on a sample, and skips patterns that timed out before."""

    def __init__(self) -> None:
        self.sample = ""
        """The sample that was tested last."""
        self._slow: set[str] = set()

    def outcome(self, sample: str, rows: Sequence[CustomRow]) -> Cell | None:
        """Return the result for the sample, with notes on slow or empty matches.

        None without a sample.
        """
        self.sample = sample
        if not sample:
            return None
        matches, notes = [], []
        for number, row in enumerate(rows, 1):
            matches.append(self._matches(row, sample[:SAMPLE_LIMIT]))
            if row.pattern in self._slow:
                notes.append(f"! filter {number} took longer than {SAMPLE_TIME:g} s: too slow")
            elif matches[-1].matches_nothing:
                notes.append(f"! filter {number} matches the empty text, and so every message")
        if len(sample) > SAMPLE_LIMIT:
            notes.append(f"! only the first {SAMPLE_LIMIT:,} characters are tried")
        verdict = apply_filters(sample[:SAMPLE_LIMIT], matches)
        headline = _headline(verdict)
        marked = "".join(map(_marked, verdict.pieces))
        lines = [headline.text, safe_text(marked, _TRIED, newlines=True), *notes]
        return Cell("\n".join(lines), headline.tone)

    def _matches(self, row: CustomRow, sample: str) -> FilterMatches:
        spans = None
        if row.pattern and row.pattern not in self._slow and pattern_problem(row.pattern) is None:
            spans = find_all(row.pattern, [sample], SAMPLE_TIME)
            if spans is None:
                self._slow.add(row.pattern)
        return FilterMatches(row.action, row.label, () if spans is None else spans[0])


def _headline(verdict: FilterVerdict) -> Cell:
    if verdict.blocked_by:
        return Cell(f"BLOCKED by {_numbered(verdict.blocked_by)}: the request is refused", "bad")
    words = []
    if verdict.redacted_by:
        words.append(f"REDACTED by {_numbered(verdict.redacted_by)}")
    if verdict.flagged_by:
        words.append(f"FLAGGED by {_numbered(verdict.flagged_by)}")
    if not words:
        return Cell("PASSES unchanged: no filter matches", "good")
    return Cell(", ".join(words), "warn")


def _numbered(places: tuple[int, ...]) -> str:
    noun = "filter" if len(places) == 1 else "filters"
    return f"{noun} {', '.join(str(place + 1) for place in places)}"


def _marked(piece: MessagePiece) -> str:
    if piece.filter is None:
        long = len(piece.text) > _CONTEXT
        half = _CONTEXT // 2
        return f"{piece.text[:half]} … {piece.text[-half:]}" if long else piece.text
    becomes = f" → {piece.replacement}" if piece.action == "redact" else ""
    return f"«{piece.action} {piece.filter + 1}: {piece.text}{becomes}»"
