"""Create an account of any size with SQL: keys, guardrail assignments, members, workspaces.

``python tests/large_account.py 100000 large.sqlite3`` makes a database that ``gwtui gateway serve
--database large.sqlite3`` serves.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from gwtui.contract.scalars import timestamp_text
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store import account, keys
from gwtui.embedded.store.documents import WORKSPACES

_CREATED = datetime(2026, 11, 1, tzinfo=UTC)
_MADE_TEXT = timestamp_text(_CREATED)
_GUARDRAILS = 20
_GUARDRAIL_ID = "00000000-0000-4000-8000-0000000000"


def key_name(number: int) -> str:
    """The name of the key with this number; 0 is the first by name."""
    return f"service-{number:06}"


def workspace_name(number: int) -> str:
    """The name of the workspace with this number; 0 is the first by name."""
    return f"team-{number:04}"


def fill(db: sqlite3.Connection, count: int, people: int = 0) -> None:
    """Put this many keys into the default workspace, each assigned one of a few guardrails.

    ``people`` is the number of organization members, who get guardrails as well.
    """
    workspace = account.setting(db, "default_workspace_id")
    _insert(
        db,
        "guardrails",
        (
            {
                "id": _guardrail(number),
                "workspace_id": workspace,
                "name": f"rail {number:02}",
                "include_byok_in_budgets": False,
                "created_at": _MADE_TEXT,
                "updated_at": None,
            }
            for number in range(_GUARDRAILS)
        ),
    )
    # The newest key is the first of the list.
    _insert(db, "keys", (_key(number, workspace) for number in reversed(range(count))))
    db.executemany(
        "INSERT INTO usage VALUES (?, 0, ?, '', NULL, 0, ?, 0, 0, 0)",
        ((_hash(number), workspace, number * 1_000_000_000) for number in range(count)),
    )
    _insert(
        db,
        "guardrail_keys",
        (
            {**_assignment(number), "id": f"assignment-{number}", "key_hash": _hash(number)}
            for number in range(count)
        ),
    )
    _insert(
        db,
        "organization_members",
        (
            {
                "id": f"person-{number:06}",
                "email": f"{number}@example.com",
                "first_name": f"Person {number}",
                "last_name": "Large",
                "role": "org:member",
            }
            for number in range(people)
        ),
    )
    organization = account.setting(db, "organization_id")
    _insert(
        db,
        "guardrail_members",
        (
            {
                **_assignment(number),
                "id": f"of-person-{number}",
                "user_id": f"person-{number:06}",
                "organization_id": organization,
            }
            for number in range(people)
        ),
    )


def add_workspaces(db: sqlite3.Connection, count: int) -> None:
    """Add this many empty workspaces with the settings of the default one."""
    default = WORKSPACES.get(db, account.setting(db, "default_workspace_id")) or {}
    for number in range(count):
        name = workspace_name(number)
        fields = {"id": str(UUID(int=number + 1)), "name": name, "slug": name}
        guardrail = {"default_guardrail_id": str(UUID(int=2**64 + number))}
        WORKSPACES.insert(db, {**default, **fields, **guardrail})


def _insert(db: sqlite3.Connection, table: str, documents: Iterable[dict[str, Any]]) -> None:
    """Store documents without validation, which would take a while for 100,000 of them."""
    db.executemany(
        f"INSERT INTO {table} (id, document) VALUES (?, ?)",  # noqa: S608
        (
            (document.get("id", document.get("hash")), json.dumps(document))
            for document in documents
        ),
    )


def _hash(number: int) -> str:
    return f"{number:064x}"


def _guardrail(number: int) -> str:
    return f"{_GUARDRAIL_ID}{number % _GUARDRAILS:02}"


def _assignment(number: int) -> dict[str, Any]:
    return {"guardrail_id": _guardrail(number), "assigned_by": None, "created_at": _MADE_TEXT}


def _key(number: int, workspace: str) -> dict[str, Any]:
    limited = number % 3
    used = _CREATED + timedelta(minutes=number % 9000)
    return {
        **keys.new_document(
            hash=_hash(number),
            label=f"gw-v1-{number % 4096:03x}...{number % 4096:03x}",
            name=key_name(number),
            created_at=_CREATED - timedelta(minutes=number),
            workspace_id=workspace,
        ),
        "disabled": number % 50 == 0,
        "limit": float(number % 500 + 1) if limited else None,
        "limit_reset": "monthly" if limited else None,
        "last_used_at": timestamp_text(used),
    }


def make(database: Path, count: int, *, people: int = 0, workspaces: int = 0) -> None:
    """Create a database file of this size."""
    EmbeddedGateway(database, content="empty").close()
    db = sqlite3.connect(database)
    with db:
        fill(db, count, people)
        add_workspaces(db, workspaces)
    db.close()


if __name__ == "__main__":
    make(Path(sys.argv[2]), int(sys.argv[1]))
