"""What surrounds a key that is to be rotated, read from the gateway and from this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError
from gwtui.contract.keys import ApiKey
from gwtui.local.rotations import FILE_NAME, RotationLog
from gwtui.resources.rotations.plans import RotationKeeping, RotationSource, successor_name
from gwtui.resources.uses import items_soon
from gwtui.watch.feeds.keys import fetch_keys

if TYPE_CHECKING:
    from datetime import datetime

    from gwtui.client.gateway import GatewayClient
    from gwtui.resources.session import Session


async def read_source(
    session: Session, fresh: ApiKey, workspace_id: str | None = None
) -> RotationSource:
    """What the plan must know of the key. Raises GatewayError where its guardrail is gone."""
    gateway = session.gateway
    held = await items_soon(gateway.guardrails.key_assignments(None))
    identity = next((one.guardrail_id for one in held or () if one.key_hash == fresh.hash), None)
    people = await items_soon(gateway.organization.members())
    log, place = rotation_log(session), session.connection.base_url
    begun = await asyncio.to_thread(log.rotations, place)
    return RotationSource(
        fresh,
        workspace_id,
        None if identity is None else await gateway.guardrails.get(identity),
        held is not None,
        None if people is None else frozenset(one.id for one in people if one.id),
        frozenset(one.old_hash for one in begun if one.ended is None),
    )


async def read_name(gateway: GatewayClient, old: ApiKey, now: datetime) -> str:
    """A name for the successor that no other key has, as far as the keys can be read."""
    try:
        rows = await fetch_keys(gateway, None)
    except GatewayError:
        rows = ()
    taken = frozenset(row.key.name for row in rows if row.key.name)
    return successor_name(old.name or "", taken, now)


def rotation_log(session: Session) -> RotationLog:
    """The file of rotations beside the session's journal."""
    return RotationLog(session.executor.journal.path.with_name(FILE_NAME))


async def keeping(session: Session) -> RotationKeeping:
    """Where a rotation is remembered, and whether its value can be sealed here."""
    trouble = await asyncio.to_thread(session.sealed.trouble)
    place = session.connection.base_url
    return RotationKeeping(rotation_log(session), place, session.sealed, trouble)
