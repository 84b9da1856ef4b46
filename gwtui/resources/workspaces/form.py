"""The fields and forms of a workspace: contract "Workspace"; extended contract section 2.

Bounds and choices come from the request models; here is what a field is called and how it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import (
    CreateWorkspaceRequest,
    UpdateWorkspaceRequest,
    Workspace,
    slug_of,
)
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, Format, PlanContext
from gwtui.crud.form import (
    Facts,
    FieldGroup,
    FormContext,
    FormField,
    FormSpec,
    IntegerListField,
    ModelField,
    MultiPickField,
    PercentField,
    PickOption,
    TextAreaField,
)
from gwtui.crud.plan_text import quoted
from gwtui.crud.resource import Cell
from gwtui.domain.money import compact_int, percent
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices

_LOGGING = "is_observability_io_logging_enabled"

_SORT = {
    "price": "the cheapest first",
    "throughput": "the fastest output first",
    "latency": "the quickest answer first",
    "exacto": "the most accurate with tools first",
}


def _share(value: Any, _context: PlanContext) -> str:
    return percent(value, places=2)


def _field(name: str, label: str, format: Format = fields.text, empty: str = "none") -> Field:
    # An empty text or list means the same as none.
    return Field(name, label, format, empty, blank=("", []))


FIELDS = Fields(
    _field("name", "Name"),
    _field("slug", "Slug"),
    _field("description", "Description"),
    _field("default_text_model", "Default text model", empty="none: requests must name one"),
    _field("default_image_model", "Default image model", empty="none: requests must name one"),
    _field("default_provider_sort", "Provider order", empty="the gateway's own"),
    _field("is_observability_io_logging_enabled", "Private I/O logging", fields.on_off),
    _field("io_logging_sampling_rate", "Share logged", _share),
    _field("io_logging_api_key_ids", "Keys logged", fields.texts, "every key"),
    _field("is_observability_broadcast_enabled", "Broadcast", fields.on_off),
    _field("is_data_discount_logging_enabled", "Data discount logging", fields.on_off),
    _field("disabled_server_tools", "Server tools off", fields.texts),
)


def create_form(context: FormContext) -> FormSpec:
    """The form of a new workspace."""
    return FormSpec(
        title="New workspace",
        model=CreateWorkspaceRequest,
        fields=_groups(context, new=True),
        submit="Create workspace",
        initial={"io_logging_sampling_rate": Decimal(1)},
        unknown_help="The workspace may have been created. Look at the list before you try again: "
        "a second one with the same slug is refused.",
    )


def edit_form(space: Workspace, context: FormContext) -> FormSpec:
    """The form of an existing workspace, filled from ``space``."""
    return FormSpec(
        title=f"Edit workspace {quoted(space.name, space.slug, space.id)}",
        model=UpdateWorkspaceRequest,
        fields=_groups(context, new=False),
        submit="Review changes",
        initial=FIELDS.known(space),
        partial=True,
        unknown_help="The change may have been made or not. Look at the workspace before you try "
        "again.",
    )


def _groups(context: FormContext, *, new: bool) -> tuple[FieldGroup, ...]:
    return (
        FieldGroup("Workspace", _identity(new=new)),
        FieldGroup("Defaults", _defaults(context)),
        FieldGroup("Logging", _logging()),
    )


def _identity(*, new: bool) -> tuple[FormField, ...]:
    slug_help = "" if new else "whoever uses the present slug in paths must follow"
    return (
        FormField("name", FIELDS.labels["name"], "text"),
        FormField(
            "slug",
            FIELDS.labels["slug"],
            "text",
            help=slug_help,
            suggest=(lambda values: slug_of(str(values.get("name") or ""))) if new else None,
        ),
        TextAreaField("description", FIELDS.labels["description"]),
    )


def _defaults(context: FormContext) -> tuple[FormField, ...]:
    return (
        ModelField(
            "default_text_model",
            FIELDS.labels["default_text_model"],
            choices=choices.models(context, giving="text"),
            empty="none",
            placeholder="empty: requests must name one",
        ),
        ModelField(
            "default_image_model",
            FIELDS.labels["default_image_model"],
            choices=choices.models(context, giving="image"),
            empty="none",
            placeholder="empty: requests must name one",
        ),
        FormField(
            "default_provider_sort",
            FIELDS.labels["default_provider_sort"],
            "choice",
            empty="gateway's own",
            preview=_sort,
        ),
        MultiPickField(
            "disabled_server_tools",
            FIELDS.labels["disabled_server_tools"],
            choices=_tools,
            empty="every tool is on",
            chosen="off",
            noun="tools",
            free=True,
        ),
    )


def _logging() -> tuple[FormField, ...]:
    return (
        FormField(_LOGGING, FIELDS.labels[_LOGGING], "switch"),
        PercentField(
            "io_logging_sampling_rate",
            FIELDS.labels["io_logging_sampling_rate"],
            placeholder="such as 5 % or 0.05",
            preview=_sampling,
        ),
        IntegerListField(
            "io_logging_api_key_ids",
            FIELDS.labels["io_logging_api_key_ids"],
            placeholder=f"such as 4, 9; empty for {FIELDS.empty('io_logging_api_key_ids')}",
            preview=_logged_keys,
        ),
        FormField(
            "is_observability_broadcast_enabled",
            FIELDS.labels["is_observability_broadcast_enabled"],
            "switch",
        ),
        FormField(
            "is_data_discount_logging_enabled",
            FIELDS.labels["is_data_discount_logging_enabled"],
            "switch",
        ),
    )


async def _tools() -> tuple[PickOption, ...]:
    return tuple(
        PickOption(tool, tool.partition(":")[2].replace("__", ": ").replace("_", " "))
        for tool in SERVER_TOOLS
    )


def _sort(value: str | None, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None:
        return Cell("the gateway decides which provider is tried first", "muted")
    words = _SORT.get(value)
    return None if words is None else Cell(words, "muted")


def _sampling(value: Decimal | None, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None or value <= 0 or value > 1:
        return None
    text = f"{percent(value, places=2)} of requests, 1 in {compact_int(round(1 / value))}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; matters only with private logging", "muted")
    return Cell(text)


def _logged_keys(value: list[int] | None, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is None:
        text = "every key of the workspace is logged"
    elif not value:
        return Cell("an empty list: no key is logged", "warn")
    else:
        text = f"only the keys {safe_line(', '.join(map(str, value)), 80)}"
    if values.get(_LOGGING) is False:
        return Cell(f"{text}; matters only with private logging", "muted")
    return Cell(text)
