"""The organization: settings, its members and workspace members.

See section 4 of the extended contract.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Timestamp, Whole


class OrganizationSettings(ResponseModel):
    """Settings of the whole organization."""

    id: str | None = wire("organization id")
    is_filtered_model_catalog_enabled: bool | None = wire(
        "whether members see only the models that their guardrails allow"
    )


class UpdateOrganizationSettingsRequest(RequestModel):
    """Body of PATCH /organization/settings."""

    is_filtered_model_catalog_enabled: bool = Field(
        description="show members only the models that their guardrails allow"
    )


MAX_MEMBERS = 100
"""The maximum number of members that one request adds or removes."""

UserId = Annotated[str, Field(min_length=1)]


class WorkspaceMember(ResponseModel):
    """The membership of a user in a workspace."""

    id: str | None = wire("uuid of the membership")
    workspace_id: str | None = wire("uuid of the workspace")
    user_id: str | None = wire("user id")
    role: str | None = wire("role in the workspace", known=("admin", "member"))
    created_at: Timestamp | None = wire("when the user joined")


class OrganizationMember(ResponseModel):
    """A user of the organization."""

    id: str | None = wire("user id")
    email: str | None = wire("mail address")
    first_name: str | None = wire("first name", nullable=True)
    last_name: str | None = wire("last name", nullable=True)
    role: str | None = wire("role in the organization", known=("org:admin", "org:member"))

    @property
    def full_name(self) -> str | None:
        """First and last name, or the only one that is known; None if both are unknown."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or None


class MembersAdded(ResponseModel):
    """The response to adding members; its count includes members that were already present."""

    added_count: Whole | None = wire("members added or updated")
    data: list[WorkspaceMember] | None = wire("the memberships")


class MembersRemoved(ResponseModel):
    """The response to removing members."""

    removed_count: Whole | None = wire("members removed")


class ChangeMembersRequest(RequestModel):
    """Body of POST /workspaces/{id}/members/add and .../remove."""

    user_ids: Annotated[list[UserId], Field(min_length=1, max_length=MAX_MEMBERS)] = Field(
        description="organization members, by user id"
    )
