"""Members of the organization and the workspaces they are in: extended contract section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gwtui.client.errors import NotFoundError
from gwtui.contract.organization import OrganizationMember, WorkspaceMember
from gwtui.contract.workspaces import Workspace
from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Scope, Section
from gwtui.crud.schema_gaps import honesty_sections
from gwtui.domain.safe_text import safe_line
from gwtui.resources.workspaces.view import shown_name
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import fetch_each, open_workspaces
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


_NAME = 60
_ROLE_PREFIX = "org:"


def full_name(person: OrganizationMember | None) -> str | None:
    """First and last name as far as there are any; None for nobody and for a nameless one."""
    return None if person is None else person.full_name


def shown_person(person: OrganizationMember | None, user_id: str | None) -> str:
    """What a person is called: by name, else by mail, else by id. Fit to be shown."""
    mail = None if person is None else person.email
    return safe_line(full_name(person) or mail or user_id or "without an id", _NAME)


def role_cell(role: str | None) -> Cell:
    """A role without the prefix that says where it holds; an unknown one as it came."""
    word = None if role is None else role.removeprefix(_ROLE_PREFIX)
    return cells.text(word, "accent" if word == "admin" else "plain")


_READING = Cell("…", "muted")


@dataclass(frozen=True, slots=True)
class Belonging:
    """A workspace that a person is in, and as what."""

    workspace: Workspace
    member: WorkspaceMember

    @property
    def name(self) -> str:
        """What the workspace is called."""
        return shown_name(self.workspace)


@dataclass(frozen=True, slots=True)
class PersonRow:
    """A member of the organization; ``places`` is None until the workspaces were read."""

    person: OrganizationMember
    places: tuple[Belonging, ...] | None = None

    @property
    def identity(self) -> str:
        """The user id; for a person that came without one, what else tells them from others."""
        return self.person.id or f"?{self.person.email}|{full_name(self.person)}"


async def fetch_people(client: GatewayClient) -> Sequence[PersonRow]:
    """Everybody in the organization. Raises GatewayError."""
    return tuple(PersonRow(person) for person in (await client.organization.members()).items)


async def fetch_places(client: GatewayClient) -> Mapping[str, tuple[Belonging, ...]]:
    """The workspaces of each user id, in the order of the workspaces. Raises GatewayError."""
    spaces = tuple((await open_workspaces(client)).values())

    async def members(space: Workspace) -> tuple[WorkspaceMember, ...]:
        try:
            return (await client.workspaces.members(space.id or "")).items
        except NotFoundError:
            return ()  # deleted since the workspaces were listed

    found: dict[str, list[Belonging]] = {}
    for space, listed in zip(spaces, await fetch_each(spaces, members), strict=True):
        for member in listed:
            if member.user_id:
                found.setdefault(member.user_id, []).append(Belonging(space, member))
    return {user_id: tuple(places) for user_id, places in found.items()}


def people_feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[PersonRow]]:
    """Everybody in the organization, whatever the scope."""
    return hub.feed("organization", fetch_people, cadence.WORKSPACES)


def _places_feed(hub: FeedHub, _scope: Scope) -> Feed[Mapping[str, tuple[Belonging, ...]]]:
    return hub.feed("organization:places", fetch_places, cadence.WORKSPACES)


def _complete(row: PersonRow, places: Mapping[str, tuple[Belonging, ...]]) -> PersonRow:
    return PersonRow(row.person, places.get(row.identity, ()))


def _names(row: PersonRow) -> str | None:
    return None if row.places is None else ", ".join(place.name for place in row.places)


def _names_cell(row: PersonRow) -> Cell:
    names = _names(row)
    return _READING if names is None else cells.text(names) if names else Cell("none", "muted")


COLUMNS: tuple[Column[PersonRow], ...] = (
    text_column(
        "name",
        "Name",
        lambda row: full_name(row.person),
        16,
        0,
        help="first and last name",
        missing=lambda row: Cell(shown_person(row.person, row.person.id), "muted"),
    ),
    text_column("mail", "Mail", lambda row: row.person.email, 20, 3, help="mail address"),
    Column(
        "role",
        "Role",
        lambda row, _now: role_cell(row.person.role),
        lambda row, _now: row.person.role,
        7,
        1,
        help="role in the organization",
    ),
    Column(
        "workspaces",
        "Workspaces",
        lambda row, _now: _names_cell(row),
        lambda row, _now: _names(row),
        24,
        2,
        help="workspaces that the person is a member of",
    ),
    text_column("user", "User id", lambda row: row.person.id, 29, 4, help="user id"),
)


def _person_rows(row: PersonRow, _now: datetime) -> Sequence[DetailRow]:
    person = row.person
    return [
        DetailRow("name", cells.text(full_name(person))),
        DetailRow("mail", cells.text(person.email)),
        DetailRow("role", role_cell(person.role)),
        DetailRow("user id", cells.text(person.id)),
    ]


def _place_rows(row: PersonRow, now: datetime) -> Sequence[DetailRow]:
    if row.places is None:
        return [DetailRow("", Cell("reading…", "muted"))]
    if not row.places:
        return [DetailRow("", Cell("in no workspace", "muted"))]
    return [
        DetailRow(
            role_cell(place.member.role).text,
            Cell(place.name),
            f"joined {cells.ago(place.member.created_at, now).text}"
            if place.member.created_at
            else "",
        )
        for place in row.places
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
        *honesty_sections(lambda row: row.person),
    ),
    feed=people_feed,
    completion=Completion(_places_feed, _complete, columns=frozenset({"workspaces"})),
    raw=lambda row: row.person.raw,
    empty="The organization has no members that this key may see.",
    default_sort=("name", False),
)
