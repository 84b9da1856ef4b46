"""The plan of each write to API keys.

Extended contract section 1: PATCH carries only what changes, null clears, ``expires_at`` is fixed
at creation, a move to another workspace takes guardrail assignments along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.actions.keys import RESOURCE
from gwtui.actions.plan import Change, Plan, Undo, WayBack
from gwtui.actions.undo import known, put_back
from gwtui.actions.uses import Uses, key_uses
from gwtui.actions.wording import (
    DEFAULT_WORKSPACE,
    NAME_LIMIT,
    Names,
    Words,
    as_read,
    changes,
    first_values,
    known_fields,
    quoted,
    workspace_in_words,
)
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import (
    ApiKey,
    CreatedKey,
    CreateKeyRequest,
    ExternalUserRequest,
    UpdateKeyRequest,
    is_expired,
)
from gwtui.contract.request import RequestModel
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc

LABELS: Mapping[str, str] = {
    "name": "Name",
    "limit": "Spending limit",
    "limit_reset": "Limit resets",
    "expires_at": "Expires",
    "include_byok_in_limit": "BYOK counts to limit",
    "workspace_id": "Workspace",
    "creator_user_id": "Made for member",
    "external": "Outside user",
    "disabled": "State",
}
"""What people call the fields, the same in forms and plans."""

EDITABLE = ("name", "limit", "limit_reset", "include_byok_in_limit", "workspace_id")
"""Fields of a key that its form changes."""

EMPTY: Mapping[str, str] = {
    "limit": "no limit",
    "limit_reset": "never",
    "expires_at": "never",
    "workspace_id": DEFAULT_WORKSPACE,
}
"""What it means that a field has no value."""


def shown_name(key: ApiKey) -> str:
    """The key in a sentence: its name in quotes, else its masked form."""
    return quoted(key.name, key.label, key.hash)


def known_values(key: ApiKey) -> dict[str, Any]:
    """The editable fields as the gateway gave them; those it left out or garbled are missing."""
    return {name: getattr(key, name) for name in EDITABLE if name not in key.gaps}


def in_words(field: str, value: Any, now: datetime, workspaces: Names) -> str:
    """A field's value as people read it; None and an empty workspace say what they stand for."""
    if field == "workspace_id":
        return workspace_in_words(value, workspaces)
    if value is None:
        return EMPTY.get(field, "none")
    words = _WORDS.get(field)
    return safe_line(value, 200) if words is None else words(value, now, workspaces)


def _words(now: datetime, workspaces: Names) -> Words:
    return lambda field, value: in_words(field, value, now, workspaces)


def _reset_in_words(value: str, now: datetime, _names: Names) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, now)}"


def _moment_in_words(value: datetime, now: datetime, _names: Names) -> str:
    return f"{utc(value, seconds=bool(value.second))}, {relative(value, now)}"


def _outside_user(value: ExternalUserRequest) -> str:
    own = ", with a key of their own (kept as a hash)" if len(value.api_key) else ""
    return f"{safe_line(value.user, NAME_LIMIT)}{own}"


_WORDS: Mapping[str, Callable[[Any, datetime, Names], str]] = {
    "limit": lambda value, _now, _names: usd(value),
    "limit_reset": _reset_in_words,
    "expires_at": _moment_in_words,
    "disabled": lambda value, _now, _names: "disabled" if value else "enabled",
    "include_byok_in_limit": lambda value, _now, _names: "yes" if value else "no",
    "external": lambda value, _now, _names: _outside_user(value),
}


def plan_create(
    request: CreateKeyRequest,
    now: datetime,
    workspaces: Names | None = None,
    *,
    unsealed: str | None = None,
) -> Plan[CreatedKey]:
    """One POST /keys. ``unsealed`` says why the new value cannot be sealed on this machine."""
    names = workspaces or {}
    always = ("name", "limit", "limit_reset", "expires_at", "workspace_id")
    effects = ["The key works at once; its value is shown this once only."]
    if request.limit is None:
        effects.append("The key can spend without a limit.")
    if is_expired(request.expires_at, now):
        effects.append("Its expiry lies in the past: it will not work.")
    if unsealed is not None:
        effects.append(
            f"Its value cannot be sealed on this machine ({safe_line(unsealed, 200)}): if the "
            "connection or the terminal is lost before you have stored it, nobody can see it again."
        )
    return Plan(
        action="keys.create",
        title=f"Create key {quoted(request.name)}",
        resource=RESOURCE,
        identity=None,
        send=lambda client: client.keys.create(request),
        changes=first_values(request, LABELS, _words(now, names), always),
        effects=tuple(effects),
        summary=request.body(),
        identify=lambda created: created.data.hash if created.data is not None else None,
        undo=_delete_again,
    )


def _delete_again(created: CreatedKey) -> WayBack:
    """The way back from a creation."""
    identity = created.data.hash if created.data is not None else None

    async def way(client: GatewayClient, now: datetime) -> Plan[Any]:
        fresh = await client.keys.get(known(identity, "key"))
        return plan_delete(fresh, now, await key_uses(client, fresh, now))

    return way


def plan_update(
    fresh: ApiKey, request: UpdateKeyRequest, now: datetime, workspaces: Names | None = None
) -> Plan[ApiKey]:
    """One PATCH /keys/{hash} with the fields that ``request`` was given. ``fresh`` has a hash."""
    names = workspaces or {}
    return Plan(
        action="keys.edit",
        title=f"Change key {shown_name(fresh)}",
        resource=RESOURCE,
        identity=_hash(fresh),
        send=lambda client: client.keys.update(_hash(fresh), request),
        changes=_changes(fresh, request, now, names),
        effects=tuple(_update_effects(fresh, request)),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=_put_back(fresh, request, now, names),
    )


def _put_back(
    fresh: ApiKey, request: UpdateKeyRequest, now: datetime, names: Names
) -> Undo[ApiKey] | None:
    def plan(present: ApiKey, wanted: Mapping[str, Any], then: datetime) -> Plan[Any]:
        if "disabled" in wanted:
            return plan_set_disabled(present, wanted["disabled"], then)
        return plan_update(present, UpdateKeyRequest.model_validate(wanted), then, names)

    return put_back(
        fresh,
        request,
        LABELS,
        _words(now, names),
        read=lambda client: client.keys.get(_hash(fresh)),
        plan=plan,
    )


def plan_set_disabled(
    fresh: ApiKey, disabled: bool, now: datetime, uses: Uses = ()
) -> Plan[ApiKey]:
    """One PATCH /keys/{hash} that disables or enables. ``fresh`` has a hash.

    ``uses`` says what uses the key, as ``key_uses`` found it.
    """
    request = UpdateKeyRequest(disabled=disabled)
    if disabled:
        effects = ["Requests with this key are refused at once.", *_usage(fresh, now), *uses]
    else:
        effects = ["Requests with this key are accepted again at once."]
        if is_expired(fresh.expires_at, now):
            effects = [f"It expired {relative(fresh.expires_at, now)}: it stays refused."]
    return Plan(
        action="keys.toggle",
        title=f"{'Disable' if disabled else 'Enable'} key {shown_name(fresh)}",
        resource=RESOURCE,
        identity=_hash(fresh),
        send=lambda client: client.keys.update(_hash(fresh), request),
        changes=_changes(fresh, request, now, {}),
        effects=tuple(effects),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=_put_back(fresh, request, now, {}),
    )


def plan_delete(fresh: ApiKey, now: datetime, uses: Uses = ()) -> Plan[None]:
    """One DELETE /keys/{hash}. ``fresh`` has a hash; ``uses`` as for disabling."""
    return Plan(
        action="keys.delete",
        title=f"Delete key {shown_name(fresh)}",
        resource=RESOURCE,
        identity=_hash(fresh),
        send=lambda client: client.keys.delete(_hash(fresh)),
        effects=(
            "Requests with this key are refused at once.",
            "This cannot be undone; disabling can.",
            *_usage(fresh, now),
            *uses,
            *(
                [f"Its value looks like {safe_line(fresh.label, NAME_LIMIT)}."]
                if fresh.label
                else []
            ),
        ),
        danger="high",
        summary={"name": fresh.name, "label": fresh.label},
    )


def _hash(key: ApiKey) -> str:
    if not key.hash:
        raise ValueError("the gateway gave this key no hash: it cannot be changed")
    return key.hash


def _changes(
    fresh: ApiKey, request: RequestModel, now: datetime, names: Names
) -> tuple[Change, ...]:
    known = known_fields(fresh, request.model_fields_set)
    return changes(known, request, LABELS, _words(now, names))


def _update_effects(fresh: ApiKey, request: UpdateKeyRequest) -> list[str]:
    effects: list[str] = []
    given = request.model_fields_set
    if "limit" in given:
        if request.limit is None:
            effects.append("The key can spend without a limit.")
        else:
            effects += _limit_effects(fresh, request.limit, same_window="limit_reset" not in given)
    if "limit_reset" in given and request.limit_reset is None:
        effects.append("The limit no longer starts over: it counts all usage.")
    if "workspace_id" in given:
        effects.append("Guardrail assignments of the key move along.")
    return effects


def _limit_effects(fresh: ApiKey, limit: Decimal, *, same_window: bool) -> list[str]:
    if not same_window or fresh.limit is None or fresh.limit_remaining is None:
        return []
    used = fresh.limit - fresh.limit_remaining
    if used >= limit:
        return [f"{usd(used)} is used already: requests with this key are refused at once."]
    return [f"{usd(used)} is used already, {usd(limit - used)} will be left."]


def _usage(key: ApiKey, now: datetime) -> list[str]:
    """What the key did lately, so that nobody cuts off something alive unawares."""
    parts = [
        f"{usd(amount)} {when}"
        for amount, when in (
            (key.usage_daily, "today"),
            (key.usage_weekly, "this week"),
            (key.usage_monthly, "this month"),
        )
        if amount is not None
    ]
    lines = []
    if key.usage_monthly == 0 and not key.usage_weekly and not key.usage_daily:
        lines.append("Not used this month.")
    elif parts:
        lines.append(f"Used: {', '.join(parts)} (UTC).")
    if key.last_used_at is not None:
        lines.append(f"Last request {relative(key.last_used_at, now)}.")
    return lines
