"""What a declaration can do with many at once: wishes to switch, delete and change, by identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gwtui.contract.request import RequestModel
from gwtui.crud.bulk import LeftOutError, Wish
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.writes import Writes
from gwtui.domain.diffs import ABSENT, same, three_way

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient


class Many:
    """Resources of one kind as they were when something was wanted of them.

    ``declared`` is the declaration for each of them and ``known`` each as its list had it, both by
    identity. ``barred`` says why nothing can be done with some of them.
    """

    def __init__(
        self,
        client: GatewayClient,
        declared: Mapping[str, Writes[Any]],
        known: Mapping[str, Any],
        context: PlanContext,
        barred: Mapping[str, str] | None = None,
    ) -> None:
        self._client = client
        self.declared = declared
        self.known = known
        self._at = context
        self._barred = barred or {}
        self.any = next(iter(declared.values()))

    def switch(self, disabled: bool) -> Wish:
        """Disable or enable each."""

        async def plan(identity: str, *, around: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            if fresh.disabled is disabled:
                raise LeftOutError(
                    "disabled already" if disabled else "enabled already", already=True
                )
            found = (
                await writes.around(self._client, fresh, self._at) if disabled and around else None
            )
            return writes.plan_switch(fresh, disabled, self._at, found)

        return self._wish("toggle", "Disable" if disabled else "Enable", plan)

    def delete(self) -> Wish:
        """Delete each for good."""
        how = self.any.delete

        async def plan(identity: str, *, around: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            found = await writes.around(self._client, fresh, self._at) if around else None
            return writes.plan_delete(fresh, self._at, found)

        return self._wish("delete", "Delete", plan, after="" if how is None else how.done)

    def change(self, request: RequestModel) -> Wish:
        """Give each the same values. One that somebody gave other ones since is left out."""
        given = {name: getattr(request, name) for name in request.model_fields_set}

        async def plan(identity: str, *, around: bool = True) -> Plan[Any]:
            writes, fresh = await self._read(identity)
            now, was = writes.known(fresh), writes.known(self.known[identity])
            merged = three_way(was, given, now)
            if merged.conflicts:
                words = writes.fields.formatter(self._at)
                said = (
                    f"{writes.fields.labels[one.field]} is now "
                    f"{'unknown' if one.theirs is ABSENT else words(one.field, one.theirs)}"
                    for one in merged.conflicts
                )
                raise LeftOutError(f"somebody changed it since: {'; '.join(said)}")
            wanted = {
                name: value
                for name, value in given.items()
                if not same(now.get(name, ABSENT), value)
            }
            if not wanted:
                raise LeftOutError("like this already", already=True)
            uses = await writes.uses(self._client, fresh, self._at) if around else ()
            return writes.plan_update(fresh, type(request).model_validate(wanted), self._at, uses)

        return self._wish("edit", "Change", plan)

    async def _read(self, identity: str) -> tuple[Writes[Any], Any]:
        if identity in self._barred:
            raise LeftOutError(self._barred[identity])
        writes = self.declared[identity]
        return writes, await writes.read(self._client, identity)

    def _wish(self, action: str, verb: str, plan: Any, after: str = "") -> Wish:
        async def again(identity: str) -> Plan[Any]:
            found: Plan[Any] = await plan(identity, around=False)
            return found

        return Wish(
            action=f"{self.any.resource}.{action}",
            resource=self.any.resource,
            verb=verb,
            noun=self.any.noun,
            plan=plan,
            again=again,
            after=after,
        )
