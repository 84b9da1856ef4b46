"""The writes of API keys.

PATCH sends only changes, null clears a field, ``expires_at`` is fixed at creation, and a key that
moves to another workspace keeps its guardrail. See section 1 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import (
    ApiKey,
    CreateKeyRequest,
    ExternalUserRequest,
    UpdateKeyRequest,
    is_expired,
)
from gwtui.crud.fields import (
    Field,
    Fields,
    PlanContext,
    PreviewContext,
    limit_field,
    reset_field,
    workspace_field,
)
from gwtui.crud.plan import Plan, bundle
from gwtui.crud.plan_text import DISABLE_INSTEAD, NAME_LIMIT, quoted
from gwtui.crud.resource import Cell
from gwtui.crud.writes import Create, Delete, Switch, Update, Writes
from gwtui.domain.keys import is_used_up
from gwtui.domain.money import usd
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import RESET_PERIODS, local_preview, relative, utc
from gwtui.local.ledger import LedgerEntry
from gwtui.resources.uses import Uses, key_uses, statement_of_use
from gwtui.resources.workspaces import PERIODS

MOMENTS = "such as 2026-12-31 18:00, 30d or next friday"


def _moment(value: datetime, context: PlanContext) -> str:
    return f"{utc(value, seconds=bool(value.second))}, {relative(value, context.now)}"


def _outside_user(value: ExternalUserRequest, _context: PlanContext) -> str:
    end_user_key = ", with a key of their own (kept as a hash)" if len(value.api_key) else ""
    return f"{safe_line(value.user, NAME_LIMIT)}{end_user_key}"


def _limit(value: Decimal | None, values: Mapping[str, Any], _context: PreviewContext) -> Cell:
    if value is None:
        return Cell("no limit: the key can spend any amount", "warn")
    period = RESET_PERIODS.get(values.get("limit_reset") or "", "in all, over the key's whole life")
    return Cell(f"{usd(value)} {period}")


def _expiry(value: datetime | None, _values: Mapping[str, Any], context: PreviewContext) -> Cell:
    if value is None:
        return Cell("cannot be changed later; empty: never expires", "muted")
    now = context.now()
    text = f"{relative(value, now)} · {utc(value)} · here {local_preview(value, context.zone)}"
    if is_expired(value, now):
        return Cell(f"{text}: in the past, the key would not work", "warn")
    return Cell(text)


FIELDS = Fields(
    Field("name", "Name"),
    limit_field(
        "limit",
        "Spending limit",
        "no limit",
        placeholder="such as 25 or 1,000.50; empty for none",
        preview=_limit,
    ),
    reset_field("limit_reset", "Limit resets", "limit", "limit"),
    Field("include_byok_in_limit", "BYOK in limit"),
    Field(
        "expires_at",
        "Expires",
        _moment,
        "never",
        editable=False,
        placeholder=MOMENTS,
        preview=_expiry,
        fixed_because="fixed at creation: the gateway cannot change it",
    ),
    workspace_field(editable=True, help="workspace that the key belongs to"),
    Field("creator_user_id", "Creator", editable=False),
    Field("external", "External user", _outside_user, editable=False),
    Field(
        "external.user",
        "External user",
        editable=False,
        help="your own ID for the end user of this key",
        placeholder="none",
    ),
    Field(
        "external.api_key",
        "External key",
        editable=False,
        help="the end user's API key in your own system; stored only as a hash",
        placeholder="32 characters or more, hidden",
    ),
    Field("disabled", "State", words=("enabled", "disabled"), editable=False),
)


async def _uses(client: GatewayClient, fresh: ApiKey, context: PlanContext) -> Uses:
    return await key_uses(client, fresh, context.now)


def _create_effects(request: CreateKeyRequest, context: PlanContext) -> Iterator[str]:
    if is_expired(request.expires_at, context.now):
        yield "The value of the key will be shown only once."
    else:
        yield "The key works immediately; its value is shown only once."


def _create_warnings(request: CreateKeyRequest, context: PlanContext) -> Iterator[str]:
    if is_expired(request.expires_at, context.now):
        expiry = utc(request.expires_at)
        yield f"The expiry date is in the past ({expiry}): the key will never work."
    if request.limit is None:
        yield "The key can spend without a limit."


def _update_effects(
    fresh: ApiKey, request: UpdateKeyRequest, _context: PlanContext
) -> Iterator[str]:
    given = request.model_fields_set
    if "limit" in given and request.limit is None and request.limit_reset is not None:
        yield "“Limit resets” has no effect without a limit."
    if "limit_reset" in given and request.limit_reset is None:
        yield "The limit will no longer reset: all that the key has ever spent counts against it."
    limit = request.limit if "limit" in given else fresh.limit
    if limit is not None and not given.isdisjoint(("limit", *_COUNTING)):
        yield _limit_effect(fresh, request, limit)
    if "workspace_id" in given:
        yield "The key keeps its guardrail, if it has one."
        yield "The default guardrail and the budgets of the new workspace will apply to it."


def _update_warnings(
    fresh: ApiKey, request: UpdateKeyRequest, _context: PlanContext
) -> Iterator[str]:
    if "limit" in request.model_fields_set and request.limit is None and fresh.limit is None:
        yield "The key can spend without a limit."


_COUNTING = ("limit_reset", "include_byok_in_limit")
"""Fields that decide what counts against the limit."""


def _limit_effect(fresh: ApiKey, request: UpdateKeyRequest, limit: Decimal) -> str:
    used = _spent(fresh, request)
    if used is None:
        return (
            "The gateway does not report how much has been spent against the limit: "
            "new requests may be refused immediately."
        )
    byok = ", BYOK included" if _after(fresh, request, "include_byok_in_limit") else ""
    spent = f"{usd(used)} has already been spent{_period(fresh, request)}{byok}"
    if used >= limit:
        return f"{spent}, so new requests will be refused."
    return f"{spent}; {usd(limit - used)} will remain."


def _after(fresh: ApiKey, request: UpdateKeyRequest, name: str) -> Any:
    return getattr(request if name in request.model_fields_set else fresh, name)


def _period(fresh: ApiKey, request: UpdateKeyRequest) -> str:
    # The current window of the limit, such as " this month"; empty if it is unknown.
    if "limit_reset" in fresh.gaps and "limit_reset" not in request.model_fields_set:
        return ""
    period = PERIODS.get(_after(fresh, request, "limit_reset") or "lifetime")
    return f" {period}" if period else ""


def _spent(fresh: ApiKey, request: UpdateKeyRequest) -> Decimal | None:
    # The amount that counts against the new limit; None if it is unknown.
    unchanged = request.model_fields_set.isdisjoint(_COUNTING)
    if unchanged and fresh.limit is not None and fresh.limit_remaining is not None:
        return fresh.limit - fresh.limit_remaining
    reset, with_byok = (_after(fresh, request, name) for name in _COUNTING)
    if reset not in (None, *RESET_PERIODS):
        return None
    window = "usage" if reset is None else f"usage_{reset}"
    names = (window, f"byok_{window}") if with_byok else (window,)
    amounts: list[Decimal | None] = [getattr(fresh, name) for name in names]
    return None if None in amounts else sum(filter(None, amounts), Decimal(0))


def _switch_effects(
    fresh: ApiKey, disabled: bool, uses: Uses | None, context: PlanContext
) -> Iterator[str]:
    if disabled:
        yield _cut_off(fresh, context.now)
        yield from uses or (statement_of_use(fresh, context.now),)
    elif is_expired(fresh.expires_at, context.now):
        past = relative(fresh.expires_at, context.now)
        yield f"The key expired {past}, so requests will still be refused."
    elif is_used_up(fresh):
        yield "The limit is used up, so requests will still be refused."
    else:
        yield "Requests will be accepted again immediately."


def _delete_effects(fresh: ApiKey, uses: Uses | None, context: PlanContext) -> Iterator[str]:
    yield _cut_off(fresh, context.now)
    if not fresh.disabled:
        yield DISABLE_INSTEAD
    yield from uses or (statement_of_use(fresh, context.now),)
    if fresh.label:
        yield f"Masked key: {safe_line(fresh.label, NAME_LIMIT)}"


def _cut_off(key: ApiKey, now: datetime) -> str:
    if key.disabled:
        return "Requests are already refused because the key is disabled."
    if is_expired(key.expires_at, now):
        past = relative(key.expires_at, now)
        return f"Requests are already refused because the key expired {past}."
    return "New requests will be refused immediately."


def _made(created: Any) -> ApiKey | None:
    key: ApiKey | None = created.data
    return key


async def replacement_plan(
    client: GatewayClient, lost: LedgerEntry, context: PlanContext
) -> Plan[Any]:
    """Plan to delete a key whose value was never stored, and to create it again as requested.

    ``lost`` is the ledger entry of its creation. Raises NotFoundError if the key is gone, another
    GatewayError if it cannot be read, ValidationError if the ledger entry is incomplete.
    """
    request = CreateKeyRequest.model_validate(dict(lost.summary))
    fresh: ApiKey = await WRITES.read(client, lost.identity or "")
    related = await WRITES.read_related(client, fresh, context)
    return bundle(
        f"Replace key {WRITES.name(fresh)} with a new one",
        [WRITES.plan_delete(fresh, context, related), WRITES.plan_create(request, context)],
        action="keys.create",
        resource="keys",
        identity=lost.identity,
    )


WRITES: Writes[ApiKey] = Writes(
    resource="keys",
    noun="key",
    model=ApiKey,
    fields=FIELDS,
    identity=lambda key: key.hash,
    of_row=lambda row: row.key,
    service=lambda client: client.keys,
    operand="hash, unique beginning of a hash, or name",
    identifier="hash",
    called=("name", "label", "hash"),
    feeds=("keys",),
    uses=_uses,
    read_related=_uses,
    create=Create(
        request=CreateKeyRequest,
        title=lambda request: f"Create key {quoted(request.name)}",
        effects=_create_effects,
        warnings=_create_warnings,
        always=("name", "limit", "limit_reset", "expires_at", "workspace_id"),
        help="create a key and print only its value on stdout, once",
        heading="New API key",
        unknown_help="The key may have been created. If so, nobody has seen its value.",
        resource=_made,
        reveals=True,
    ),
    update=Update(request=UpdateKeyRequest, effects=_update_effects, warnings=_update_warnings),
    switch=Switch(
        effects=_switch_effects,
        disable_help="disable keys: their requests are refused",
        enable_help="enable disabled keys",
    ),
    delete=Delete(effects=_delete_effects, kept=("name", "label")),
    implied=("limit", "limit_reset", "expires_at"),
)
