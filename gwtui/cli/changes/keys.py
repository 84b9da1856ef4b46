"""Changes of API keys: making one seals its value until it has left on stdout."""

from __future__ import annotations

import asyncio

from gwtui.cli.changes.change import ChangeCommand, ChangeContext
from gwtui.cli.changes.crud import changes_of, plan_context
from gwtui.cli.changes.rotations import ROTATE
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.crud.plan import Plan
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import plan_sealed_create


async def _create(context: ChangeContext) -> Plan[CreatedKey]:
    request = await context.request(CreateKeyRequest)
    sealed = context.session.sealed
    trouble = await asyncio.to_thread(sealed.trouble)
    at = plan_context(context, await context.workspace_names(default=True))
    return plan_sealed_create(request, at, sealed, trouble)


CHANGES: tuple[ChangeCommand, ...] = (
    *changes_of(
        KEYS,
        create=_create,
        notes=(
            "The value is kept sealed on this machine until it has left on stdout; where that",
            "fails, 'gwtui recover-key' prints it.",
        ),
    ),
    ROTATE,
)
