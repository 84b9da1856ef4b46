"""The plan of the next step of a rotation, for the command line and the dashboard alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gwtui.contract.keys import ApiKey
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import quoted
from gwtui.resources.assignments import writes as assignments
from gwtui.resources.assignments.writes import plan_assign
from gwtui.resources.keys.writes import WRITES as KEYS
from gwtui.resources.uses import items_soon

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.watch.feeds.rotations import RotationRow


async def binding_plan(client: GatewayClient, row: RotationRow) -> Plan[Any]:
    """Assign the old key's guardrail to the successor. Raises GatewayError."""
    one = row.rotation
    guardrail = await client.guardrails.get(one.guardrail or "")
    current = await items_soon(client.guardrails.key_assignments(None))
    names = {guardrail.id or "": guardrail.name or ""}
    called = {one.new_hash or "": quoted(one.new_name, one.new_hash)}
    return plan_assign(assignments.KEYS, guardrail, called, current, names)


async def retiring_plan(
    client: GatewayClient, row: RotationRow, at: PlanContext, *, delete: bool
) -> Plan[Any]:
    """Disable the old key, or delete it, in view of a fresh reading. Raises GatewayError."""
    fresh: ApiKey = await KEYS.read(client, row.rotation.old_hash)
    around = await KEYS.around(client, fresh, at)
    if delete:
        return KEYS.plan_delete(fresh, at, around)
    return KEYS.plan_switch(fresh, True, at, around)
