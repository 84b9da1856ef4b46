"""Changes of API keys: making one seals its value until it has left on stdout."""

from __future__ import annotations

import asyncio
from typing import Any

from gwtui.cli.changes.change import ChangeCommand, ChangeContext, Operand
from gwtui.cli.changes.crud import changes_of, plan_context
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


async def _rotate(context: ChangeContext) -> Plan[Any]:
    from gwtui.cli.changes.rotations import rotate  # noqa: PLC0415 - loads what no other verb needs

    return await rotate(context)


ROTATE = ChangeCommand(
    "rotate",
    "make a successor with the same limits and guardrail; 'gwtui rotations' follows both",
    _rotate,
    (
        Operand("id", "its hash, how that begins, or its name"),
        Operand("name", "name of the successor (the old one with the day)", option=True),
        Operand("silent-for", "how long the old key must stand still (24h)", option=True),
        Operand("kept-for", "how long it stays disabled before it is deleted (7d)", option=True),
    ),
    makes=True,
    notes=(
        "The value of the successor alone goes to stdout, once its guardrail was assigned; where",
        "that fails, 'gwtui recover-key' prints it. Nothing happens to the old key: 'gwtui",
        "rotations list' tells when it is silent, 'gwtui rotations next' disables it then.",
    ),
)

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
