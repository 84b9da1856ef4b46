"""How a form is declared. Limits, choices and units are never here: the request model has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal

from gwtui.contract.content_filters import PROMPT_INJECTION
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.request import Problem, RequestModel
from gwtui.crud.resource import Cell

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.plan import Plan
    from gwtui.watch.hub import FeedHub

Kind = Literal[
    "text",
    "pattern",
    "lines",
    "usd",
    "percent",
    "integers",
    "number",
    "duration",
    "choice",
    "switch",
    "three_way",
    "datetime",
    "workspace",
    "secret",
    "model",
    "pick",
    "builtins",
    "filters",
]


@dataclass(frozen=True, slots=True)
class Facts:
    """What previews and pickers may know. ``zone`` None is the machine's own time zone."""

    now: Callable[[], datetime]
    zone: tzinfo | None = None
    workspaces: Mapping[str, str] = field(default_factory=dict)
    """Workspace id -> name, fit to be shown."""
    where: str = ""
    """Whose gateway the request goes to, fit to be shown; empty where that goes without saying."""


@dataclass(frozen=True, slots=True)
class FormContext:
    """What the forms of a resource are built from. ``now`` is aware UTC.

    ``workspace`` is the one that lists are narrowed to, None for all of them.
    """

    hub: FeedHub
    client: GatewayClient
    dialect: Dialect
    now: datetime
    workspace: str | None = None

    @property
    def initial_workspace(self) -> Mapping[str, Any]:
        """The first values of a form that makes something in a workspace."""
        return {} if self.workspace is None else {"workspace_id": self.workspace}


Preview = Callable[[Any, Mapping[str, Any], Facts], Cell | None]
"""What a value means, from the value, all readable values of the form and the facts."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form; ``name`` is that of the request model's field, or "object.field".

    ``help`` replaces the model's description. ``empty`` labels the choice that stands for no value.
    ``fixed`` makes it a figure that cannot be edited: the text shown, and why. ``suggest`` fills a
    text of a new resource from the other values until the person touches it. ``choice_labels`` are
    labels of the model's choices, where they differ from the values.
    """

    name: str
    label: str
    kind: Kind
    help: str = ""
    empty: str = "none"
    placeholder: str = ""
    preview: Preview | None = None
    fixed: tuple[str, str] | None = None
    suggest: Callable[[Mapping[str, Any]], str] | None = None
    choice_labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def row_id(self) -> str:
        """The id of its row on the screen."""
        return row_id(self.name)


def row_id(name: str) -> str:
    """The id of a field's row on the screen."""
    return f"field-{name.replace('.', '-')}"


@dataclass(frozen=True, slots=True)
class TextAreaField(FormField):
    """Text of several lines, counted against the model's limit."""

    kind: Kind = field(default="lines", init=False)


@dataclass(frozen=True, slots=True)
class PercentField(FormField):
    """A share, typed as 0.5 or 50 %; the value is a Decimal from 0 to 1."""

    kind: Kind = field(default="percent", init=False)


@dataclass(frozen=True, slots=True)
class IntegerListField(FormField):
    """Whole numbers, typed with commas or blanks between; nothing typed is None, [] is none."""

    kind: Kind = field(default="integers", init=False)


@dataclass(frozen=True, slots=True)
class ThreeWaySwitch(FormField):
    """A switch that can also be left open; the words stand for None, True and False."""

    kind: Kind = field(default="three_way", init=False)
    empty: str = "inherit"
    yes: str = "on"
    no: str = "off"


@dataclass(frozen=True, slots=True)
class ChoiceField(FormField):
    """One of a few that the model does not name: (value, label), fit to be shown."""

    kind: Kind = field(default="choice", init=False)
    options: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class SecretField(FormField):
    """A secret: masked while typed, never shown, copied or remembered. The value is a SecretStr.

    In an update nothing typed leaves it as it is.
    """

    kind: Kind = field(default="secret", init=False)


@dataclass(frozen=True, slots=True)
class PickOption:
    """One thing to pick. Texts from data must have passed ``safe_line``; ``value`` is as it is."""

    value: str
    title: str = ""
    """How people call it; the value itself when empty."""
    note: str = ""
    also: str = ""
    """What else people call it when they search."""


Choices = Callable[[], Awaitable[Sequence[PickOption]]]
"""Gives what can be picked. May raise GatewayError: the field then works without the list."""


async def no_choices() -> Sequence[PickOption]:
    """Nothing is known that could be picked."""
    return ()


@dataclass(frozen=True, slots=True)
class ModelField(FormField):
    """One identifier, completed from ``choices`` while typed; any other text is allowed."""

    kind: Kind = field(default="model", init=False)
    choices: Choices = no_choices


@dataclass(frozen=True, slots=True)
class MultiPickField(FormField):
    """Any number of ``choices``: a list, or None for the choice that ``empty`` words.

    None is a choice of its own, not the empty list. What the value holds and the choices lack is
    kept and called unknown. ``free`` lets the person add what the choices lack. ``chosen`` words
    the other case: "only these".
    """

    kind: Kind = field(default="pick", init=False)
    choices: Choices = no_choices
    empty: str = "no restriction"
    chosen: str = "only these"
    noun: str = "entries"
    free: bool = False


@dataclass(frozen=True, slots=True)
class FilterListField(FormField):
    """The builtin content filters, each off or with one of the actions the dialect allows."""

    kind: Kind = field(default="builtins", init=False)
    dialect: Dialect = GENERIC


@dataclass(frozen=True, slots=True)
class CustomFilterField(FormField):
    """Custom regex filters: a list to edit, with a sample text that they are tried on."""

    kind: Kind = field(default="filters", init=False)
    dialect: Dialect = GENERIC


@dataclass(frozen=True, slots=True)
class BuiltinRow:
    """A builtin filter that is on."""

    slug: str
    action: str
    scan_scope: str = ""
    """Empty when nothing was said: the gateway then reads all messages."""

    def value(self) -> dict[str, str]:
        """The entry of the request."""
        found = {"slug": self.slug, "action": self.action}
        if self.scan_scope and self.slug == PROMPT_INJECTION:
            found["scan_scope"] = self.scan_scope
        return found


@dataclass(frozen=True, slots=True)
class CustomRow:
    """A custom filter."""

    pattern: str
    action: str
    label: str = ""

    def value(self) -> dict[str, str]:
        """The entry of the request."""
        found = {"pattern": self.pattern, "action": self.action}
        if self.label:
            found["label"] = self.label
        return found


def builtin_rows(entries: Iterable[Any]) -> tuple[BuiltinRow, ...]:
    """Rows of entries that are mappings or models; ones that this program does not know stay."""
    return tuple(
        BuiltinRow(_part(entry, "slug"), _part(entry, "action"), _part(entry, "scan_scope"))
        for entry in entries
    )


def custom_rows(entries: Iterable[Any]) -> tuple[CustomRow, ...]:
    """Rows of entries that are mappings or models."""
    return tuple(
        CustomRow(_part(entry, "pattern"), _part(entry, "action"), _part(entry, "label"))
        for entry in entries
    )


def _part(entry: Any, name: str) -> str:
    value = entry.get(name) if isinstance(entry, Mapping) else getattr(entry, name, None)
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """A titled part of a long form. Titles are one or two words: all stand on one line."""

    title: str
    fields: Sequence[FormField]


@dataclass(frozen=True, slots=True)
class FormSpec:
    """A form: what it is called, what it fills in, and the field values it starts from.

    ``fields`` are fields, or groups of fields in a long form. ``partial`` is an update: the request
    carries only what differs from ``initial``; every other request also carries what ``initial``
    holds for a field that cannot be edited. A field that is missing from ``initial`` is unknown
    and stays as it is unless something is typed. ``first`` names the field that has the focus when
    the form opens. ``check`` refuses what the model allows but this service does not, such as a
    dialect's rules. ``plan`` plans the request as it is filled in so far, for the line above the
    buttons; None for a form whose plan is always shown by itself, or that sends nothing.
    ``sends`` is what submitting does, in one word for the footer.
    ``unknown_help`` says what a person can do when the answer was lost.
    """

    title: str
    model: type[RequestModel]
    fields: Sequence[FormField | FieldGroup]
    submit: str
    initial: Mapping[str, Any] = field(default_factory=dict)
    partial: bool = False
    first: str = ""
    sends: str = "sends"
    unknown_help: str = "It may have happened or not: look before you try again."
    check: Callable[[Any], Sequence[Problem]] | None = None
    plan: Callable[[Any], Plan[Any]] | None = None

    @property
    def groups(self) -> tuple[FieldGroup, ...]:
        """The parts of the form; fields that stand outside of a group are in untitled ones."""
        return tuple(
            part if isinstance(part, FieldGroup) else FieldGroup("", (part,))
            for part in self.fields
        )

    def every_field(self) -> Iterator[FormField]:
        """The fields of all parts, in order."""
        for group in self.groups:
            yield from group.fields
