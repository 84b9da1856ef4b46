"""People of the organization with their workspaces, and its settings as a single-row list.

See section 4 of the extended contract. The settings list is for commands; the dashboard edits them
in a form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from gwtui.client.services import OrganizationService
from gwtui.contract.organization import OrganizationSettings, UpdateOrganizationSettingsRequest
from gwtui.crud import cells
from gwtui.crud.cells import flag_column, text_column
from gwtui.crud.fields import ON_OFF, Field, Fields, FormContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Plan
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections, own_drift_sections
from gwtui.crud.writes import Update, Writes
from gwtui.resources.workspaces import shown_name
from gwtui.watch.feeds.workspaces import (
    Membership,
    PersonRow,
    memberships_feed,
    people_feed,
    settings_feed,
    shown_person,
)

_ROLE_PREFIX = "org:"


def role_word(role: str | None) -> str | None:
    """Return a role without its prefix: "admin" for "org:admin"; other roles are unchanged."""
    return None if role is None else role.removeprefix(_ROLE_PREFIX)


def role_cell(role: str | None) -> Cell:
    """The role as in ``role_word``; "admin" is highlighted."""
    word = role_word(role)
    return cells.text(word, "accent" if word == "admin" else "plain")


_READING = Cell("…", "muted")


def _complete(row: PersonRow, memberships: Mapping[str, tuple[Membership, ...]]) -> PersonRow:
    return PersonRow(row.person, memberships.get(row.identity, ()))


def _names(row: PersonRow) -> str | None:
    return (
        None
        if row.memberships is None
        else ", ".join(shown_name(membership.workspace) for membership in row.memberships)
    )


def _names_cell(row: PersonRow) -> Cell:
    names = _names(row)
    return _READING if names is None else cells.text(names) if names else Cell("none", "muted")


COLUMNS: tuple[Column[PersonRow], ...] = (
    text_column(
        "name",
        "Name",
        lambda row: row.person.full_name,
        16,
        help="first and last name",
        missing=lambda row: Cell(shown_person(row.person, row.person.id), "muted"),
        grow=True,
    ),
    Column(
        "role",
        "Role",
        lambda row, _now: role_cell(row.person.role),
        lambda row, _now: role_word(row.person.role),
        7,
        help="role in the organization",
    ),
    Column(
        "workspaces",
        "Workspaces",
        lambda row, _now: _names_cell(row),
        lambda row, _now: _names(row),
        24,
        help="workspaces that the person is a member of",
    ),
    text_column("mail", "Email", lambda row: row.person.email, 20, help="email address"),
    text_column("user", "User id", lambda row: row.person.id, 29, help="user id"),
)


def _person_rows(row: PersonRow, _now: datetime) -> Sequence[DetailRow]:
    person = row.person
    return [
        DetailRow("name", cells.text(person.full_name)),
        DetailRow("mail", cells.text(person.email)),
        DetailRow("role", role_cell(person.role)),
        DetailRow("user id", cells.text(person.id)),
    ]


def _place_rows(row: PersonRow, now: datetime) -> Sequence[DetailRow]:
    if row.memberships is None:
        return [DetailRow("", Cell("reading…", "muted"))]
    if not row.memberships:
        return [DetailRow("", Cell("in no workspace", "muted"))]
    return [
        DetailRow(
            role_cell(membership.member.role).text,
            Cell(shown_name(membership.workspace)),
            f"joined {cells.ago(membership.member.created_at, now).text}"
            if membership.member.created_at
            else "",
        )
        for membership in row.memberships
    ]


ORGANIZATION: ResourceSpec[PersonRow] = ResourceSpec(
    id="organization",
    title="People",
    singular="person",
    plural="people",
    identity=lambda row: row.identity,
    name=lambda row: shown_person(row.person, row.person.id),
    columns=COLUMNS,
    sections=(
        Section("Person", _person_rows),
        Section("Workspaces", _place_rows),
        *drift_sections(lambda row: row.person),
    ),
    feed=people_feed,
    completion=Completion(memberships_feed, _complete, columns=frozenset({"workspaces"})),
    raw=lambda row: row.person.raw,
    read_by=lambda _row: ReadBy("organization.members"),
    empty="The organization has no members that this key may see.",
    default_sort=("name", False),
)

_SETTINGS_COLUMNS: tuple[Column[OrganizationSettings], ...] = (
    text_column(
        "id", "Organization", lambda settings: settings.id, 30, help="organization id", grow=True
    ),
    flag_column(
        "filtered_catalog",
        "Filtered catalog",
        lambda settings: settings.is_filtered_model_catalog_enabled,
        16,
        "whether members see only the models that their guardrails allow",
    ),
)


SETTINGS: ResourceSpec[OrganizationSettings] = ResourceSpec(
    id="settings",
    title="Settings",
    singular="organization",
    identity=lambda settings: settings.id or "settings",
    name=lambda _one: "Settings of the organization",
    columns=_SETTINGS_COLUMNS,
    sections=(
        Section(
            "Settings",
            lambda settings, _now: [
                DetailRow("organization", cells.text(settings.id)),
                DetailRow(
                    "filtered catalog",
                    cells.yes_no(settings.is_filtered_model_catalog_enabled),
                    "whether members see only the models that their guardrails allow",
                ),
            ],
        ),
        *own_drift_sections(OrganizationSettings),
    ),
    feed=settings_feed,
    raw=lambda settings: settings.raw,
    empty="The gateway gave no settings.",
    default_sort=("id", False),
    writes=lambda: SETTINGS_WRITES,
)


# Writes of the settings -------------------------------------------------------------------------

FIELDS = Fields(
    Field(
        "is_filtered_model_catalog_enabled",
        "Filtered model catalog",
        empty="off",
        words=ON_OFF,
    )
)


class _SettingsService(NamedTuple):
    """The settings as a service: there is one object, whatever the identity."""

    organization: OrganizationService

    async def get(self, _identity: str) -> OrganizationSettings:
        return await self.organization.settings()

    async def update(
        self, _identity: str, request: UpdateOrganizationSettingsRequest
    ) -> OrganizationSettings:
        return await self.organization.update_settings(request)


class _SettingsWrites(Writes[OrganizationSettings]):
    """Writes of the settings, which need no name because there is one object."""

    def title(self, resource: Any) -> str:  # noqa: ARG002 - whichever it is
        return "The organization's settings"

    def plan_update(self, *given: Any, **options: Any) -> Plan[OrganizationSettings]:
        plan = super().plan_update(*given, **options)
        return replace(plan, title="Edit the settings of the organization")

    def edit_form(
        self, resource: OrganizationSettings, context: FormContext, verb: Update | None = None
    ) -> FormSpec:
        return replace(
            super().edit_form(resource, context, verb), title="Settings of the organization"
        )


SETTINGS_WRITES: Writes[OrganizationSettings] = _SettingsWrites(
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
        effects=lambda *_given: (
            "Keys will see only the models that their guardrails allow.",
            "This takes effect immediately for the whole organization.",
        ),
        help="change the settings for all members",
        done=lambda _before, _after: "Settings of the organization changed",
    ),
)
