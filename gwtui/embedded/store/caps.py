"""Every cap that binds a key while usage is booked. Extended contract sections 1, 3 and 5.

The key's own limit, the budgets of its workspace, and the caps of the guardrails that bind it.
What many keys use up together is one allowance: a workspace's budgets, and the caps that hold for
a member.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Iterator
from functools import partial

from gwtui.embedded.store import binding, budgets, usage, workspaces
from gwtui.embedded.store.allowances import Allowance, Booked
from gwtui.embedded.store.columns import from_decimal_text
from gwtui.embedded.store.guardrails import GuardrailRecord


class Caps:
    """The allowances of keys, as they stand when a booking begins."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._budgets: dict[str, list[Allowance]] = {}
        self._of_members: dict[Hashable, Allowance] = {}
        self._any_guardrail_caps = (
            db.execute("SELECT 1 FROM guardrails WHERE limit_usd IS NOT NULL LIMIT 1").fetchone()
            is not None
        )

    def of(self, key: sqlite3.Row) -> list[Allowance]:
        """The allowances of an ordinary key, given as its row."""
        workspace_id = key["workspace_id"]
        if workspace_id not in self._budgets:
            self._budgets[workspace_id] = list(self._of_workspace(workspace_id))
        found = [*self._of_key(key), *self._budgets[workspace_id]]
        if self._any_guardrail_caps:
            found += self._of_guardrails(key)
        return found

    def _of_key(self, key: sqlite3.Row) -> Iterator[Allowance]:
        limit = from_decimal_text(key["limit_usd"])
        if limit is not None:
            booked = partial(usage.of_key_since, self._db, key["id"])
            with_byok = bool(key["include_byok_in_limit"])
            yield Allowance(limit, key["limit_reset"], booked, with_byok=with_byok)

    def _of_workspace(self, workspace_id: str) -> Iterator[Allowance]:
        workspace = workspaces.get(self._db, workspace_id)
        with_byok = workspace is not None and workspace.include_byok_in_budgets
        booked = partial(budgets.spent_since, self._db, workspace_id)
        for budget in budgets.of_workspace(self._db, workspace_id).values():
            yield Allowance(budget.limit, budget.reset_interval, booked, with_byok=with_byok)

    def _of_guardrails(self, key: sqlite3.Row) -> Iterator[Allowance]:
        workspace_id, user_id = key["workspace_id"], key["creator_user_id"]
        bound = binding.of_key(self._db, binding.BoundKey(key["id"], workspace_id, user_id))
        own: Booked = partial(usage.of_key_since, self._db, key["id"])
        for guardrail in (bound.of_workspace, bound.of_key):
            if guardrail is not None:
                yield from _cap(guardrail, own)
        if user_id is not None:
            if bound.of_workspace is not None:
                yield from self._of_member(bound.of_workspace, user_id, workspace_id)
            if bound.of_member is not None:
                yield from self._of_member(bound.of_member, user_id, None)

    def _of_member(
        self, guardrail: GuardrailRecord, user_id: str, workspace_id: str | None
    ) -> Iterator[Allowance]:
        shared = (guardrail.id, user_id, workspace_id)
        if shared not in self._of_members:
            booked = partial(usage.of_member_since, self._db, user_id, workspace_id)
            for allowance in _cap(guardrail, booked):
                self._of_members[shared] = allowance
        if shared in self._of_members:
            yield self._of_members[shared]


def _cap(guardrail: GuardrailRecord, booked: Booked) -> Iterator[Allowance]:
    policy = guardrail.policy
    if policy.limit_usd is not None:
        with_byok = policy.include_byok_in_budgets
        yield Allowance(policy.limit_usd, policy.reset_interval, booked, with_byok=with_byok)
