"""Changes of the organization's settings: extended contract section 4."""

from __future__ import annotations

from gwtui.cli.changes.change import ChangeCommand
from gwtui.cli.changes.desk import ChangeContext
from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.crud.plan import Plan
from gwtui.resources.organization.plans import LABELS, known_values, plan_update


async def _update(desk: ChangeContext) -> Plan[OrganizationSettings]:
    fresh = await desk.gateway.organization.settings()
    request = await desk.update(UpdateOrganizationSettingsRequest, known_values(fresh))
    return plan_update(fresh, request)


CHANGES = (
    ChangeCommand(
        "update",
        "change them, for every member at once",
        _update,
        model=UpdateOrganizationSettingsRequest,
        fields=tuple(LABELS),
    ),
)
