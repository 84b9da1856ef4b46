"""Plans for a key rotation: its start, and each step until the old key is deleted.

A rotation creates a successor with the same limits and guardrail (see sections 1 and 5 of the
extended contract). The plan names what is not copied: the value, past spending, and the key of an
external user, of which the gateway keeps only a hash. This module also reads the data for the
plans.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, JsonValue, ValidationError

from gwtui.client.errors import NotSentError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, Guardrail
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, KeyName
from gwtui.contract.request import RequestModel, problems
from gwtui.contract.scalars import timestamp_text
from gwtui.crud import cells, fields
from gwtui.crud.cells import moment_column, text_column
from gwtui.crud.fields import PlanContext
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Change, Plan, bundle
from gwtui.crud.plan_text import identity_of, quoted
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, Tone
from gwtui.domain.keys import (
    KEPT_FOR,
    UNUSED_FOR,
    KeyFigures,
    KeyRotation,
    RotationStage,
    key_state,
)
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import age
from gwtui.local.rotations import FILE_NAME, RotationFile
from gwtui.resources import assignments
from gwtui.resources.assignments import plan_assign
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS
from gwtui.resources.keys.writes import WRITES as KEYS
from gwtui.resources.uses import items_or_none
from gwtui.watch.feeds.rotations import RotationRow, rotations_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session
    from gwtui.watch.feeds.rotations import RotationRow


_TONES: Mapping[RotationStage, Tone] = {
    "begun": "accent",
    "unresolved": "bad",
    "successor gone": "bad",
    "unbound": "bad",
    "undelivered": "warn",
    "unknown": "warn",
    "in use": "accent",
    "unused": "good",
    "disabled": "good",
}
_ORDER: tuple[RotationStage, ...] = (
    "begun",
    "unresolved",
    "successor gone",
    "unbound",
    "undelivered",
    "unknown",
    "unused",
    "disabled",
    "in use",
    "done",
    "not made",
    "forgotten",
)
"""The stages in sort order: those that need an action first."""


def stage_cell(row: RotationRow) -> Cell:
    """The stage as a word."""
    return Cell(row.status.stage, _TONES.get(row.status.stage, "muted"))


COLUMNS: tuple[Column[RotationRow], ...] = (
    text_column(
        "name",
        "Old key",
        lambda row: row.rotation.old_name,
        18,
        help="key being replaced",
        grow=True,
    ),
    Column(
        "stage",
        "Stage",
        lambda row, _now: stage_cell(row),
        lambda row, _now: _ORDER.index(row.status.stage),
        14,
        help="most urgent first: unresolved, unbound, undelivered, unused, in use, done",
        export=lambda row, _now: row.status.stage,
        kind="number",
    ),
    text_column("next", "Next", lambda row: row.status.next, 32, help="what to do next"),
    text_column(
        "successor", "Successor", lambda row: row.rotation.new_name, 20, help="key taking over"
    ),
    moment_column("due", "Due", lambda row: row.status.due, 10, "when the next step is due"),
    moment_column("began", "Began", lambda row: row.rotation.began, 10, "when the rotation began"),
    text_column(
        "message", "Message", lambda row: row.status.message, 40, help="details of the stage"
    ),
    text_column(
        "old_hash", "Old hash", lambda row: row.rotation.old_hash, 16, help="hash of the old key"
    ),
    text_column(
        "new_hash",
        "New hash",
        lambda row: row.rotation.new_hash,
        16,
        help="hash of the successor",
    ),
    text_column("id", "Id", lambda row: row.rotation.id, 16, help="plan that began the rotation"),
)


def _course(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    rotation = row.rotation
    not_yet = Cell("not yet", "muted")
    return [
        cells.moment_row("began", rotation.began, now),
        cells.moment_row("successor", rotation.made_at, now, not_yet),
        cells.moment_row("figures since", row.status.since or rotation.figures_at, now, not_yet),
        DetailRow(
            "unused after", Cell(age(rotation.unused_for.total_seconds())), "of the same figures"
        ),
        cells.moment_row("disabled", rotation.disabled_at, now, not_yet),
        DetailRow(
            "kept disabled", Cell(age(rotation.kept_for.total_seconds())), "before it is deleted"
        ),
    ]


def _key(key: ApiKey | None, name: str, identity: str | None, now: datetime) -> list[DetailRow]:
    rows = [DetailRow("name", cells.text(name)), DetailRow("hash", cells.text(identity))]
    if key is None:
        return [*rows, DetailRow("state", cells.NOTHING, "could not be read, or is gone")]
    state = key_state(key, now)
    return [
        *rows,
        DetailRow("state", Cell(state.word, state.tone), state.why),
        DetailRow("usage", cells.usd(key.usage), "all time"),
        DetailRow("BYOK usage", cells.usd(key.byok_usage), "all time"),
        cells.moment_row("last used", key.last_used_at, now),
    ]


def _new(row: RotationRow, now: datetime) -> Sequence[DetailRow]:
    rotation = row.rotation
    guardrail = DetailRow("guardrail", cells.text(rotation.guardrail or "none of its own"))
    return [*_key(row.new, rotation.new_name, rotation.new_hash, now), guardrail]


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp_text(moment)


def _raw(row: RotationRow) -> dict[str, Any]:
    rotation, status = row.rotation, row.status
    return {
        "id": rotation.id,
        "stage": status.stage,
        "message": status.message,
        "next": status.next,
        "step": status.step or None,
        "due": _moment(status.due),
        "old": {"hash": rotation.old_hash, "name": rotation.old_name},
        "successor": {"hash": rotation.new_hash, "name": rotation.new_name},
        "guardrail": rotation.guardrail,
        "began": _moment(rotation.began),
        "figures_since": _moment(status.since or rotation.figures_at),
        "disabled_since": _moment(rotation.disabled_at),
        "unused_for_seconds": int(rotation.unused_for.total_seconds()),
        "kept_for_seconds": int(rotation.kept_for.total_seconds()),
    }


ROTATIONS: ResourceSpec[RotationRow] = ResourceSpec(
    id="rotations",
    title="Rotations",
    singular="rotation",
    identity=lambda row: row.rotation.id,
    name=lambda row: cells.text(row.rotation.old_name or row.rotation.old_hash).text,
    columns=COLUMNS,
    sections=(
        Section(
            "Stage",
            lambda row, now: [
                DetailRow("stage", stage_cell(row)),
                DetailRow("message", cells.prose(row.status.message)),
                DetailRow("next", cells.prose(row.status.next)),
                cells.moment_row("due", row.status.due, now, Cell("immediately", "muted")),
                cells.hint(
                    "{rotations.next} does the next step, {rotations.old} goes to the old key, "
                    "{rotations.new} to the successor"
                ),
            ],
        ),
        Section("Course", _course),
        Section(
            "Old key",
            lambda row, now: _key(row.old, row.rotation.old_name, row.rotation.old_hash, now),
        ),
        Section("Successor", _new),
    ),
    feed=rotations_feed,
    raw=_raw,
    empty="No key is being rotated from this machine: "
    "press {keys.rotate} in the list of keys to rotate one.",
    default_sort=("stage", False),
    facets={
        "stage": lambda row, _now: row.status.stage,
        "step": lambda row, _now: row.status.step,
    },
)


_DATED = re.compile(r"\s+\d{4}-\d{2}-\d{2}\Z")
"""Matches the date that an earlier rotation added to the name."""
_COPIED = ("limit", "limit_reset", "include_byok_in_limit")
_SHORTEST, _LONGEST = timedelta(minutes=10), timedelta(days=365)

Span = Annotated[timedelta, Field(ge=_SHORTEST, le=_LONGEST)]


class RotateRequest(RequestModel):
    """The form model of a key rotation."""

    name: KeyName = Field(description="name of the successor")
    unused_for: Span = Field(
        UNUSED_FOR, description="the old key counts as unused after this long without usage"
    )
    kept_for: Span = Field(
        KEPT_FOR, description="how long the old key stays disabled before it is deleted"
    )


def rotate_form(name: str) -> FormSpec:
    """Return the rotation form; all other fields are copied from the old key."""
    return FormSpec(
        title="Rotate key: a successor with the same limits",
        model=RotateRequest,
        fields=(
            fields.Field("name", "Successor"),
            fields.Field("unused_for", "Unused for", placeholder="such as 24 h"),
            fields.Field("kept_for", "Keep disabled", placeholder="such as 7 days"),
        ),
        submit="Show the plan",
        sends="shows the plan",
        initial={"name": name, "unused_for": UNUSED_FOR, "kept_for": KEPT_FOR},
        unknown_help="The successor may have been made. If so, :rotations says what to do.",
    )


def successor_name(old: ApiKey, now: datetime) -> str:
    """Return the name of the old key with the date of its rotation: "ci 2026-11-23"."""
    return f"{_DATED.sub('', old.name or '') or 'key'} {now:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class RotationSource:
    """The old key, read afresh, and the data needed to rotate it.

    ``guardrail`` is its directly assigned guardrail; ``guardrail_known`` is False if that could not
    be read. ``people`` are the user ids of the organization, None if unreadable. Rotations of
    ``gateway`` are recorded in ``file``. ``workspace_id`` is the workspace that the key was listed
    in. ``under_way`` are the hashes of keys in an active rotation.
    """

    old: ApiKey
    file: RotationFile
    gateway: str
    workspace_id: str | None = None
    guardrail: Guardrail | None = None
    guardrail_known: bool = True
    people: frozenset[str] | None = None
    under_way: frozenset[str] = frozenset()


def plan_rotation(source: RotationSource, asked: RotateRequest, at: PlanContext) -> Plan[Any]:
    """Plan one POST for the successor, and one for its guardrail if the old key has one.

    The rotation is recorded right before the first request, which is not sent if that fails. Raises
    ValueError for a key without a hash.
    """
    old = source.old
    request, wrong = _successor(source, asked, at)
    plan = KEYS.plan_create(request, at)
    rotation = KeyRotation(
        id=plan.id,
        gateway=source.gateway,
        began=at.now,
        old_hash=identity_of(old.hash, "key", "hash"),
        old_name=old.name or old.label or "",
        new_name=asked.name,
        unused_for=asked.unused_for,
        kept_for=asked.kept_for,
        guardrail=None if source.guardrail is None else source.guardrail.id,
        figures=KeyFigures.of(old),
        figures_at=at.now,
    )
    successor = _Successor()
    create = replace(
        _remembered(plan, rotation, source.file, successor),
        title=f"Create a successor of key {KEYS.name(old)}",
        effects=(*_effects(source, request, asked), *plan.effects),
        obstacles=(*plan.obstacles, *_obstacles(source, request, wrong)),
        undo=None,
    )
    if source.guardrail is None:
        return create
    return bundle(
        f"Rotate key {KEYS.name(old)}",
        [create, _assign(source.guardrail, asked.name, successor)],
        action=create.action,
        resource=create.resource,
        identity=None,
    )


def _successor(
    source: RotationSource, asked: RotateRequest, at: PlanContext
) -> tuple[CreateKeyRequest, tuple[str, ...]]:
    old = source.old
    given: dict[str, Any] = {"name": asked.name}
    given |= {name: value for name in _COPIED if (value := getattr(old, name)) is not None}
    expires = _expiry(old, at.now)
    if expires is not None:
        given["expires_at"] = expires
    if workspace := old.workspace_id or source.workspace_id:
        given["workspace_id"] = workspace
    if _is_there(source):
        given["creator_user_id"] = old.creator_user_id
    if old.external_user:
        given["external"] = {"user": old.external_user}
    try:
        return CreateKeyRequest.model_validate(given), ()
    except ValidationError as error:
        wrong = tuple({problem.field.partition(".")[0]: None for problem in problems(error)})
    return CreateKeyRequest(name=asked.name), wrong


def _expiry(old: ApiKey, now: datetime) -> datetime | None:
    if old.expires_at is None or old.created_at is None:
        return None
    try:
        return (now + (old.expires_at - old.created_at)).replace(microsecond=0)
    except OverflowError:
        return None


def _is_there(source: RotationSource) -> bool:
    owner = source.old.creator_user_id
    return owner is not None and source.people is not None and owner in source.people


def _obstacles(
    source: RotationSource, request: CreateKeyRequest, wrong: tuple[str, ...]
) -> Iterator[str]:
    old = source.old
    garbled = [name for name in (*_COPIED, "expires_at") if name in old.gaps]
    if garbled:
        yield f"The gateway did not give its {', '.join(garbled)}: no successor can be like it."
    if wrong:
        yield f"No request may set its {', '.join(wrong)} as it is: no successor can be like it."
    elif old.expires_at is not None and request.expires_at is None:
        yield "It expires, but for how long it was made is not known."
    if not source.guardrail_known:
        yield (
            "Which guardrail it holds could not be read: "
            "the successor might be restricted less than it is."
        )
    if old.hash in source.under_way:
        yield "It is being rotated already: see the list of rotations."


def _effects(
    source: RotationSource, request: CreateKeyRequest, asked: RotateRequest
) -> Iterator[str]:
    old = source.old
    yield (
        "The old key keeps working. Once it has been unused for "
        f"{age(asked.unused_for.total_seconds())}, you can disable it, and delete it "
        f"{age(asked.kept_for.total_seconds())} later. You confirm each step."
    )
    yield "Not copied: its value and its usage; the limit starts at zero."
    if request.expires_at is not None:
        yield "Its lifetime is that of the old key, counted from now."
    elif "expires_at" not in old.raw:
        yield "The gateway does not say whether the old key expires; the successor never does."
    if old.creator_user_id and not _is_there(source):
        who = safe_line(old.creator_user_id, 60)
        reason = "is not in the organization" if source.people is not None else "was not found"
        yield (
            f"Not copied: its creator {who}, who {reason}. The successor is created by the key of "
            "this connection; guardrails and budgets of that member do not apply to it."
        )
    if old.external_user:
        yield "Not copied: the external user's key, of which the gateway keeps only a hash."
    if old.disabled:
        yield "The old key is disabled; the successor works."
    if source.guardrail is not None:
        yield "Its value will be shown after the guardrail has been assigned."


def _remembered(
    plan: Plan[CreatedKey], rotation: KeyRotation, file: RotationFile, successor: _Successor
) -> Plan[CreatedKey]:
    send = plan.send

    async def begin_and_send(client: GatewayClient) -> CreatedKey:
        try:
            await asyncio.to_thread(file.add, rotation)
        except OSError as error:
            why = error.strerror or "it cannot be written"
            raise NotSentError(f"Nothing was sent: the rotations in {file.path}: {why}") from None
        created = await send(client)
        new_hash = None if created.data is None else created.data.hash
        if new_hash:
            successor.record(new_hash)
            # The ledger has the new hash as well, so a failed write loses nothing.
            with contextlib.suppress(OSError):
                await asyncio.to_thread(
                    file.update, rotation.id, new_hash=new_hash, made_at=rotation.began
                )
        return created

    return replace(plan, send=begin_and_send)


class _Successor:
    """Body of the request that assigns the guardrail, and the successor's guardrail before it.

    Both are empty until ``record`` is called, once the successor exists.
    """

    def __init__(self) -> None:
        self.body: dict[str, JsonValue] = {"key_hashes": []}
        self.before: dict[str, JsonValue] = {}

    def record(self, new_hash: str) -> None:
        self.body["key_hashes"] = [new_hash]
        self.before[new_hash] = None


def _assign(guardrail: Guardrail, name: str, successor: _Successor) -> Plan[int]:
    # The ledger's intent of this request is written after the key exists, so it names the key.
    identity = guardrail.id or ""

    async def send(client: GatewayClient) -> int:
        if not successor.before:
            raise NotSentError("Nothing was sent: the gateway did not say the successor's hash.")
        request = AssignKeysRequest.model_validate(successor.body)
        return await client.guardrails.assign_keys(identity, request)

    return Plan(
        action="guardrails.assign_keys",
        title=f"Assign guardrail {GUARDRAILS.name(guardrail)} to the successor",
        resource="assignments",
        identity=identity,
        send=send,
        changes=(Change("Guardrail", None, GUARDRAILS.name(guardrail)),),
        effects=(f"Guardrail {GUARDRAILS.name(guardrail)} binds {quoted(name)}, too.",),
        summary=successor.body,
        before=successor.before,
    )


async def assignment_plan(client: GatewayClient, row: RotationRow) -> Plan[Any]:
    """Return the plan that assigns the old key's guardrail to the new key. Raises GatewayError."""
    rotation = row.rotation
    guardrail = await client.guardrails.get(rotation.guardrail or "")
    current = await items_or_none(client.guardrails.key_assignments(None))
    names = {guardrail.id or "": guardrail.name or ""}
    called = {rotation.new_hash or "": quoted(rotation.new_name, rotation.new_hash)}
    return plan_assign(assignments.KEYS, guardrail, called, current, names)


async def retiring_plan(
    client: GatewayClient, row: RotationRow, at: PlanContext, *, delete: bool
) -> Plan[Any]:
    """Return the plan that disables the old key, or deletes it with ``delete``.

    The key is read again for it. Raises GatewayError.
    """
    fresh: ApiKey = await KEYS.read(client, row.rotation.old_hash)
    related = await KEYS.read_related(client, fresh, at)
    if delete:
        return KEYS.plan_delete(fresh, at, related)
    return KEYS.plan_switch(fresh, True, at, related)


async def read_source(
    session: Session, fresh: ApiKey, workspace_id: str | None = None
) -> RotationSource:
    """Read the data for rotating ``fresh``, a key that was just read.

    Raises GatewayError if the key's guardrail is gone or cannot be read.
    """
    gateway = session.gateway
    held = await items_or_none(gateway.guardrails.key_assignments(None))
    identity = next(
        (assignment.guardrail_id for assignment in held or () if assignment.key_hash == fresh.hash),
        None,
    )
    people = await items_or_none(gateway.organization.members())
    file, place = rotation_file(session), session.connection.base_url
    begun = await asyncio.to_thread(file.rotations, place)
    return RotationSource(
        fresh,
        file,
        place,
        workspace_id,
        None if identity is None else await gateway.guardrails.get(identity),
        held is not None,
        None if people is None else frozenset(person.id for person in people if person.id),
        frozenset(rotation.old_hash for rotation in begun if rotation.ended is None),
    )


def rotation_file(session: Session) -> RotationFile:
    """Return the file of the rotations, beside the session's ledger."""
    return RotationFile(session.executor.ledger.path.with_name(FILE_NAME))
