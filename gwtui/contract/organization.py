"""Settings of the organization: extended contract section 4."""

from __future__ import annotations

from pydantic import Field

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire


class OrganizationSettings(ResponseModel):
    """What holds for the whole organization."""

    id: str | None = wire("organization id")
    is_filtered_model_catalog_enabled: bool | None = wire(
        "whether members see only the models that their guardrails allow"
    )


class UpdateOrganizationSettingsRequest(RequestModel):
    """Body of PATCH /organization/settings."""

    is_filtered_model_catalog_enabled: bool = Field(
        description="show members only the models that their guardrails allow"
    )
