"""How people of the organization read, wherever they are listed."""

from __future__ import annotations

from gwtui.contract.members import OrganizationMember
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources import cells
from gwtui.ui.resources.spec import Cell

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
