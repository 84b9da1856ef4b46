"""The fields and forms of an API key: contract "API key"; extended contract section 1.

Bounds and choices come from the request models; here is what a field is called and how it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.keys import (
    ApiKey,
    CreateKeyRequest,
    ExternalUserRequest,
    UpdateKeyRequest,
    is_expired,
)
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.form import Facts, FormContext, FormField, FormSpec, SecretField
from gwtui.crud.plan_text import NAME_LIMIT, quoted
from gwtui.crud.resource import Cell
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import local_preview, relative, utc

_PERIODS = {"daily": "each UTC day", "weekly": "each UTC week", "monthly": "each UTC month"}
MOMENTS = "2026-12-31 18:00, 30d or next friday"


def _reset_text(value: str, context: PlanContext) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, context.now)}"


def _moment(value: datetime, context: PlanContext) -> str:
    return f"{utc(value, seconds=bool(value.second))}, {relative(value, context.now)}"


def _outside_user(value: ExternalUserRequest, _context: PlanContext) -> str:
    own = ", with a key of their own (kept as a hash)" if len(value.api_key) else ""
    return f"{safe_line(value.user, NAME_LIMIT)}{own}"


FIELDS = Fields(
    Field("name", "Name"),
    fields.limit_field("limit", "Spending limit", "no limit"),
    Field("limit_reset", "Limit resets", _reset_text, "never"),
    Field("expires_at", "Expires", _moment, "never", editable=False),
    Field("include_byok_in_limit", "BYOK counts to limit", fields.yes_no),
    fields.workspace_field(editable=True),
    Field("creator_user_id", "Made for member", editable=False),
    Field("external", "Outside user", _outside_user, editable=False),
    Field("disabled", "State", fields.disabled_enabled, editable=False),
)


def create_form(context: FormContext) -> FormSpec:
    """The form of a new key, in the workspace that the list is narrowed to."""
    return FormSpec(
        title="New API key",
        model=CreateKeyRequest,
        fields=(
            _field("name", "text"),
            *_SHARED,
            _field("expires_at", "datetime", placeholder=MOMENTS, preview=_expiry),
            _field("workspace_id", "workspace", help="the workspace that the key belongs to"),
            _field("creator_user_id", "text"),
            FormField(
                "external.user",
                FIELDS.labels["external"],
                "text",
                help="user of another system that the key is made for",
                placeholder="an identifier of your own",
            ),
            SecretField(
                "external.api_key",
                "Outside user's key",
                help="the user's own key in that system, if any; the gateway keeps a hash of it",
                placeholder="32 characters or more, hidden",
            ),
        ),
        submit="Create key",
        initial=context.initial_workspace,
        unknown_help="The key may have been created. If so, nobody has seen its value.",
    )


def edit_form(key: ApiKey, context: FormContext) -> FormSpec:
    """The form of an existing key, filled from ``key``."""
    expires = (
        UNKNOWN
        if key.expires_at is None and key.gaps.get("expires_at")
        else FIELDS.format("expires_at", key.expires_at, PlanContext(context.now))
    )
    return FormSpec(
        title=f"Edit key {quoted(key.name, key.label, key.hash)}",
        model=UpdateKeyRequest,
        fields=(
            _field("name", "text"),
            *_SHARED,
            FormField(
                "expires_at",
                FIELDS.labels["expires_at"],
                "datetime",
                fixed=(expires, "fixed at creation: the gateway cannot change it"),
            ),
            _field("workspace_id", "workspace", help="another one moves the key there"),
        ),
        submit="Review changes",
        initial=FIELDS.known(key),
        partial=True,
        unknown_help="The change may have been made or not. Look at the key before you try again.",
    )


def _limit(value: Decimal | None, values: Mapping[str, Any], _facts: Facts) -> Cell:
    if value is None:
        return Cell("no limit: the key can spend without a bound", "warn")
    period = _PERIODS.get(values.get("limit_reset") or "", "in all, over the key's whole life")
    return Cell(f"{usd(value)} {period}")


def _reset(value: str | None, values: Mapping[str, Any], facts: Facts) -> Cell:
    if values.get("limit") is None:
        return Cell("matters only with a spending limit", "muted")
    if value is None:
        return Cell("the limit never starts over")
    return Cell(f"next reset {describe_reset(value, facts.now())}")


def _expiry(value: datetime | None, _values: Mapping[str, Any], facts: Facts) -> Cell:
    if value is None:
        return Cell("never expires; cannot be changed later", "muted")
    now = facts.now()
    text = f"{relative(value, now)} · {utc(value)} · here {local_preview(value, facts.zone)}"
    if is_expired(value, now):
        return Cell(f"{text}: already past, the key would not work", "warn")
    return Cell(text)


def _field(name: str, kind: Any, **more: Any) -> FormField:
    return FormField(name, FIELDS.labels[name], kind, empty=FIELDS.empty(name), **more)


_SHARED = (
    _field("limit", "usd", placeholder="such as 25 or 1,000.50; empty for none", preview=_limit),
    _field("limit_reset", "choice", preview=_reset),
    _field("include_byok_in_limit", "switch"),
)
"""The fields that creation and change have in common."""
