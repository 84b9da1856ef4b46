"""From a field's declaration to its editor."""

from __future__ import annotations

from functools import partial

from pydantic import SecretStr
from textual.widget import Widget

from gwtui.crud.form import (
    CustomFilterField,
    FilterListField,
    FormField,
    ModelField,
    MultiPickField,
    SecretField,
    TextAreaField,
    ThreeWayField,
)
from gwtui.domain.safe_text import safe_line
from gwtui.ui.forms.builtin_filters import BuiltinsEditor
from gwtui.ui.forms.custom_filters import FiltersEditor
from gwtui.ui.forms.editors import ChoiceEditor, PickEditor, TextEditor
from gwtui.ui.forms.model_field import ModelEditor
from gwtui.ui.forms.pick import PicksEditor
from gwtui.ui.forms.reading import UNSAID, Typed
from gwtui.ui.forms.secret_field import SecretEditor
from gwtui.ui.forms.state import FormState
from gwtui.ui.forms.text_area import LinesEditor

_UNSAID = "unknown"
_PRESENT = 36
"""Characters of a value that only the gateway knows; an identifier is that long."""


def make_editor(field: FormField, state: FormState) -> Widget:
    """The widget that edits a field, holding what the form holds."""
    typed = state.typed(field.name)
    rules = state.rules(field.name)
    editor: Widget
    match field:
        case ThreeWayField():
            editor = ChoiceEditor(_three_way(field, typed), typed)
        case TextAreaField():
            editor = LinesEditor(str(typed), field.placeholder)
        case SecretField():
            editor = SecretEditor(field.placeholder)
        case ModelField():
            editor = ModelEditor(field, str(typed))
        case MultiPickField():
            editor = PicksEditor(field, rules, typed)
        case FilterListField():
            editor = BuiltinsEditor(field, typed, partial(state.entry_problems, field.name))
        case CustomFilterField():
            editor = FiltersEditor(field, typed, partial(state.entry_problems, field.name))
        case _:
            editor = _plain_editor(field, state, typed)
    return editor


def _plain_editor(field: FormField, state: FormState, typed: Typed) -> Widget:
    match field.kind:
        case "switch":
            return ChoiceEditor([(False, "no"), (True, "yes")], typed)
        case "choice":
            return ChoiceEditor(_choices(field, state, str(typed)), typed)
        case "workspace":
            return PickEditor(field.label, _workspaces(field, state, str(typed)), str(typed))
    assert not isinstance(typed, SecretStr)  # noqa: S101 - a secret never becomes a text here
    return TextEditor(str(typed), field.placeholder)


def _three_way(field: ThreeWayField, typed: Typed) -> list[tuple[Typed, str]]:
    unsaid: list[tuple[Typed, str]] = [(UNSAID, _UNSAID)] if typed == UNSAID else []
    return [*unsaid, (None, field.empty), (True, field.yes), (False, field.no)]


def _choices(field: FormField, state: FormState, present: str) -> list[tuple[Typed, str]]:
    """The model's choices; one that only the gateway knows can be kept."""
    known = state.rules(field.name)
    empty = _UNSAID if state.is_unknown(field.name) else field.empty
    options: list[tuple[Typed, str]] = [("", empty)] if known.nullable else []
    options += [(choice, field.words.get(choice, choice)) for choice in known.choices]
    if present and present not in known.choices:
        options.append((present, safe_line(present, _PRESENT)))
    return options


def _workspaces(field: FormField, state: FormState, present: str) -> list[tuple[str, str]]:
    known = dict(state.facts.workspaces)
    if present:
        known.setdefault(present, safe_line(present, _PRESENT))
    named = sorted(known.items(), key=lambda item: item[1].lower())
    # An update cannot mean "the default one": it must name a workspace.
    empty = [] if state.spec.partial and present else [("", field.empty)]
    return [*empty, *named]
