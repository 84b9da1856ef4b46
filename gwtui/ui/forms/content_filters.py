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
from gwtui.crud.fields import Field
from gwtui.crud.form import BuiltinRow, CustomRow, FormSpec
from gwtui.crud.resource import Cell
from gwtui.domain.patterns import SAMPLE_LIMIT, SAMPLE_TIME, find_all
from gwtui.domain.safe_text import safe_line
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
        active = [safe_line(f"{row.slug} {row.action}", 50) for row in self.rows]
        return ", ".join(active) or "all off"

    async def ask(self, search_text: str) -> Typed:  # noqa: ARG002 - nothing to search
        """Let the user edit the filters in a form, and return the filters that are active then.

        The form lists the present active filters in their order, then the others. If the user
        cancels, the value is unchanged.
        """
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

    def on_mount(self) -> None:
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
        place = (self.highlighted or 0) + step
        if 0 <= place < self.option_count:
            self.highlighted = place
        elif step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def action_add(self) -> None:
        self._edit(len(self._rows))

    def action_remove(self) -> None:
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
        request = await fill_in(self, _filter_form(self.field, row, at + 1))
        if request is not None:
            self._keep([*before, _row(request.model_dump()), *after], at)


class _FilterDraft(CustomFilterRequest):
    """A custom filter and a sample message to try its pattern on."""

    sample: str | None = pydantic.Field(
        None, description="type or paste a message: it stays on this machine"
    )


def _row(values: Mapping[str, Any]) -> CustomRow:
    return CustomRow(values.get("pattern") or "", values["action"], values.get("label") or "")


def _filter_form(field: Field, row: CustomRow, number: int) -> FormSpec:
    legal = legal_actions(None, field.dialect)
    slow: set[str] = set()
    return FormSpec(
        title=f"{field.label}: {number}",
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
            Field(
                "sample",
                "Sample message",
                kind="lines",
                preview=lambda _sample, values, _context: sample_matches(values, slow),
            ),
        ),
        submit="Done",
        sends="done",
        initial={
            "pattern": row.pattern,
            "action": row.action,
            "label": row.label or None,
        },
    )


def _line(number: int, row: CustomRow) -> Content:
    return Content.assemble(
        toned(f"{number:>2} {safe_line(row.action, 10):<8}", "muted"),
        toned(safe_line(row.pattern, _SHOWN)),
        toned(f" → {safe_line(row.label, 20)}" if row.label else "", "muted"),
    )


# Trying a pattern on a sample ---------------------------------------------------------------------

_MATCHES = 5
"""Maximum number of matches shown; the others are counted."""


def sample_matches(values: Mapping[str, Any], slow: set[str]) -> Cell | None:
    """Return the matches of a draft's pattern in its sample message, as text.

    None without a sample or a valid pattern. Patterns that take too long are added to ``slow`` and
    not tried again.
    """
    pattern, sample = values.get("pattern") or "", values.get("sample") or ""
    if not sample or not pattern or pattern_problem(pattern) is not None:
        return None
    matches = None if pattern in slow else find_all(pattern, [sample[:SAMPLE_LIMIT]], SAMPLE_TIME)
    if matches is None:
        slow.add(pattern)
        return Cell(f"! takes longer than {SAMPLE_TIME:g} s: too slow", "warn")
    (spans,) = matches
    if any(start == end for start, end in spans):
        return Cell("! matches the empty text, and so every message", "warn")
    if not spans:
        return Cell("no match", "muted")
    texts = [f"“{safe_line(sample[start:end], _NAMED)}”" for start, end in spans[:_MATCHES]]
    more = [f"and {len(spans) - _MATCHES} more"] if len(spans) > _MATCHES else []
    return Cell(f"matches {', '.join([*texts, *more])}", "good")
