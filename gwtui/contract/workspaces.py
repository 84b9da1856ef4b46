"""Workspaces: contract "Workspace"; extended contract section 2."""

from __future__ import annotations

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp


class Workspace(ResponseModel):
    """A group of keys, guardrails and credentials with default and logging settings."""

    id: str | None = wire("uuid of the workspace")
    name: str | None = wire("display name")
    slug: str | None = wire("short name for paths")
    description: str | None = wire("free text", nullable=True)
    created_at: Timestamp | None = wire("when it was made")
    created_by: str | None = wire("user id of the creator", nullable=True)
    updated_at: Timestamp | None = wire("last change, null until the first", nullable=True)
    default_image_model: str | None = wire("model identifier", nullable=True)
    default_text_model: str | None = wire("model identifier", nullable=True)
    default_provider_sort: str | None = wire(
        "default order of providers",
        nullable=True,
        known=("price", "throughput", "latency", "exacto"),
    )
    io_logging_api_key_ids: list[int] | None = wire(
        "API key ids that filter I/O logging, null for all", nullable=True
    )
    io_logging_sampling_rate: Number | None = wire("share of requests logged, 0.0001 to 1")
    is_data_discount_logging_enabled: bool | None = wire("data discount logging")
    is_observability_broadcast_enabled: bool | None = wire("broadcast enabled")
    is_observability_io_logging_enabled: bool | None = wire("private logging enabled")
    default_guardrail_id: str | None = wire("uuid of the default guardrail", optional=True)
