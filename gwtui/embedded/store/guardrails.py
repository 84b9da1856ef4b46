"""Which guardrails bind a key. Contract "Guardrail", extended section 5."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.embedded.store.kinds import (
    GUARDRAILS,
    KEY_ASSIGNMENTS,
    MEMBER_ASSIGNMENTS,
    WORKSPACES,
)


class Binding(NamedTuple):
    """The guardrails that bind a key; None where there is none."""

    of_workspace: Guardrail | None = None
    of_member: Guardrail | None = None
    of_key: Guardrail | None = None

    @property
    def all(self) -> tuple[Guardrail, ...]:
        """Every one of them."""
        return tuple(guardrail for guardrail in self if guardrail is not None)


def binding_of(db: sqlite3.Connection, key: ApiKey) -> Binding:
    """What binds a key. A management key cannot use models, so nothing binds it."""
    workspace = WORKSPACES.get(db, key.workspace_id)
    if workspace is None:
        return Binding()
    member = MEMBER_ASSIGNMENTS.find(db, "user_id = ?", (key.creator_user_id,))
    assigned = KEY_ASSIGNMENTS.find(db, "key_hash = ?", (key.hash,))
    return Binding(
        of_workspace=GUARDRAILS.get(db, workspace.default_guardrail_id),
        of_member=GUARDRAILS.get(db, member.guardrail_id) if member else None,
        of_key=GUARDRAILS.get(db, assigned.guardrail_id) if assigned else None,
    )
