"""Who uses a resource that is about to be changed or deleted, as sentences for the plan.

They are read from the gateway with a short timeout each; a part that fails or takes too long is
reported as unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeVar

from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.byok import ByokCredential
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import WorkspaceMember
from gwtui.contract.usage import ActivityRow
from gwtui.contract.workspaces import Budget
from gwtui.crud.plan_text import count, quoted, several
from gwtui.domain.activity import day_of
from gwtui.domain.keys import is_never_used
from gwtui.domain.money import usd
from gwtui.domain.times import relative

T = TypeVar("T")

PATIENCE = 1.5
"""Timeout of each part, in seconds."""
DAYS = 7
"""Number of completed UTC days of activity that are included."""

Uses = tuple[str, ...]
"""Sentences, one for each kind of use."""


async def value_or_none(reading: Awaitable[T], patience: float = PATIENCE) -> T | None:
    """Return the value of a read; None if it fails or times out."""
    try:
        async with asyncio.timeout(patience):
            return await reading
    except (GatewayError, TimeoutError):
        return None


async def items_or_none(reading: Awaitable[Listing[T]]) -> tuple[T, ...] | None:
    """Return the items of a list; None if it fails or times out."""
    listed = await value_or_none(reading)
    return None if listed is None else listed.items


def unread_sentence(*parts: str) -> Uses:
    """Return a sentence that names the parts that could not be read; empty without parts."""
    text = f"{several(parts)} could not be read."
    return (f"{text[:1].upper()}{text[1:]}",) if parts else ()


# A key ------------------------------------------------------------------------------------------


async def key_uses(client: GatewayClient, key: ApiKey, now: datetime) -> Uses:
    """Read the recent use of a key, its guardrail, and the credentials that name it."""
    activity, held, credentials = await asyncio.gather(
        items_or_none(client.activity.list(api_key_hash=key.hash)),
        value_or_none(_guardrail_on(client, key)),
        items_or_none(client.byok.list(workspace_id=key.workspace_id)),
    )
    lines = [statement_of_use(key, now, activity)]
    missing: list[str] = []
    if activity is None:
        missing.append("its activity")
    if held is None:
        missing.append("the guardrail on it")
    elif held:
        lines.append(f"Guardrail {held} is assigned to it.")
    if credentials is None:
        missing.append("the BYOK credentials that list it")
    else:
        lines += _naming(credentials, key)
    return (*lines, *unread_sentence(*missing))


async def _guardrail_on(client: GatewayClient, key: ApiKey) -> str:
    assigned = (await client.guardrails.key_assignments(None)).items
    identity = next(
        (assignment.guardrail_id for assignment in assigned if assignment.key_hash == key.hash),
        None,
    )
    if not identity:
        return ""
    try:
        guardrail = await client.guardrails.get(identity)
    except GatewayError:
        return identity
    return quoted(guardrail.name, identity)


def statement_of_use(
    key: ApiKey, now: datetime, activity: Sequence[ActivityRow] | None = None
) -> str:
    """Describe the recent use of a key in one statement.

    ``activity`` has the last completed UTC days, None if it was not read. Spending on provider keys
    counts as use.
    """
    requests = _recent_requests(activity or (), now)
    last = _last_use(key, now)
    if not last and not requests:
        if is_never_used(key):
            return "Never used."
        statements = [_no_use(key)]
    else:
        statements = [*last, *_spent_this_month(key)]
        if requests:
            statements.append(f"{count(requests, 'request')} in the {DAYS} days before today")
    text = "; ".join(statements)
    text = f"{text[:1].upper()}{text[1:]}."
    if activity is not None and not requests:
        text += f" No requests in the {DAYS} days before today."
    return text


def _recent_requests(activity: Sequence[ActivityRow], now: datetime) -> int:
    first = now.astimezone(UTC).date() - timedelta(days=DAYS)
    days = ((day_of(row), row.requests or 0) for row in activity)
    return sum(requests for day, requests in days if day is not None and day >= first)


def _last_use(key: ApiKey, now: datetime) -> list[str]:
    if key.last_used_at is not None:
        return [f"last request {relative(key.last_used_at, now)}"]
    for when, credits, byok in (
        ("today", key.usage_daily, key.byok_usage_daily),
        ("this week", key.usage_weekly, key.byok_usage_weekly),
        ("this month", key.usage_monthly, key.byok_usage_monthly),
        ("in the past", key.usage, key.byok_usage),
    ):
        if credits or byok:
            return [f"used {when}"]
    return []


def _spent_this_month(key: ApiKey) -> list[str]:
    spent = amounts(key.usage_monthly, key.byok_usage_monthly)
    return [f"spent {spent} this month (UTC)"] if spent else []


def amounts(credits: Decimal | None, byok: Decimal | None) -> str:
    """Return the spending in credits and on provider keys; "" if there is none."""
    parts = ((credits, "in credits"), (byok, "on provider keys"))
    return " and ".join(f"{usd(amount)} {where}" for amount, where in parts if amount)


def _no_use(key: ApiKey) -> str:
    if key.usage_monthly == 0:
        return "not used this month"
    return "the gateway does not report the usage of this key"


def _naming(credentials: Sequence[ByokCredential], key: ApiKey) -> list[str]:
    naming = [
        credential
        for credential in credentials
        if key.hash in (credential.allowed_api_key_hashes or ())
    ]
    if not naming:
        return []
    names = several(
        [quoted(credential.name, credential.label, credential.id) for credential in naming]
    )
    noun, verb = ("Credential", "lists") if len(naming) == 1 else ("Credentials", "list")
    return [f"BYOK {noun.lower()} {names} {verb} it as allowed."]


# A credential -----------------------------------------------------------------------------------


def _restrictions(credential: ByokCredential) -> dict[str, list[str] | None]:
    return {
        "key": credential.allowed_api_key_hashes,
        "member": credential.allowed_user_ids,
        "model": credential.allowed_models,
    }


def can_be_used(credential: ByokCredential) -> bool:
    """Return whether the restrictions of a credential allow any request; None allows all.

    Whether the credential is disabled does not count.
    """
    return [] not in _restrictions(credential).values()


def credential_uses(credential: ByokCredential) -> Uses:
    """Describe which requests can use a credential, as sentences for a plan."""
    lists = _restrictions(credential)
    empty = [f"“Usable for {noun}s”" for noun, allowed in lists.items() if allowed == []]
    if empty:
        verb, what = ("is", "an empty list") if len(empty) == 1 else ("are", "empty lists")
        return (f"Because {several(empty)} {verb} {what}, no request can use the credential.",)
    if credential.disabled:
        return ("No request uses it now: it is disabled.",)
    parts = [count(len(allowed), noun) for noun, allowed in lists.items() if allowed]
    if parts:
        return (f"Its use is restricted to {several(parts)}.",)
    return ("Every request in its workspace can use it.",)


async def people_names(client: GatewayClient, _rows: object = None) -> dict[str, str]:
    """Read user id -> name or email address; empty if they cannot be read.

    The rows are ignored; ``Attachment.names`` passes them.
    """
    people = await items_or_none(client.organization.members())
    return {person.id or "": person.full_name or person.email or "" for person in people or ()}


# A workspace ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkspaceContents:
    """The contents of a workspace; None for unreadable parts."""

    keys: Sequence[ApiKey] | None = None
    budgets: Sequence[Budget] | None = None
    guardrails: Sequence[Guardrail] | None = None
    members: Sequence[WorkspaceMember] | None = None
    credentials: Sequence[ByokCredential] | None = None


async def workspace_contents(client: GatewayClient, identity: str) -> WorkspaceContents:
    """Read the contents of a workspace."""
    keys, budgets, guardrails, members, credentials = await asyncio.gather(
        items_or_none(client.keys.list(workspace_id=identity)),
        items_or_none(client.workspaces.budgets(identity)),
        items_or_none(client.guardrails.list(workspace_id=identity)),
        items_or_none(client.workspaces.members(identity)),
        items_or_none(client.byok.list(workspace_id=identity)),
    )
    inside = None
    if credentials is not None:
        # Credentials that are usable everywhere are listed in every workspace.
        inside = [credential for credential in credentials if credential.workspace_id == identity]
    return WorkspaceContents(keys, budgets, guardrails, members, inside)


def workspace_uses(contents: WorkspaceContents, now: datetime) -> Uses:
    """Describe the contents of a workspace, as sentences for a plan."""
    parts = {
        "key": contents.keys,
        "budget": contents.budgets,
        "guardrail": contents.guardrails,
        "BYOK credential": contents.credentials,
        "member": contents.members,
    }
    held = [count(len(items), noun) for noun, items in parts.items() if items]
    if contents.keys:
        idle = sum(not is_active(key, now) for key in contents.keys)
        held[0] += f" ({idle} disabled or expired)" if idle else ""
    missing = [f"its {noun}s" for noun, items in parts.items() if items is None]
    lines = (f"The workspace contains {several(held)}.",) if held else ()
    return (*lines, *unread_sentence(*missing))


_ONE = {"them": "it", "their": "its", "s": ""}
_MANY = {"them": "them", "their": "their", "s": "s"}


def workspace_losses(contents: WorkspaceContents) -> Uses:
    """Describe what happens to the contents of a deleted workspace, as sentences for a plan."""
    fates = (
        ("budget", contents.budgets, "will be deleted"),
        ("guardrail", contents.guardrails, "will be deleted"),
        (
            "BYOK credential",
            contents.credentials,
            "will become unusable, but the gateway keeps {their} provider key{s}. To erase "
            "{them}, cancel this and delete the credential{s} first",
        ),
        ("member", contents.members, "will lose access"),
        (
            "disabled or expired key",
            contents.keys,
            "will be deleted: move {them} first to keep {them}",
        ),
    )
    lines = (
        f"The {noun}s could not be read. If there are any, they {fate.format(**_MANY)}."
        if items is None
        else f"{count(len(items), noun)} {fate.format(**(_ONE if len(items) == 1 else _MANY))}."
        for noun, items, fate in fates
        if items is None or items
    )
    return tuple(lines) or ("The workspace is empty.",)


def budget_uses(keys: Sequence[ApiKey] | None) -> Uses:
    """Describe what the keys of a workspace have spent, as sentences for a plan of its budgets."""
    if keys is None:
        return unread_sentence("the spending of the keys")
    if not keys:
        return ("The workspace has no keys.",)
    noun = count(len(keys), "key")
    lines = [f"In credits, the workspace's {noun} spent {_by_period(keys, 'usage')} (UTC)."]
    if any(key.byok_usage for key in keys):
        lines.append(f"On provider keys (BYOK): {_by_period(keys, 'byok_usage')}.")
    return tuple(lines)


def _by_period(keys: Sequence[ApiKey], usage: str) -> str:
    return several(
        [
            f"{usd(sum((getattr(key, name) or Decimal(0) for key in keys), Decimal(0)))} {period}"
            for name, period in (
                (f"{usage}_daily", "today"),
                (f"{usage}_weekly", "this week"),
                (f"{usage}_monthly", "this month"),
                (usage, "in all"),
            )
        ]
    )


# A guardrail ------------------------------------------------------------------------------------


async def guardrail_bindings(
    client: GatewayClient, identity: str
) -> tuple[Sequence[KeyAssignment] | None, Sequence[MemberAssignment] | None]:
    """Read the keys and the members that a guardrail is assigned to; None if unreadable."""
    keys, members = await asyncio.gather(
        items_or_none(client.guardrails.key_assignments(identity)),
        items_or_none(client.guardrails.member_assignments(identity)),
    )
    return keys, members
