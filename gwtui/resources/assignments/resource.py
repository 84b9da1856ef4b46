"""What guardrails are assigned to: extended contract section 5.

Of one guardrail when opened from it, of the whole account otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.guardrails import KeyAssignment, MemberAssignment
from gwtui.contract.organization import OrganizationMember
from gwtui.crud import cells
from gwtui.crud.columns import moment_column, text_column
from gwtui.crud.resource import Column, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.resources.guardrails.view import display_name
from gwtui.watch.feeds.guardrails import AssignmentRow, assignments_feed
from gwtui.watch.feeds.workspaces import shown_person


def _guardrail_name(row: AssignmentRow) -> str | None:
    """The guardrail by name, else by its identifier."""
    if row.guardrail is None:
        return row.assignment.guardrail_id
    return display_name(row.guardrail)


COLUMNS: tuple[Column[AssignmentRow], ...] = (
    text_column("holder", "Key or member", lambda row: row.holder, 22, 0, help="what holds it"),
    text_column("kind", "Kind", lambda row: row.kind, 6, 1, help="key or member"),
    text_column(
        "guardrail",
        "Guardrail",
        _guardrail_name,
        22,
        2,
        help="the one guardrail that is assigned to it",
    ),
    moment_column(
        "created", "Assigned", lambda row: row.assignment.created_at, 12, 3, "when it was assigned"
    ),
    text_column(
        "by",
        "Assigned by",
        lambda row: row.assignment.assigned_by,
        16,
        4,
        help="user id of who assigned it",
    ),
    text_column(
        "label",
        "Label",
        lambda row: row.assignment.key_label if isinstance(row.assignment, KeyAssignment) else None,
        18,
        5,
        help="masked form of the key",
    ),
)


def _rows(row: AssignmentRow, now: datetime) -> Sequence[DetailRow]:
    one = row.assignment
    return [
        *(_key_rows(one) if isinstance(one, KeyAssignment) else _member_rows(one, row.person)),
        DetailRow("guardrail", cells.text(_guardrail_name(row))),
        DetailRow("guardrail id", cells.text(one.guardrail_id)),
        cells.moment_row("assigned", one.created_at, now),
        DetailRow("assigned by", cells.text(one.assigned_by)),
        DetailRow("id", cells.text(one.id)),
        cells.hint("{assignments.remove} takes it away; the workspace's default one still binds"),
    ]


def _key_rows(one: KeyAssignment) -> list[DetailRow]:
    return [
        DetailRow("key", cells.text(one.key_name)),
        DetailRow("label", cells.text(one.key_label)),
        DetailRow("hash", cells.text(one.key_hash)),
    ]


def _member_rows(one: MemberAssignment, person: OrganizationMember | None) -> list[DetailRow]:
    return [
        DetailRow("member", cells.text(shown_person(person, one.user_id))),
        DetailRow("mail", cells.text(None if person is None else person.email)),
        DetailRow("user id", cells.text(one.user_id)),
        DetailRow("organization", cells.text(one.organization_id)),
    ]


def _read_by(row: AssignmentRow) -> ReadBy:
    """The list that has it: of its guardrail, where that is known."""
    kind = "keys" if isinstance(row.assignment, KeyAssignment) else "members"
    one = row.assignment.guardrail_id
    if one is None:
        return ReadBy(f"guardrails.{kind}_of_all")
    return ReadBy(f"guardrails.{kind}_of_one", (one,))


ASSIGNMENTS: ResourceSpec[AssignmentRow] = ResourceSpec(
    id="assignments",
    title="Assignments",
    singular="assignment",
    identity=lambda row: row.identity,
    name=lambda row: cells.text(row.holder).text,
    columns=COLUMNS,
    sections=(
        Section("Assignment", _rows),
        *drift_sections(lambda row: row.assignment),
    ),
    feed=assignments_feed,
    raw=lambda row: row.assignment.raw,
    read_by=_read_by,
    empty="No guardrail is assigned here: press {guardrails.assign_keys} on a guardrail "
    "to assign it to keys.",
    scoped=True,
    default_sort=("holder", False),
    facets={"kind": lambda row, _now: row.kind},
)
