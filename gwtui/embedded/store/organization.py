"""The organization: its people and its settings. Extended contract section 4."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from gwtui.embedded.store import account

_FILTERED_CATALOG = "is_filtered_model_catalog_enabled"


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the organization."""

    id: str
    email: str
    first_name: str | None
    last_name: str | None
    role: str
    """``org:admin`` or ``org:member``."""


def add(db: sqlite3.Connection, person: Person) -> None:
    """Take somebody into the organization; whoever is in it already stays as they are."""
    db.execute(
        "INSERT INTO organization_members (id, email, first_name, last_name, role) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
        (person.id, person.email, person.first_name, person.last_name, person.role),
    )


def listed(db: sqlite3.Connection, *, offset: int, limit: int) -> list[Person]:
    """One page of the members, in the order they joined."""
    rows = db.execute(
        "SELECT id, email, first_name, last_name, role FROM organization_members "
        "ORDER BY number LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return [Person(*row) for row in rows]


def count(db: sqlite3.Connection) -> int:
    """How many members there are."""
    (total,) = db.execute("SELECT count(*) FROM organization_members").fetchone()
    return int(total)


def strangers(db: sqlite3.Connection, user_ids: Iterable[str]) -> list[str]:
    """Those of the ids that are not members, each once, in the order given."""
    given = list(dict.fromkeys(user_ids))
    rows = db.execute(
        "SELECT id FROM organization_members WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(given),),
    )
    known = {row["id"] for row in rows}
    return [user_id for user_id in given if user_id not in known]


def filtered_catalog(db: sqlite3.Connection) -> bool:
    """Whether members see only the models that their guardrails allow; false at first."""
    return account.setting(db, _FILTERED_CATALOG) == "true"


def filter_catalog(db: sqlite3.Connection, *, enabled: bool) -> None:
    """Change what ``filtered_catalog`` says."""
    account.remember(db, _FILTERED_CATALOG, "true" if enabled else "false")
