"""What the embedded gateway holds on its first day: plain, immutable descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.budgets import BudgetInterval
from gwtui.contract.values import LimitReset, ProviderSort
from gwtui.embedded.simulator.usage import UsageProfile, UsageTotals
from gwtui.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SeedUser:
    """A member of the organization (extended contract section 4)."""

    id: str
    email: str
    first_name: str | None
    last_name: str | None
    role: str
    """``org:admin`` or ``org:member``."""


@dataclass(frozen=True, slots=True)
class SeedWorkspace:
    """A workspace with every field of the contract's workspace object, under the same names."""

    id: str
    name: str
    slug: str
    description: str | None
    created_at: datetime
    created_by: str | None
    updated_at: datetime | None
    is_default: bool
    """Whether operations without a workspace_id mean this one. Exactly one is."""
    default_guardrail_id: str
    default_image_model: str | None = None
    default_text_model: str | None = None
    default_provider_sort: ProviderSort | None = None
    io_logging_api_key_ids: tuple[int, ...] | None = None
    io_logging_sampling_rate: Decimal = Decimal(1)
    is_data_discount_logging_enabled: bool = True
    is_observability_broadcast_enabled: bool = False
    is_observability_io_logging_enabled: bool = False
    disabled_server_tools: tuple[str, ...] | None = None
    include_byok_in_budgets: bool = False


@dataclass(frozen=True, slots=True)
class SeedMember:
    """A user's place in a workspace; the role follows the one in the organization."""

    id: str
    workspace_id: str
    user_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SeedBudget:
    """What a workspace may spend in an interval, in USD."""

    id: str
    workspace_id: str
    interval: BudgetInterval
    limit_usd: Decimal
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class SeedGuardrail:
    """A guardrail and whom it binds."""

    id: str
    workspace_id: str
    name: str
    settings: Mapping[str, Any]
    """Fields of the contract's guardrail object; lists as tuples. The others are null."""
    created_at: datetime
    updated_at: datetime | None
    key_hashes: tuple[str, ...]
    user_ids: tuple[str, ...]
    assigned_by: str
    assigned_at: datetime


@dataclass(frozen=True, slots=True)
class SeedCredential:
    """A BYOK credential without a key."""

    id: str
    workspace_id: str
    provider: str
    label: str
    created_at: datetime
    terms: Mapping[str, Any]
    """Fields of the contract's credential object; lists as tuples. The others have defaults."""


@dataclass(frozen=True, slots=True)
class UsageCounters:
    """A key's usage in USD as of the world's moment: all time and per UTC period."""

    all_time: UsageTotals = field(default_factory=UsageTotals)
    daily: UsageTotals = field(default_factory=UsageTotals)
    weekly: UsageTotals = field(default_factory=UsageTotals)
    monthly: UsageTotals = field(default_factory=UsageTotals)


@dataclass(frozen=True, slots=True)
class SeedKey:
    """An API key as it stands on the world's first moment.

    It has no key text: nobody can use it.
    """

    hash: str
    """64 lower-case hex digits."""
    name: str
    label: str
    """Masked form, such as ``gw-v1-3fa...9c1``."""
    workspace_id: str
    creator_user_id: str | None
    created_at: datetime
    updated_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None
    """None for a key that was never used."""
    disabled: bool
    limit: Decimal | None
    limit_reset: LimitReset | None
    include_byok_in_limit: bool
    external_user: str | None
    usage: UsageCounters
    profile: UsageProfile
    """What the key's clients ask for, past and future; quiet for a never-used key."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """Credits that were bought."""

    moment: datetime
    usd: Decimal


@dataclass(frozen=True, slots=True)
class World:
    """Everything that a new database is seeded with, as of ``moment``.

    It is the same for the same arguments.
    """

    seed: int
    moment: datetime
    users: tuple[SeedUser, ...]
    workspaces: tuple[SeedWorkspace, ...]
    members: tuple[SeedMember, ...]
    """Of every workspace but the default one, whose members are all users."""
    budgets: tuple[SeedBudget, ...]
    guardrails: tuple[SeedGuardrail, ...]
    credentials: tuple[SeedCredential, ...]
    keys: tuple[SeedKey, ...]
    """Oldest first."""
    purchases: tuple[Purchase, ...]
    retired_usage: Decimal
    """USD used by keys that were deleted before ``moment``; part of the account's total usage."""

    @property
    def default_workspace(self) -> SeedWorkspace:
        """The workspace that is meant when none is named."""
        return next(workspace for workspace in self.workspaces if workspace.is_default)

    @property
    def total_credits(self) -> Decimal:
        """USD purchased."""
        return sum((purchase.usd for purchase in self.purchases), Decimal(0))

    @property
    def total_usage(self) -> Decimal:
        """USD used up to ``moment``, by living and by deleted keys. BYOK usage costs no credits."""
        return self.retired_usage + sum((key.usage.all_time.usd for key in self.keys), Decimal(0))
