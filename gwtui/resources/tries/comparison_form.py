"""The form of a request whose answers are compared: that of a try, without where it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from gwtui.crud.form import FieldGroup, FormField, FormSpec, no_choices
from gwtui.domain.safe_text import safe_line
from gwtui.resources.tries.form import KEPT, TryForm, try_form
from gwtui.resources.tries.keys import KeySource

_ELSEWHERE = frozenset({"model", "only", "stream"})
"""Fields of a try that are no question here: the rows say where, and answers always stream."""
KEPT_TO_COMPARE = tuple(name for name in KEPT if name not in _ELSEWHERE)
_TITLE = 70


class CompareForm(TryForm):
    """A request whose answers are compared, as a form fills it in; the maximum is that of all."""

    at_once: bool = Field(True, description="send them all at the same time, else in turn")


def compare_form(
    sources: Sequence[KeySource], model: str, names: Sequence[str], initial: Mapping[str, Any]
) -> FormSpec:
    """The form; ``names`` are those that answer, ``initial`` values by field."""
    begun = {**initial, "model": model, "only": None, "stream": True, "at_once": True}
    whole = try_form(sources, no_choices, no_choices, begun)
    groups = [_without(group) for group in whole.groups]
    groups[-1] = replace(
        groups[-1], fields=(*groups[-1].fields, FormField("at_once", "All at once", "switch"))
    )
    title = safe_line(f"Compare {', '.join(names)}", _TITLE)
    return replace(whole, title=title, model=CompareForm, fields=tuple(groups), submit="Send them")


def _without(group: FieldGroup) -> FieldGroup:
    fields = tuple(field for field in group.fields if field.name not in _ELSEWHERE)
    return replace(group, fields=fields)
