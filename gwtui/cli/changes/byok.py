"""Changes of BYOK credentials: extended contract section 6. A raw key comes on stdin only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gwtui.actions.byok_plans import (
    EDITABLE,
    check_provider,
    known_values,
    plan_create,
    plan_delete,
    plan_rotate,
    plan_set_disabled,
    plan_update,
    shown_name,
)
from gwtui.actions.plan import Plan
from gwtui.actions.uses import Uses, credential_uses, items_soon
from gwtui.cli.changes.change import Change, NothingToDoError, Operand
from gwtui.cli.changes.desk import Desk
from gwtui.cli.exits import USAGE, CommandError
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.ui.resources.byok import BYOK, names_feed
from gwtui.ui.resources.providers import providers_feed
from gwtui.watch.feeds.scope import Scope

_CREDENTIAL = Operand("id", "its id, how that begins, or its name")


async def _create(desk: Desk) -> Plan[ByokCredential]:
    request = await desk.request(CreateByokRequest)
    providers = await desk.readings.value_or_nothing(
        providers_feed(desk.session.hub, Scope()), "the gateway's providers"
    )
    # Where they cannot be read it is said in the plan and goes on: the gateway decides anyway,
    # and nobody could do anything about it but force everything.
    check = check_provider(request.provider, providers)
    if check.listed is False and not desk.arguments.force:
        raise CommandError(f"provider: {check.said} --force stores it all the same.", USAGE)
    return plan_create(request, await desk.workspace_names(default=True), check.said)


async def _update(desk: Desk) -> Plan[ByokCredential]:
    fresh = await _fresh(desk)
    request = await desk.update(UpdateByokRequest, known_values(fresh))
    names = (await names_feed(desk.session.hub, Scope()).refresh()).value or {}
    return _with(plan_update(fresh, request, names), await credential_uses(desk.gateway, fresh))


async def _rotate(desk: Desk) -> Plan[ByokCredential]:
    fresh = await _fresh(desk)
    plan = plan_rotate(fresh, desk.given["key"])
    return _with(plan, await credential_uses(desk.gateway, fresh))


async def _disable(desk: Desk) -> Plan[ByokCredential]:
    fresh = await _fresh(desk)
    _refuse_same(fresh, disabled=True)
    return plan_set_disabled(fresh, True, *await _around(desk, fresh))


async def _enable(desk: Desk) -> Plan[ByokCredential]:
    fresh = await _fresh(desk)
    _refuse_same(fresh, disabled=False)
    return plan_set_disabled(fresh, False)


async def _delete(desk: Desk) -> Plan[Any]:
    fresh = await _fresh(desk)
    return plan_delete(fresh, *await _around(desk, fresh))


async def _fresh(desk: Desk) -> ByokCredential:
    return await desk.gateway.byok.get(await desk.identity(BYOK, desk.arguments.id))


async def _around(
    desk: Desk, fresh: ByokCredential
) -> tuple[Sequence[ByokCredential] | None, Uses]:
    """The provider's other credentials in the same workspace, and who may use this one."""
    byok = desk.gateway.byok
    listed, uses = await asyncio.gather(
        items_soon(byok.list(workspace_id=fresh.workspace_id, provider=fresh.provider)),
        credential_uses(desk.gateway, fresh),
    )
    return (None if listed is None else [one for one in listed if one.id != fresh.id]), uses


def _with(plan: Plan[ByokCredential], uses: Uses) -> Plan[ByokCredential]:
    return replace(plan, effects=(*plan.effects, *uses))


def _refuse_same(fresh: ByokCredential, *, disabled: bool) -> None:
    if fresh.disabled is disabled:
        state = "disabled" if disabled else "enabled"
        raise NothingToDoError(f"credential {shown_name(fresh)} is {state} already")


CHANGES = (
    Change(
        "create",
        "store a provider key, read from stdin",
        _create,
        model=CreateByokRequest,
        secret="key",  # noqa: S106 - the name of a field
        makes=True,
        force="a provider that the gateway does not list",
    ),
    Change("update", "change its fields", _update, (_CREDENTIAL,), UpdateByokRequest, EDITABLE),
    Change(
        "rotate",
        "overwrite its key with another, read from stdin",
        _rotate,
        (_CREDENTIAL,),
        UpdateByokRequest,
        fields=("key",),
        secret="key",  # noqa: S106
    ),
    Change("disable", "leave it out of routing", _disable, (_CREDENTIAL,)),
    Change("enable", "let requests use it again", _enable, (_CREDENTIAL,)),
    Change("delete", "delete it, its key wiped", _delete, (_CREDENTIAL,)),
)
