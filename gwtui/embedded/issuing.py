"""Issuing keys from outside the API: how the first management key comes into the world."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.auth import mint
from gwtui.embedded.errors import DatabaseMissingError, NoWorkspaceError
from gwtui.embedded.store import account, keys, workspaces
from gwtui.embedded.store.database import Database

ISSUED_KEY_NAME = "issued on the command line"


def issue_key(
    database: Path,
    *,
    management: bool,
    name: str = ISSUED_KEY_NAME,
    dialect: Dialect | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> str:
    """Make a key in an existing database, whether or not a gateway serves it right now.

    A running gateway knows the key from its next request on. ``dialect`` decides how the key looks,
    None makes it look as the database was served in last. A database that was never served is
    not made here: how it begins (seed, content) is for whoever serves it first to choose.
    Raises DatabaseMissingError, DatabaseUnusableError and NoWorkspaceError.
    """
    visited = Database.visit(database)
    try:
        with visited.read() as db:
            if account.find(db) is None:
                raise DatabaseMissingError(f"{database} was never served, so it is still empty.")
            served_in = DIALECTS.get(account.setting(db, "dialect") or "", GENERIC)
        return issue(visited, dialect or served_in, clock.now(), management=management, name=name)
    finally:
        visited.close()


def issue(  # noqa: PLR0913 - all by name
    database: Database,
    dialect: Dialect,
    now: datetime,
    *,
    management: bool,
    name: str,
    workspace_id: str | None = None,
    body: str | None = None,
) -> str:
    """Make a key in an open database and give its full text; only its hash is kept.

    ``body`` are the 64 hex digits of the key, by chance when None. Raises NoWorkspaceError when an
    ordinary key is to go to a workspace that does not exist.
    """
    minted = mint(dialect, management=management, body=body)
    with database.write() as db:
        home: str | None = None
        if not management:
            workspace = workspaces.get(db, workspace_id) if workspace_id else workspaces.default(db)
            if workspace is None:
                raise NoWorkspaceError(
                    f"There is no workspace {workspace_id}."
                    if workspace_id
                    else "The default workspace was deleted: make ordinary keys through the API, "
                    "which can name another one."
                )
            home = workspace.id
        keys.add(
            db,
            keys.NewKey(
                hash=minted.hash,
                label=minted.label,
                name=name or ISSUED_KEY_NAME,
                created_at=now,
                workspace_id=home,
                creator_user_id=account.get(db).owner_user_id,
            ),
        )
    return minted.secret
