"""What can be written to the organization: its settings. Extended contract section 4."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from gwtui.client.services import OrganizationService
from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.form import FormContext, FormField, FormSpec
from gwtui.crud.plan import Plan
from gwtui.crud.writes import Update, Writes

FIELDS = Fields(
    Field("is_filtered_model_catalog_enabled", "Filtered model catalog", fields.on_off, "off")
)


class _SettingsService(NamedTuple):
    """The settings as a service of the engine: there is one object, whatever its identity."""

    organization: OrganizationService

    async def get(self, _identity: str) -> OrganizationSettings:
        """What holds now. Raises GatewayError."""
        return await self.organization.settings()

    async def update(
        self, _identity: str, request: UpdateOrganizationSettingsRequest
    ) -> OrganizationSettings:
        """One PATCH. Raises GatewayError."""
        return await self.organization.update_settings(request)


class _SettingsWrites(Writes[OrganizationSettings]):
    """There is one object, which needs no name."""

    def title(self, one: Any) -> str:  # noqa: ARG002 - whichever it is
        """What it is called at the beginning of a sentence."""
        return "The organization's settings"

    def plan_update(self, *given: Any, **options: Any) -> Plan[OrganizationSettings]:
        """One PATCH, planned as for any resource."""
        plan = super().plan_update(*given, **options)
        return replace(plan, title="Change the settings of the organization")


def _form(settings: OrganizationSettings, _context: FormContext) -> FormSpec:
    return FormSpec(
        title="Settings of the organization",
        model=UpdateOrganizationSettingsRequest,
        fields=tuple(FormField(name, label, "switch") for name, label in FIELDS.labels.items()),
        submit="Review changes",
        initial=FIELDS.known(settings),
        partial=True,
    )


def _effects(_fresh: object, _request: object, _context: PlanContext) -> Iterator[str]:
    yield "It holds for every member of the organization at once."


WRITES: Writes[OrganizationSettings] = _SettingsWrites(
    resource="organization",
    noun="organization",
    model=OrganizationSettings,
    fields=FIELDS,
    identity=lambda settings: settings.id or "settings",
    of_row=lambda settings: settings,
    service=lambda client: _SettingsService(client.organization),
    operand="",
    called=("id",),
    feeds=("organization", "models"),
    update=Update(
        request=UpdateOrganizationSettingsRequest,
        form=_form,
        effects=_effects,
        help="change them, for every member at once",
        done=lambda _before, _after: "Settings of the organization changed",
    ),
)
