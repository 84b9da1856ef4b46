"""The forms of a workspace. Rules come from the request models; here is what values mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud.form import (
    Choices,
    Facts,
    FieldGroup,
    FormField,
    FormSpec,
    IntegerListField,
    ModelField,
    MultiPickField,
    PercentField,
    PickOption,
    TextAreaField,
    no_choices,
)
from gwtui.crud.resource import Cell
from gwtui.domain.money import compact_int, percent
from gwtui.domain.safe_text import safe_line
from gwtui.domain.slugs import slug_of
from gwtui.resources.workspaces.plans import EMPTY, LABELS, known_values, shown_name

_LOGGING = "is_observability_io_logging_enabled"
_SORT = {
    "price": "the cheapest first",
    "throughput": "the fastest output first",
    "latency": "the quickest answer first",
    "exacto": "the most accurate with tools first",
}


@dataclass(frozen=True, slots=True)
class Catalog:
    """What the defaults of a workspace are completed from."""

    text_models: Choices = no_choices
    image_models: Choices = no_choices


def create_form(catalog: Catalog) -> FormSpec:
    """The form of a new workspace."""
    return FormSpec(
        title="New workspace",
        model=CreateWorkspaceRequest,
        fields=_groups(catalog, new=True),
        submit="Create workspace",
        initial={"io_logging_sampling_rate": Decimal(1)},
        unknown_help="The workspace may have been created. Look at the list before you try again: "
        "a second one with the same slug is refused.",
    )


def edit_form(space: Workspace, catalog: Catalog) -> FormSpec:
    """The form of an existing workspace, filled from ``space``."""
    return FormSpec(
        title=f"Edit workspace {shown_name(space)}",
        model=UpdateWorkspaceRequest,
        fields=_groups(catalog, new=False),
        submit="Review changes",
        initial=known_values(space),
        partial=True,
        unknown_help="The change may have been made or not. Look at the workspace before you try "
        "again.",
    )


def _groups(catalog: Catalog, *, new: bool) -> tuple[FieldGroup, ...]:
    return (
        FieldGroup("Workspace", _identity(new=new)),
        FieldGroup("Defaults", _defaults(catalog)),
        FieldGroup("Logging", _logging()),
    )


def _identity(*, new: bool) -> tuple[FormField, ...]:
    slug_help = "" if new else "whoever uses the present slug in paths must follow"
    return (
        FormField("name", LABELS["name"], "text"),
        FormField(
            "slug",
            LABELS["slug"],
            "text",
            help=slug_help,
            suggest=(lambda values: slug_of(str(values.get("name") or ""))) if new else None,
        ),
        TextAreaField("description", LABELS["description"]),
    )


def _defaults(catalog: Catalog) -> tuple[FormField, ...]:
    return (
        ModelField(
            "default_text_model",
            LABELS["default_text_model"],
            choices=catalog.text_models,
            empty="none",
            placeholder="empty: requests must name one",
        ),
        ModelField(
            "default_image_model",
            LABELS["default_image_model"],
            choices=catalog.image_models,
            empty="none",
            placeholder="empty: requests must name one",
        ),
        FormField(
            "default_provider_sort",
            LABELS["default_provider_sort"],
            "choice",
            empty="gateway's own",
            preview=_sort,
        ),
        MultiPickField(
            "disabled_server_tools",
            LABELS["disabled_server_tools"],
            choices=_tools,
            empty="every tool is on",
            chosen="off",
            noun="tools",
            free=True,
        ),
    )


def _logging() -> tuple[FormField, ...]:
    return (
        FormField(_LOGGING, LABELS[_LOGGING], "switch"),
        PercentField(
            "io_logging_sampling_rate",
            LABELS["io_logging_sampling_rate"],
            placeholder="such as 5 % or 0.05",
            preview=_sampling,
        ),
        IntegerListField(
            "io_logging_api_key_ids",
            LABELS["io_logging_api_key_ids"],
            placeholder=f"such as 4, 9; empty for {EMPTY['io_logging_api_key_ids']}",
            preview=_logged_keys,
        ),
        FormField(
            "is_observability_broadcast_enabled",
            LABELS["is_observability_broadcast_enabled"],
            "switch",
        ),
        FormField(
            "is_data_discount_logging_enabled", LABELS["is_data_discount_logging_enabled"], "switch"
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
