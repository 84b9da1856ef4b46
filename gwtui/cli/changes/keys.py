"""Changes of API keys: extended contract section 1."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from gwtui.actions.key_plans import (
    EDITABLE,
    known_values,
    plan_create,
    plan_delete,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.actions.plan import Plan
from gwtui.actions.sealed_keys import with_sealing
from gwtui.actions.uses import key_uses
from gwtui.cli.changes.change import Change, NothingToDoError, Operand
from gwtui.cli.changes.desk import Desk
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.ui.resources.keys import KEYS

_KEY = Operand("id", "its hash, how that begins, or its name")


async def _create(desk: Desk) -> Plan[CreatedKey]:
    request = await desk.request(CreateKeyRequest)
    sealed = desk.session.sealed
    trouble = await asyncio.to_thread(sealed.trouble)
    names = await desk.workspace_names(default=True)
    return with_sealing(plan_create(request, desk.now, names, unsealed=trouble), sealed)


async def _update(desk: Desk) -> Plan[ApiKey]:
    fresh = await _fresh(desk)
    request = await desk.update(UpdateKeyRequest, known_values(fresh))
    plan = plan_update(fresh, request, desk.now, await desk.workspace_names())
    return replace(plan, effects=(*plan.effects, *await key_uses(desk.gateway, fresh, desk.now)))


async def _disable(desk: Desk) -> Plan[ApiKey]:
    fresh = await _fresh(desk)
    _refuse_same(fresh, disabled=True)
    return plan_set_disabled(fresh, True, desk.now, await key_uses(desk.gateway, fresh, desk.now))


async def _enable(desk: Desk) -> Plan[ApiKey]:
    fresh = await _fresh(desk)
    _refuse_same(fresh, disabled=False)
    return plan_set_disabled(fresh, False, desk.now)


async def _delete(desk: Desk) -> Plan[Any]:
    fresh = await _fresh(desk)
    return plan_delete(fresh, desk.now, await key_uses(desk.gateway, fresh, desk.now))


async def _fresh(desk: Desk) -> ApiKey:
    return await desk.gateway.keys.get(await desk.identity(KEYS, desk.arguments.id))


def _refuse_same(fresh: ApiKey, *, disabled: bool) -> None:
    if fresh.disabled is disabled:
        state = "disabled" if disabled else "enabled"
        raise NothingToDoError(f"key {shown_name(fresh)} is {state} already")


CHANGES = (
    Change(
        "create",
        "make a key; its value alone goes to stdout, once",
        _create,
        model=CreateKeyRequest,
        makes=True,
        notes=(
            "The value is kept sealed on this machine until it has left on stdout; where that",
            "fails, 'gwtui recover-key' prints it.",
        ),
    ),
    Change("update", "change its fields", _update, (_KEY,), UpdateKeyRequest, EDITABLE),
    Change("disable", "refuse requests with it", _disable, (_KEY,)),
    Change("enable", "accept requests with it again", _enable, (_KEY,)),
    Change("delete", "delete it for good", _delete, (_KEY,)),
)
