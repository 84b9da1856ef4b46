"""An account of any size, put in by SQL: keys, guardrail assignments, people and workspaces.

    python tests/large_account.py 100000 large.sqlite3

makes a database that ``gwtui gateway serve --database large.sqlite3`` serves.
"""

from __future__ import annotations

import sqlite3
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store.table import to_micros

_MADE = datetime(2026, 11, 1, tzinfo=UTC)
_ADD_KEY = """
    INSERT INTO api_keys (
        hash, label, name, is_management, workspace_id, disabled, limit_usd, limit_reset,
        include_byok_in_limit, created_at, last_used_at, usage_pico
    ) VALUES (?, ?, ?, 0, ?, ?, ?, ?, 0, ?, ?, ?)
"""
_ADD_GUARDRAIL = """
    INSERT INTO guardrails (id, workspace_id, name, include_byok_in_budgets, created_at)
    VALUES (?, ?, ?, 0, ?)
"""
_ASSIGN = """
    INSERT INTO guardrail_keys (id, guardrail_id, key_id, created_at)
    SELECT 'assignment-' || id, ? || substr('0' || (id % ?), -2), id, created_at
    FROM api_keys WHERE NOT is_management
"""
_ADD_PERSON = """
    INSERT INTO organization_members (id, email, first_name, last_name, role)
    VALUES (?, ?, ?, ?, 'org:member')
"""
_ASSIGN_PEOPLE = """
    INSERT INTO guardrail_members (id, guardrail_id, user_id, created_at)
    SELECT 'of-person-' || number, ? || substr('0' || (number % ?), -2), id, ?
    FROM organization_members WHERE id LIKE 'person-%'
"""
_GUARDRAILS = 20
_GUARDRAIL_ID = "00000000-0000-4000-8000-0000000000"


def key_name(number: int) -> str:
    """What the key of this number is called, 0 the first by name."""
    return f"service-{number:06}"


def workspace_name(number: int) -> str:
    """What the workspace of this number is called, 0 the first by name."""
    return f"team-{number:04}"


def fill(db: sqlite3.Connection, keys: int, people: int = 0) -> None:
    """Put so many keys into the default workspace, each bound by one of a few guardrails.

    So are as many ``people`` of the organization.
    """
    ((workspace,),) = db.execute("SELECT id FROM workspaces WHERE is_default = 1").fetchall()
    made = to_micros(_MADE)
    db.executemany(
        _ADD_GUARDRAIL,
        [
            (f"{_GUARDRAIL_ID}{number:02}", workspace, f"rail {number:02}", made)
            for number in range(_GUARDRAILS)
        ],
    )
    db.executemany(_ADD_KEY, (_key(number, workspace) for number in range(keys)))
    db.execute(_ASSIGN, (_GUARDRAIL_ID, _GUARDRAILS))
    db.executemany(
        _ADD_PERSON,
        (
            (f"person-{number:06}", f"{number}@example.com", f"Person {number}", "Large")
            for number in range(people)
        ),
    )
    db.execute(_ASSIGN_PEOPLE, (_GUARDRAIL_ID, _GUARDRAILS, made))


def add_workspaces(db: sqlite3.Connection, count: int) -> None:
    """So many workspaces beside the default one, set up as it is, with nothing in them."""
    columns = [name for _, name, *_ in db.execute("PRAGMA table_info(workspaces)")]
    own = {"id": "?", "slug": "?", "name": "?", "default_guardrail_id": "?", "is_default": "0"}
    copied = [name for name in columns if name not in {*own, "number"}]
    statement = (
        f"INSERT INTO workspaces ({', '.join((*own, *copied))}) "  # noqa: S608 - the table's own
        f"SELECT {', '.join((*own.values(), *copied))} FROM workspaces WHERE is_default"
    )
    for number in range(count):
        name, identity = workspace_name(number), str(UUID(int=number + 1))
        db.execute(statement, (identity, name, name, str(UUID(int=2**64 + number))))


def _key(number: int, workspace: str) -> tuple[object, ...]:
    made = to_micros(_MADE - timedelta(minutes=number))
    limited = number % 3
    return (
        f"{number:064x}",
        f"gw-v1-{number % 4096:03x}...{number % 4096:03x}",
        key_name(number),
        workspace,
        number % 50 == 0,
        f"{number % 500 + 1}" if limited else None,
        "monthly" if limited else None,
        made,
        to_micros(_MADE + timedelta(minutes=number % 9000)),
        number * 1_000_000_000,
    )


def make(database: Path, keys: int, *, people: int = 0, workspaces: int = 0) -> None:
    """A new database file with so many of each."""
    EmbeddedGateway.open(database, content="empty").close()
    db = sqlite3.connect(database)
    with db:
        fill(db, keys, people)
        add_workspaces(db, workspaces)
    db.close()


if __name__ == "__main__":
    make(Path(sys.argv[2]), int(sys.argv[1]))
