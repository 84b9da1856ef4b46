"""The fields of a workspace: contract "Workspace"; extended contract section 2."""

from __future__ import annotations

from typing import Any

from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, Format, PlanContext
from gwtui.domain.money import percent


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
