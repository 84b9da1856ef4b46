"""Changes of API keys and rotations, and acknowledgement of unstored new keys."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from gwtui.cli import exits
from gwtui.cli.changes.change import ChangeContext, NothingToDoError, validated
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import declared_changes, plan_context, row_operand
from gwtui.cli.command import DEMO, Argument, Command
from gwtui.cli.lists.selection import find
from gwtui.cli.output import narrate
from gwtui.cli.target import find_profile
from gwtui.client.errors import NotFoundError
from gwtui.crud.plan import Plan
from gwtui.crud.resource import Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.domain.keys import KeyRotation
from gwtui.domain.times import parse_duration
from gwtui.embedded.demo import BASE_URL
from gwtui.local.ledger import LedgerEntry
from gwtui.local.paths import Paths
from gwtui.local.rotations import FILE_NAME, RotationFile
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.keys.writes import replacement_plan
from gwtui.resources.rotations import (
    ROTATIONS,
    RotateRequest,
    assignment_plan,
    plan_rotation,
    read_source,
    retiring_plan,
    successor_name,
)
from gwtui.watch.feeds.ledger import unresolved_feed, user_ledger

_ROTATION = Argument(
    "id",
    metavar="ID",
    kind=ROTATIONS.id,
    help="name or hash of the old key, or id of the rotation",
)


async def rotate(context: ChangeContext) -> Plan[Any]:
    """Plan the start of a rotation. Raises CommandError and GatewayError."""
    session, now = context.session, context.now
    row = await context.row(KEYS, context.arguments.id)
    fresh = await context.gateway.keys.get(row.identity)
    name = context.arguments.name or successor_name(fresh, now)
    request = _rotation_request(context, name)
    workspace = None if row.workspace is None else row.workspace.id
    source = await read_source(session, fresh, workspace)
    at = plan_context(context, await context.workspace_names(default=True))
    return plan_rotation(source, request, at)


def _rotation_request(context: ChangeContext, name: str) -> RotateRequest:
    given: dict[str, Any] = {"name": name}
    for option in ("unused_for", "kept_for"):
        text = getattr(context.arguments, option)
        if text is not None:
            given[option] = _span(option, text)
    return validated(RotateRequest, given)


def _span(option: str, text: str) -> timedelta:
    with exits.reporting(ValueError, OverflowError, context=f"--{option.replace('_', '-')}: "):
        return parse_duration(text)


ROTATE = DeclaredChange(
    "rotate",
    "create a successor with the same limits and guardrail; see 'gwtui rotations'",
    rotate,
    (
        row_operand(KEYS),
        Argument("--name", help="name of the successor (default: the old name and the date)"),
        Argument(
            "--unused-for",
            help="how long the old key must be unused before it is disabled (default: 24h)",
        ),
        Argument(
            "--kept-for", help="how long it stays disabled before it is deleted (default: 7d)"
        ),
    ),
    creates=True,
    notes=(
        "Only the value of the successor is printed to stdout, after its guardrail was assigned.",
        "If a step fails, 'gwtui recovery list' names the successor. The old key stays enabled",
        "until 'gwtui rotations next' disables it; 'gwtui rotations list' shows when it is unused.",
    ),
)

CHANGES = (
    *declared_changes(
        KEYS,
        notes=(
            "The value is printed to stdout once. If it is lost, 'gwtui recovery recreate'",
            "replaces the key with a new one of the same settings.",
        ),
    ),
    ROTATE,
)


async def _next(context: ChangeContext) -> Plan[Any]:
    rows = await context.readings.value(ROTATIONS.feed(context.session.hub, Scope()))
    row = find(
        [row for row in rows if row.rotation.ended is None],
        context.arguments.id,
        "rotation",
        lambda row: _names(row.rotation),
    )
    status, at, gateway = row.status, plan_context(context), context.gateway
    forced = context.arguments.force and status.stage in {"in use", "unknown", "disabled"}
    match status.step:
        case "resolve" | "show":
            way = "in the dashboard" if status.step == "resolve" else "see gwtui recovery list"
            raise exits.CommandError(f"{status.message} Next: {status.next} ({way}).")
        case "assign":
            return await assignment_plan(gateway, row)
        case "disable" | "delete" if status.is_due(context.now) or forced:
            delete = status.step == "delete"
            return await retiring_plan(gateway, row, at, delete=delete)
    if forced and row.old is not None and not row.old.disabled:
        return await retiring_plan(gateway, row, at, delete=False)
    raise NothingToDoError(f"{status.message} Next: {status.next}.")


def _names(rotation: KeyRotation) -> Sequence[str | None]:
    return rotation.id, rotation.old_hash, rotation.old_name, rotation.new_hash, rotation.new_name


def _forget(arguments: argparse.Namespace) -> int:
    # Only the file of the rotations changes: nothing is sent.
    paths = Paths.of_user()
    file = RotationFile(paths.state / FILE_NAME)
    try:
        rotations = file.rotations(_gateway(arguments, paths))
        known = [row for row in rotations if row.ended is None]
        rotation = find(known, arguments.id, "rotation", _names)
        file.update(rotation.id, ended="forgotten", ended_at=SYSTEM_CLOCK.now())
    except OSError as error:
        raise exits.CommandError(f"{file.path}: {error.strerror or 'cannot be written'}") from None
    narrate(f"the rotation of {rotation.old_name} was abandoned; both keys stay as they are")
    return exits.OK


def _gateway(arguments: argparse.Namespace, paths: Paths) -> str:
    if arguments.demo:
        return BASE_URL
    return find_profile(arguments, paths).base_url


ROTATION_CHANGES = (
    DeclaredChange(
        "next",
        "take the next step that is due: assign the guardrail, disable or delete the old key",
        _next,
        (_ROTATION,),
        force="that the step is not due yet, and that the old key may still be in use",
    ),
    Command("forget", "abandon a rotation; both keys stay as they are", _forget, (_ROTATION, DEMO)),
)


# New keys whose value was not stored -------------------------------------------------------------

_NEW_KEY = Argument("id", metavar="ID", help="hash or name of the key, or id of the write")
_GONE = "the key is gone"


def _find_new_key(rows: Iterable[LedgerEntry], text: str) -> LedgerEntry:
    unstored = [entry for entry in rows if entry.is_unacknowledged]
    return find(unstored, text, "unacknowledged key", _names_of_key)


def _names_of_key(entry: LedgerEntry) -> Sequence[str | None]:
    name = entry.summary.get("name")
    return entry.id, entry.identity, name if isinstance(name, str) else None


async def _recreate(context: ChangeContext) -> Plan[Any]:
    rows = await context.readings.value(unresolved_feed(context.session.hub))
    lost = _find_new_key(rows, context.arguments.id)
    at = plan_context(context, await context.workspace_names(default=True))
    try:
        return await replacement_plan(context.gateway, lost, at)
    except ValidationError:
        raise exits.CommandError(
            "the audit log has too little information to create the key again"
        ) from None
    except NotFoundError:
        ledger = context.session.executor.ledger
        await asyncio.to_thread(ledger.resolve, lost, context.now, _GONE)
        raise exits.CommandError(f"{_GONE}: create another with 'gwtui keys create'") from None


def _acknowledge(arguments: argparse.Namespace) -> int:
    # Only the ledger changes: nothing is sent.
    ledger = user_ledger()
    try:
        entry = _find_new_key(ledger.open_writes(), arguments.id)
        ledger.acknowledge(entry.id, SYSTEM_CLOCK.now())
    except OSError as error:
        raise exits.CommandError(
            f"{ledger.path}: {error.strerror or 'cannot be written'}"
        ) from None
    narrate("acknowledged: the value of the key is stored")
    return exits.OK


RECOVERY_CHANGES = (
    DeclaredChange(
        "recreate",
        "delete a new key whose value was lost, and create it again with the same settings",
        _recreate,
        (_NEW_KEY,),
        creates=True,
        notes=("Only the value of the new key is printed to stdout.",),
    ),
    Command(
        "acknowledge",
        "confirm that the value of a new key is stored",
        _acknowledge,
        (_NEW_KEY, DEMO),
    ),
)
