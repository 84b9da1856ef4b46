"""The plan of a change of the organization's settings: extended contract section 4."""

from __future__ import annotations

from typing import Any

from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.crud.plan import Plan
from gwtui.crud.text import as_read, changes, known_fields
from gwtui.crud.undo import put_back
from gwtui.resources.organization.actions import RESOURCE

LABELS = {"is_filtered_model_catalog_enabled": "Filtered model catalog"}
"""What people call the fields, the same in forms and plans."""


def known_values(settings: OrganizationSettings) -> dict[str, Any]:
    """The settings as the gateway gave them; those it left out or garbled are missing."""
    return known_fields(settings, LABELS)


def in_words(_field: str, value: Any) -> str:
    """A setting's value as people read it."""
    return "on" if value else "off"


def plan_update(
    fresh: OrganizationSettings, request: UpdateOrganizationSettingsRequest
) -> Plan[OrganizationSettings]:
    """One PATCH /organization/settings."""
    return Plan(
        action="organization.edit",
        title="Change the settings of the organization",
        resource=RESOURCE,
        identity=fresh.id or "settings",
        send=lambda client: client.organization.update_settings(request),
        changes=changes(known_values(fresh), request, LABELS, in_words),
        effects=("It holds for every member of the organization at once.",),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=put_back(
            fresh,
            request,
            LABELS,
            in_words,
            read=lambda client: client.organization.settings(),
            plan=lambda present, wanted, _now: plan_update(
                present, UpdateOrganizationSettingsRequest.model_validate(wanted)
            ),
        ),
    )
