"""The fields of an API key: contract "API key"; extended contract section 1."""

from __future__ import annotations

from datetime import datetime

from gwtui.contract.keys import ExternalUserRequest
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.plan_text import NAME_LIMIT
from gwtui.domain.money import usd
from gwtui.domain.resets import describe_reset
from gwtui.domain.safe_text import safe_line
from gwtui.domain.times import relative, utc


def _reset(value: str, context: PlanContext) -> str:
    return f"{safe_line(value, 40)}, next {describe_reset(value, context.now)}"


def _moment(value: datetime, context: PlanContext) -> str:
    return f"{utc(value, seconds=bool(value.second))}, {relative(value, context.now)}"


def _outside_user(value: ExternalUserRequest, _context: PlanContext) -> str:
    own = ", with a key of their own (kept as a hash)" if len(value.api_key) else ""
    return f"{safe_line(value.user, NAME_LIMIT)}{own}"


FIELDS = Fields(
    Field("name", "Name"),
    Field("limit", "Spending limit", lambda value, _context: usd(value), "no limit"),
    Field("limit_reset", "Limit resets", _reset, "never"),
    Field("expires_at", "Expires", _moment, "never", editable=False),
    Field("include_byok_in_limit", "BYOK counts to limit", fields.yes_no),
    fields.workspace_field(editable=True),
    Field("creator_user_id", "Made for member", editable=False),
    Field("external", "Outside user", _outside_user, editable=False),
    Field("disabled", "State", fields.disabled_enabled, editable=False),
)
