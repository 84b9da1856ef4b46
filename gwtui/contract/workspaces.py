"""Workspaces and budgets.

See "Workspace" and "POST /workspaces" in the contract and sections 2 and 3 of the extended
contract.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, SamplingRate, Timestamp, Usd, Whole
from gwtui.contract.values import ProviderSort

SLUG = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
"""Lower-case alphanumeric segments separated by single hyphens."""
_LONGEST_SLUG = 50
_SPECIAL = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "œ": "oe"})


def _slug(value: str) -> str:
    if not re.fullmatch(SLUG, value):
        raise PydanticCustomError(
            "slug", "must be lower-case letters and digits, in parts joined by single hyphens"
        )
    return value


WorkspaceName = Annotated[str, Field(min_length=1, max_length=100)]
WorkspaceSlug = Annotated[
    str,
    Field(min_length=1, max_length=_LONGEST_SLUG, json_schema_extra={"pattern": SLUG}),
    AfterValidator(_slug),
]
ModelId = Annotated[str, Field(min_length=1)]


def slug_of(name: str) -> str:
    """Derive a slug from a name: "Data Pipelines (EU)" -> "data-pipelines-eu".

    Empty if no character of the name is allowed in a slug.
    """
    folded = unicodedata.normalize("NFKD", name.lower().translate(_SPECIAL))
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug[:_LONGEST_SLUG].strip("-")


class Workspace(ResponseModel):
    """A group of keys, guardrails and credentials, with default and logging settings."""

    id: str | None = wire("uuid of the workspace")
    name: str | None = wire("display name")
    slug: str | None = wire("unique short name")
    description: str | None = wire("free text", nullable=True)
    created_at: Timestamp | None = wire("creation time")
    created_by: str | None = wire("user id of the creator", nullable=True)
    updated_at: Timestamp | None = wire("last change, null until the first", nullable=True)
    default_image_model: str | None = wire("model identifier", nullable=True)
    default_text_model: str | None = wire("model identifier", nullable=True)
    default_provider_sort: str | None = wire(
        "default order of providers",
        nullable=True,
        known=("price", "throughput", "latency", "exacto"),
    )
    io_logging_api_key_ids: list[Whole] | None = wire(
        "API key ids that filter I/O logging, null for all", nullable=True
    )
    io_logging_sampling_rate: Number | None = wire("share of requests logged, 0.0001 to 1")
    is_data_discount_logging_enabled: bool | None = wire("data discount logging")
    is_observability_broadcast_enabled: bool | None = wire("broadcast enabled")
    is_observability_io_logging_enabled: bool | None = wire("private logging enabled")
    default_guardrail_id: str | None = wire("uuid of the default guardrail", optional=True)
    include_byok_in_budgets: bool | None = wire("count BYOK usage in budgets", optional=True)
    disabled_server_tools: list[str] | None = wire(
        "server tools that are switched off", nullable=True, optional=True
    )

    @property
    def shown_name(self) -> str | None:
        """The name, else the slug, else the id."""
        return self.name or self.slug or self.id


class _WorkspaceFields(RequestModel):
    """Fields shared by creation and update."""

    description: Annotated[str, Field(max_length=500)] | None = Field(
        None, description="what it is for"
    )
    default_text_model: ModelId | None = Field(
        None, description="used for text requests that name no model"
    )
    default_image_model: ModelId | None = Field(
        None, description="used for image requests that name no model"
    )
    default_provider_sort: ProviderSort | None = Field(
        None, description="default order of providers"
    )
    is_observability_io_logging_enabled: bool = Field(
        False, description="store the prompts and responses of requests in this workspace"
    )
    io_logging_sampling_rate: SamplingRate = Field(
        Decimal(1), description="share of requests that are logged, 0.0001 to 1"
    )
    io_logging_api_key_ids: list[int] | None = Field(
        None, description="log only these API key ids; every key when empty"
    )
    is_observability_broadcast_enabled: bool = Field(
        False, description="broadcast to observability destinations"
    )
    is_data_discount_logging_enabled: bool = Field(
        False,
        description="let the gateway's operator log and use requests, in exchange for a discount",
    )
    disabled_server_tools: list[str] | None = Field(
        None, description="server tools that are switched off"
    )


class CreateWorkspaceRequest(_WorkspaceFields):
    """Body of POST /workspaces."""

    name: WorkspaceName = Field(description="display name")
    slug: WorkspaceSlug = Field(description="unique short name: a-z, 0-9 and single hyphens")


class UpdateWorkspaceRequest(_WorkspaceFields):
    """Body of PATCH /workspaces/{id}. Contains only changed fields; null clears a field."""

    name: WorkspaceName = Field("", description="display name")
    slug: WorkspaceSlug = Field("", description="unique short name: a-z, 0-9 and single hyphens")

    @model_validator(mode="after")
    def _something_changes(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("no_update", "No update fields provided")
        return self


BudgetInterval = Literal["daily", "weekly", "monthly", "lifetime"]
BUDGET_INTERVALS: tuple[BudgetInterval, ...] = ("daily", "weekly", "monthly", "lifetime")
"""All intervals, shortest first: a budget must be smaller than every longer one."""


class Budget(ResponseModel):
    """A cap on the spending of a whole workspace, in USD per interval."""

    id: str | None = wire("uuid of the budget")
    workspace_id: str | None = wire("uuid of the workspace")
    limit_usd: Number | None = wire("the cap", unit="USD")
    reset_interval: str | None = wire(
        "reset schedule, null for lifetime",
        nullable=True,
        known=("daily", "weekly", "monthly"),
    )
    created_at: Timestamp | None = wire("creation time")
    updated_at: Timestamp | None = wire("last change")

    @property
    def interval(self) -> str | None:
        """The interval as in URLs, "lifetime" if the budget never resets; None if unreadable."""
        if "reset_interval" in self.gaps:
            return None
        return self.reset_interval or "lifetime"


def _positive(value: Decimal) -> Decimal:
    if value <= 0:
        raise PydanticCustomError("budget_positive", "must be more than 0 USD")
    return value


BudgetUsd = Annotated[Usd, AfterValidator(_positive)]
"""The cap of a budget in a request."""


class PutBudgetRequest(RequestModel):
    """Body of PUT /workspaces/{id}/budgets/{interval}."""

    limit_usd: BudgetUsd = Field(
        description="cap on the workspace's spending", json_schema_extra={"x-unit": "USD"}
    )
    include_byok_in_budgets: bool = Field(
        False, description="count BYOK usage, for every budget of the workspace"
    )


@dataclass(frozen=True, slots=True)
class BudgetConflict:
    """Two budgets of which that of the shorter interval is not smaller, as required."""

    shorter: str
    shorter_limit: Decimal
    longer: str
    longer_limit: Decimal


def budget_conflicts(limits: Mapping[str, Decimal | None]) -> Iterator[BudgetConflict]:
    """The pairs of neighbouring intervals whose budgets conflict."""
    present = [
        (name, limit) for name in BUDGET_INTERVALS if (limit := limits.get(name)) is not None
    ]
    for (shorter, small), (longer, large) in pairwise(present):
        if small >= large:
            yield BudgetConflict(shorter, small, longer, large)


def budget_conflict(limits: Mapping[str, Decimal | None]) -> str | None:
    """A message about the first conflict between budgets, None without a conflict.

    Each budget must be smaller than every budget with a longer interval.
    """
    for conflict in budget_conflicts(limits):
        return (
            f"the {conflict.shorter} budget ({conflict.shorter_limit.normalize():f} USD) must be "
            f"less than the {conflict.longer} budget ({conflict.longer_limit.normalize():f} USD)"
        )
    return None
