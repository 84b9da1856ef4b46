"""A new key whose value nobody has stored: create it again, or say that it is stored."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from gwtui.cli import exits
from gwtui.cli.changes.change import ChangeContext
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import plan_context
from gwtui.cli.command import Argument, Command
from gwtui.cli.exits import CommandError
from gwtui.cli.lists.lookup import find
from gwtui.cli.output import narrate
from gwtui.client.errors import NotFoundError
from gwtui.crud.plan import Plan
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.local.ledger import LedgerEntry
from gwtui.resources.keys.writes import replacement_plan
from gwtui.watch.feeds.ledger import own_ledger, unsettled_feed

_KEY = Argument("id", metavar="ID", help="the key's hash or name, or the write's id")
_GONE = "the key is gone"


def _find(rows: Iterable[LedgerEntry], text: str) -> LedgerEntry:
    """The creation that is called so. Raises CommandError."""
    unstored = [one for one in rows if one.is_unacknowledged]
    return find(unstored, text, "new key that waits to be acknowledged", _names)


def _names(one: LedgerEntry) -> Sequence[str | None]:
    name = one.summary.get("name")
    return one.id, one.identity, name if isinstance(name, str) else None


async def _recreate(context: ChangeContext) -> Plan[Any]:
    rows = await context.readings.value(unsettled_feed(context.session.hub))
    lost = _find(rows, context.arguments.id)
    at = plan_context(context, await context.workspace_names(default=True))
    try:
        return await replacement_plan(context.gateway, lost, at)
    except ValidationError:
        raise CommandError("the ledger does not tell enough to create it again") from None
    except NotFoundError:
        ledger = context.session.executor.ledger
        await asyncio.to_thread(ledger.resolve, lost, context.now, _GONE)
        raise CommandError(f"{_GONE}: create another with 'gwtui keys create'") from None


CHANGES = (
    DeclaredChange(
        "recreate",
        "delete a new key whose value nobody has stored, and create it again",
        _recreate,
        (_KEY,),
        makes=True,
        notes=("The value of the new key alone goes to stdout.",),
    ),
)


def _acknowledge(arguments: argparse.Namespace) -> int:
    """Write down that the value of a new key is stored; nothing is sent."""
    ledger = own_ledger()
    try:
        one = _find(ledger.open_writes(), arguments.id)
        ledger.acknowledge(one.id, SYSTEM_CLOCK.now())
    except OSError as error:
        raise CommandError(f"{ledger.path}: {error.strerror or 'not usable'}") from None
    narrate("written down: the value of the key is stored")
    return exits.OK


VERBS = (
    Command("acknowledge", "say that the value of a new key is stored", _acknowledge, (_KEY,)),
)
