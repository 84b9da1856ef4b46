"""How each resource that can be made or changed is read again and compared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.dialects import Dialect
from gwtui.contract.organization import OrganizationSettings
from gwtui.contract.request import MASK
from gwtui.contract.response import ResponseModel
from gwtui.crud.fields import PlanContext
from gwtui.crud.text import Formatter, Names, quoted
from gwtui.crud.writes import Writes
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.safe_text import safe_line
from gwtui.resources.byok.writes import CREDENTIALS
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.keys.writes import WRITES as KEYS
from gwtui.resources.organization import plans as organization_plans
from gwtui.resources.recovery.evidence import Compared, verdict
from gwtui.resources.workspaces.writes import WRITES as WORKSPACES


@dataclass(frozen=True, slots=True)
class ComparedResource:
    """One kind of resource.

    ``values`` gives the comparable fields of a reading, without those the gateway left out.
    ``every`` lists them in the workspace that a creation named, None for the default one. What was
    wanted is read with ``model``, too: a request names its fields as an answer does.
    """

    noun: str
    place: str
    model: type[ResponseModel]
    labels: Mapping[str, str]
    words: Formatter
    identity: Callable[[Any], str | None]
    name: Callable[[Any], str]
    get: Callable[[GatewayClient, str], Awaitable[ResponseModel]]
    values: Callable[[Any], Mapping[str, Any]]
    every: Callable[[GatewayClient, str | None], Awaitable[Listing[Any]]] | None = None
    implied: tuple[str, ...] = ()
    """Fields that are null where a creation leaves them out."""

    def wanted(self, summary: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields that a creation asked for, those that it left out for null as well."""
        return {**dict.fromkeys(self.implied), **summary}

    def made_at(self, item: Any) -> datetime | None:
        """When it was made, by the gateway's clock."""
        made: datetime | None = item.created_at
        return made

    def compare(
        self, present: ResponseModel, wanted: Mapping[str, Any], before: Mapping[str, Any] | None
    ) -> tuple[Compared, ...]:
        """Every field that was wanted; ``before`` None where there was nothing before."""
        now, goal = self.values(present), self._read(wanted)
        then = None if before is None else self._read(before)
        found = []
        for name in (*(one for one in self.labels if one in wanted), *_unheard_of(self, wanted)):
            was = ABSENT if then is None else then.get(name, ABSENT)
            found.append(
                Compared(
                    self.labels.get(name, safe_line(name, 30)),
                    None if then is None else self._in_words(name, was),
                    self._wish(name, wanted[name], goal),
                    self._in_words(name, now.get(name, ABSENT)),
                    verdict(was, goal.get(name, ABSENT), now.get(name, ABSENT)),
                )
            )
        return tuple(found)

    def _read(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.values(self.model.model_validate(dict(raw)))

    def _in_words(self, name: str, value: Any) -> str:
        return UNKNOWN if value is ABSENT else self.words(name, value)

    def _wish(self, name: str, raw: Any, goal: Mapping[str, Any]) -> str:
        if raw == MASK:
            return "as typed, not kept"
        return self.words(name, goal[name]) if name in goal else safe_line(raw, 60)


def _unheard_of(kind: ComparedResource, wanted: Mapping[str, Any]) -> list[str]:
    """Fields of a request that no label is known for."""
    return [name for name in wanted if name not in kind.labels]


def kinds(dialect: Dialect, now: datetime, names: Names) -> Mapping[str, ComparedResource]:
    """Every kind by its resource id; ``names`` names workspaces, keys and users."""
    at = PlanContext(now, names, dialect)
    return {
        "keys": of_writes(KEYS, at),
        "workspaces": of_writes(WORKSPACES, at, scoped=False),
        "guardrails": of_writes(GUARDRAILS.for_row(None, dialect), at),
        "byok": of_writes(CREDENTIALS, at),
        "organization": ComparedResource(
            "settings",
            "organization",
            OrganizationSettings,
            organization_plans.LABELS,
            organization_plans.in_words,
            lambda settings: settings.id,
            lambda settings: quoted(None, settings.id),
            lambda client, _identity: client.organization.settings(),
            organization_plans.known_values,
        ),
    }


def of_writes(
    writes: Writes[Any], context: PlanContext, *, scoped: bool = True
) -> ComparedResource:
    """The kind of a resource from its declaration; a ``scoped`` one is listed per workspace."""
    return ComparedResource(
        writes.noun,
        writes.resource,
        writes.model,
        writes.fields.labels,
        writes.fields.formatter(context),
        writes.identity,
        writes.name,
        lambda client, identity: writes.service(client).get(identity),
        writes.sent_by_gateway,
        lambda client, space: (
            writes.service(client).list(workspace_id=space)
            if scoped
            else writes.service(client).list()
        ),
        writes.implied,
    )
