"""Keys or members attached to a parent: members of a workspace, holders of a guardrail.

One request changes many identities. This module plans such requests, and collects the evidence if
a response was lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.request import RequestModel
from gwtui.crud.evidence import Evidence, InspectionContext, compare_values
from gwtui.crud.plan import Change, Plan
from gwtui.crud.plan_text import Names, named
from gwtui.domain.diffs import ABSENT

Parents = Mapping[str, str | None]
"""Identity -> the parent it is attached to, or None."""
_MOST_CHANGES = 20
"""Maximum number of changes that a plan lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A kind of resource, called the holder, and the requests that attach it to a parent.

    ``request`` is the body of both requests; its ``field`` has the identities of the holders.
    ``rows`` reads the attachments of one parent, or with ``across_parents`` those of all parents.
    ``holder`` and ``parent`` extract the two identities of such a row. ``names`` reads the names of
    holders; ``wording`` returns a function that formats a parent, or None for no parent. All
    functions that read or send raise GatewayError.
    """

    noun: str
    resource: str
    attach_action: str
    detach_action: str
    request: type[RequestModel]
    field: str
    rows: Callable[[GatewayClient, Any], Awaitable[Listing[Any]]]
    across_parents: bool
    holder: Callable[[Any], str | None]
    parent: Callable[[Any], str | None]
    names: Callable[[GatewayClient, Iterable[Any]], Awaitable[Names]]
    wording: Callable[[GatewayClient, Iterable[Any]], Awaitable[Callable[[Any], str]]]
    attach: Callable[[GatewayClient, str, Any], Awaitable[Any]]
    detach: Callable[[GatewayClient, str, Any], Awaitable[Any]]

    def plan(
        self,
        parent: str,
        title: str,
        identities: Iterable[str],
        changes: Sequence[Change],
        *,
        detach: bool = False,
        **more: Any,
    ) -> Plan[Any]:
        """Plan one request for all ``identities``; ``more`` are further fields of the plan."""
        body: dict[str, JsonValue] = {self.field: [*identities]}
        change = self.detach if detach else self.attach
        shown = [*changes]
        if len(changes) > _MOST_CHANGES + 1:
            more_changes = f"… and {len(changes) - _MOST_CHANGES} more"
            shown = [*changes[:_MOST_CHANGES], Change("", None, more_changes)]
        return Plan(
            action=self.detach_action if detach else self.attach_action,
            title=title,
            resource=self.resource,
            identity=parent,
            send=lambda client: change(client, parent, self.request.model_validate(body)),
            changes=tuple(shown),
            summary=body,
            **more,
        )

    async def inspect(self, inspection: InspectionContext) -> Evidence:
        """Compare the present parents of the holders with a write whose outcome is unknown.

        Each holder gets a line with its parent before the write, the requested one and the present
        one. Raises GatewayError.
        """
        intent, client = inspection.intent, inspection.client
        parent = intent.identity or ""
        listed = await self.rows(client, None if self.across_parents else parent)
        rows = {self.holder(row): row for row in listed.items}
        identities = _texts(intent.summary.get(self.field))
        before, goal = intent.before, None if intent.action == self.detach_action else parent
        absent = None if listed.complete else ABSENT
        present = {
            identity: self.parent(rows[identity]) or ABSENT if identity in rows else absent
            for identity in identities
        }
        names = await self.names(client, listed.items)
        word = await self.wording(client, [goal, *before.values(), *present.values()])
        lines = [
            compare_values(
                named(identity, names),
                word,
                before.get(identity, ABSENT),
                goal,
                present[identity],
                inspection.since(rows.get(identity)),
            )
            for identity in identities
        ]
        route = self.resource if self.across_parents else f"{self.resource}/{parent}"
        return Evidence(intent, _incomplete(listed), compared=tuple(lines), route=route)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _incomplete(listed: Listing[Any]) -> tuple[str, ...]:
    whole = listed.complete and not listed.unreadable
    return () if whole else ("The list is incomplete: identities missing from it are unknown.",)
