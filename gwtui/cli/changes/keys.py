"""Changes of API keys: making one seals its value until it has left on stdout."""

from __future__ import annotations

import asyncio

from gwtui.cli.changes.change import ChangeCommand, ChangeContext
from gwtui.cli.changes.crud import changes_of, plan_context
from gwtui.contract.keys import CreatedKey, CreateKeyRequest
from gwtui.crud.plan import Plan
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import plan_sealed_create


async def _create(desk: ChangeContext) -> Plan[CreatedKey]:
    request = await desk.request(CreateKeyRequest)
    sealed = desk.session.sealed
    trouble = await asyncio.to_thread(sealed.trouble)
    context = plan_context(desk, await desk.workspace_names(default=True))
    return plan_sealed_create(request, context, sealed, trouble)


CHANGES: tuple[ChangeCommand, ...] = tuple(
    changes_of(
        KEYS,
        create=_create,
        notes=(
            "The value is kept sealed on this machine until it has left on stdout; where that",
            "fails, 'gwtui recover-key' prints it.",
        ),
    )
)
