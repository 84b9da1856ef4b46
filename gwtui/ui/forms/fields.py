"""How a form is declared. Limits, choices and units are never here: the request model has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Literal

from gwtui.contract.request import RequestModel
from gwtui.ui.resources.spec import Cell

Kind = Literal["text", "usd", "choice", "switch", "datetime", "workspace"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What previews and pickers may know. ``zone`` None is the machine's own time zone."""

    now: Callable[[], datetime]
    zone: tzinfo | None = None
    workspaces: Mapping[str, str] = field(default_factory=dict)
    """Workspace id -> name, fit to be shown."""


Preview = Callable[[Any, Mapping[str, Any], Facts], Cell | None]
"""What a value means, from the value, all readable values of the form and the facts."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form; ``name`` is that of the request model's field.

    ``help`` replaces the model's description. ``empty`` is the word of the choice that stands for
    no value. ``fixed`` makes it a figure that cannot be edited: the text shown, and why.
    """

    name: str
    label: str
    kind: Kind
    help: str = ""
    empty: str = "none"
    placeholder: str = ""
    preview: Preview | None = None
    fixed: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class FormSpec:
    """A form: what it is called, what it fills in, and the field values it starts from.

    ``partial`` is an update: the request carries only what differs from ``initial``. A field that
    is missing from ``initial`` is unknown and stays as it is unless something is typed.
    ``unknown_help`` says what a person can do when the answer was lost.
    """

    title: str
    model: type[RequestModel]
    fields: Sequence[FormField]
    submit: str
    initial: Mapping[str, Any] = field(default_factory=dict)
    partial: bool = False
    unknown_help: str = "It may have happened or not: look before you try again."
