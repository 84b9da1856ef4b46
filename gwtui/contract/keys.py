"""API keys.

See "API key" and "POST /keys" in the contract and section 1 of the extended contract.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel, SecretText
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp, Usd, UtcDateTime, Uuid, Whole
from gwtui.contract.values import LimitReset

KeyName = Annotated[str, Field(min_length=1)]


class ApiKey(ResponseModel):
    """An API key without its secret. Amounts are USD."""

    hash: str | None = wire("identifier hash of the key")
    name: str | None = wire("display name")
    label: str | None = wire("masked form of the key")
    disabled: bool | None = wire("whether requests with the key are refused")
    limit: Number | None = wire("spending limit", unit="USD", nullable=True)
    limit_remaining: Number | None = wire("remaining limit", unit="USD", nullable=True)
    limit_reset: str | None = wire(
        "reset schedule of the limit", nullable=True, known=("daily", "weekly", "monthly")
    )
    include_byok_in_limit: bool | None = wire("whether BYOK usage counts against the limit")
    usage: Number | None = wire("usage, all time", unit="USD")
    usage_daily: Number | None = wire("usage this UTC day", unit="USD")
    usage_weekly: Number | None = wire("usage this UTC week (from Monday)", unit="USD")
    usage_monthly: Number | None = wire("usage this UTC month", unit="USD")
    byok_usage: Number | None = wire("BYOK usage, all time", unit="USD")
    byok_usage_daily: Number | None = wire("BYOK usage this UTC day", unit="USD")
    byok_usage_weekly: Number | None = wire("BYOK usage this UTC week", unit="USD")
    byok_usage_monthly: Number | None = wire("BYOK usage this UTC month", unit="USD")
    created_at: Timestamp | None = wire("creation time")
    updated_at: Timestamp | None = wire("last change, null until the first", nullable=True)
    expires_at: Timestamp | None = wire("when the key stops working", nullable=True, optional=True)
    last_used_at: Timestamp | None = wire("last request", nullable=True, optional=True)
    creator_user_id: str | None = wire("user id of the creator", nullable=True)
    workspace_id: str | None = wire("workspace that the key belongs to")
    external_user: str | None = wire("external user of the key", nullable=True, optional=True)


class CreatedKey(ResponseModel):
    """The response to a creation. ``key`` is the secret; the gateway returns it only once."""

    data: ApiKey | None = wire("the new key's description")
    key: SecretStr | None = wire("the full key, shown once")

    @model_validator(mode="after")
    def _forget_raw(self) -> Self:
        # The raw response contains the secret in clear text, so it is dropped.
        self._hold({name: value for name, value in self.raw.items() if name != "key"})
        return self


MIN_EXTERNAL_KEY = 32
"""The minimum length of the key of an external user."""


def _long_enough(value: SecretStr) -> SecretStr:
    if len(value) < MIN_EXTERNAL_KEY:
        message = f"must have at least {MIN_EXTERNAL_KEY} characters"
        raise PydanticCustomError("external_key_short", "{message}", {"message": message})
    return value


ExternalKey = Annotated[
    SecretText,
    AfterValidator(_long_enough),
    WithJsonSchema({"type": "string", "minLength": MIN_EXTERNAL_KEY, "writeOnly": True}),
]


def _plain_identifier(value: str) -> str:
    if "\0" in value:
        raise PydanticCustomError("external_user", "must not contain NUL")
    if value != value.strip():
        raise PydanticCustomError("external_user", "must not begin or end with a space")
    return value


ExternalUserId = Annotated[
    str, Field(min_length=1, max_length=512), AfterValidator(_plain_identifier)
]


class ExternalUserRequest(RequestModel):
    """A user of another system who owns a key. See section 13 of the extended contract."""

    user: ExternalUserId = Field(description="your own ID for the end user")
    api_key: ExternalKey = Field(
        SecretStr(""),
        description="the end user's API key in your own system; stored only as a hash",
    )


class CreateKeyRequest(RequestModel):
    """Body of POST /keys. See "POST /keys" in the contract."""

    name: KeyName = Field(description="what the key is for")
    limit: Usd | None = Field(
        None, description="spending limit; none when empty", json_schema_extra={"x-unit": "USD"}
    )
    limit_reset: LimitReset | None = Field(
        None, description="when the limit resets, at 00:00 UTC; empty: never"
    )
    expires_at: UtcDateTime | None = Field(
        None, description="when the key stops working, in UTC; cannot be changed later"
    )
    include_byok_in_limit: bool = Field(
        False, description="whether BYOK usage counts against the limit"
    )
    creator_user_id: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="organization member who counts as the creator"
    )
    workspace_id: Uuid = Field(
        "", description="workspace of the key; the default workspace if empty"
    )
    external: ExternalUserRequest | None = Field(
        None, description="end user of your own system who will use the key"
    )


class UpdateKeyRequest(RequestModel):
    """Body of PATCH /keys/{hash}. Contains only changed fields; null clears a field.

    See section 1 of the extended contract.
    """

    name: KeyName = Field("", description="what the key is for")
    disabled: bool = Field(False, description="refuse requests with the key")
    limit: Usd | None = Field(
        None, description="spending limit; none when empty", json_schema_extra={"x-unit": "USD"}
    )
    limit_reset: LimitReset | None = Field(
        None, description="when the limit resets, at 00:00 UTC; empty: never"
    )
    include_byok_in_limit: bool = Field(
        False, description="whether BYOK usage counts against the limit"
    )
    workspace_id: Uuid = Field("", description="move the key to this workspace")

    @model_validator(mode="after")
    def _something_changes(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("no_update", "No update fields provided")
        return self


def limit_used_share(limit: Decimal | None, remaining: Decimal | None) -> Decimal | None:
    """The used share of a limit: 0 to 1, above 1 if overdrawn.

    1 if the limit is 0; None if there is no limit, or if the limit or the rest is unknown.
    """
    if limit is None or remaining is None:
        return None
    if limit == 0:
        return Decimal(1)
    return (limit - remaining) / limit


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Whether a key with this expiry has expired at ``now``."""
    return expires_at is not None and expires_at <= now


def is_active(key: ApiKey, now: datetime) -> bool:
    """Whether a key works at ``now``: neither disabled nor expired.

    An exhausted limit does not count: the key works again after the reset.
    """
    return key.disabled is False and not is_expired(key.expires_at, now)


BUDGET_SCOPES = (
    "workspace_default_member",
    "workspace_default_key",
    "member",
    "api_key",
    "workspace",
    "key_limit",
)
"""Scopes of the budgets that apply to a key, in the order of the response."""


class BudgetLayer(ResponseModel):
    """A budget that applies to the calling key. Amounts are USD."""

    scope: str | None = wire("where the budget comes from", known=BUDGET_SCOPES)
    limit_usd: Number | None = wire("what may be spent", unit="USD")
    spend_usd: Number | None = wire("spent in the current period", unit="USD")
    remaining_usd: Number | None = wire("limit minus spend; refused at 0 and below", unit="USD")
    reset_interval: str | None = wire(
        "reset schedule of the budget", nullable=True, known=("daily", "weekly", "monthly")
    )
    resets_at: Timestamp | None = wire("next start", nullable=True)
    include_byok: bool | None = wire("whether BYOK usage counts")
    budget_id: str | None = wire("workspace scope only", nullable=True)
    guardrail_id: str | None = wire("guardrail that sets the budget", nullable=True)


class FreeRequests(ResponseModel):
    """Today's requests to free model variants."""

    limit: Whole | None = wire("allowed today")
    used: Whole | None = wire("made today")
    remaining: Whole | None = wire("left today")


class LegacyRateLimit(ResponseModel):
    """An obsolete field without meaning: ``requests`` is always -1."""

    requests: Whole | None = wire("-1")
    interval: str | None = wire("interval")
    note: str | None = wire("why not to use it")


class CurrentKey(ResponseModel):
    """The rights and limits of the calling key (GET /key). Amounts are USD."""

    label: str | None = wire("masked form of the key")
    limit: Number | None = wire("spending limit", unit="USD", nullable=True)
    limit_remaining: Number | None = wire("remaining limit", unit="USD", nullable=True)
    limit_reset: str | None = wire("reset schedule of the limit", nullable=True)
    include_byok_in_limit: bool | None = wire("whether BYOK usage counts against the limit")
    expires_at: Timestamp | None = wire("when the key stops working", nullable=True, optional=True)
    creator_user_id: str | None = wire("user id of the creator", nullable=True)
    usage: Number | None = wire("usage, all time", unit="USD")
    usage_daily: Number | None = wire("usage this UTC day", unit="USD")
    usage_weekly: Number | None = wire("usage this UTC week", unit="USD")
    usage_monthly: Number | None = wire("usage this UTC month", unit="USD")
    byok_usage: Number | None = wire("BYOK usage, all time", unit="USD")
    byok_usage_daily: Number | None = wire("BYOK usage this UTC day", unit="USD")
    byok_usage_weekly: Number | None = wire("BYOK usage this UTC week", unit="USD")
    byok_usage_monthly: Number | None = wire("BYOK usage this UTC month", unit="USD")
    is_free_tier: bool | None = wire("whether the account never bought credits")
    is_management_key: bool | None = wire("whether management operations are allowed")
    is_provisioning_key: bool | None = wire("older name of is_management_key", optional=True)
    organization_id: str | None = wire("organization of the key", nullable=True, optional=True)
    workspace_id: str | None = wire("null when none resolves", nullable=True, optional=True)
    allowed_data_regions: list[str] | None = wire(
        "where data may go", optional=True, known=("global", "europe", "us")
    )
    free_model_daily_requests: FreeRequests | None = wire("free variants today", optional=True)
    budgets: list[BudgetLayer] | None = wire("every budget that binds the key", optional=True)
    effective_budget: BudgetLayer | None = wire(
        "first exhausted budget, else the tightest", nullable=True, optional=True
    )
    rate_limit: LegacyRateLimit | None = wire("legacy", optional=True)
