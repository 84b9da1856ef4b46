"""Which guardrails bind one key, and what was spent of their caps. Extended contract section 5.

A key is bound by its workspace's default guardrail, by the guardrail of the member who made it and
by its own. Each cap is counted for the key, or for the member, by itself.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from gwtui.embedded.store import guardrails, workspaces
from gwtui.embedded.store.guardrails import GuardrailRecord
from gwtui.embedded.store.keys import KeyRecord


@dataclass(frozen=True, slots=True)
class Binding:
    """The guardrails that bind a key; None where there is none."""

    of_workspace: GuardrailRecord | None = None
    of_member: GuardrailRecord | None = None
    of_key: GuardrailRecord | None = None

    @property
    def all(self) -> tuple[GuardrailRecord, ...]:
        """Every one of them."""
        found = (self.of_workspace, self.of_member, self.of_key)
        return tuple(guardrail for guardrail in found if guardrail is not None)


@dataclass(frozen=True, slots=True)
class BoundKey:
    """What must be known of a key to say what binds it."""

    id: int
    workspace_id: str | None
    creator_user_id: str | None


def of_key(db: sqlite3.Connection, key: KeyRecord | BoundKey) -> Binding:
    """What binds a key. A management key cannot use models, so nothing binds it."""
    workspace = workspaces.get(db, key.workspace_id) if key.workspace_id else None
    if workspace is None:
        return Binding()
    return Binding(
        of_workspace=guardrails.find(db, workspace.default_guardrail_id),
        of_member=_assigned(
            db, "SELECT guardrail_id FROM guardrail_members WHERE user_id = ?", key.creator_user_id
        ),
        of_key=_assigned(db, "SELECT guardrail_id FROM guardrail_keys WHERE key_id = ?", key.id),
    )


def _assigned(
    db: sqlite3.Connection, query: str, holder: str | int | None
) -> GuardrailRecord | None:
    row = db.execute(query, (holder,)).fetchone()
    return None if row is None else guardrails.find(db, row["guardrail_id"])
