"""The guardrails of the first day, whom they bind, and the workspace's default one where it is set.

One of each kind that an operator meets: for money, for models, for providers, for retention, for
content, one that leaves no endpoint at all, and one that nobody uses. Caps leave room above what
the simulated keys use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.content_filters import BUILTIN_LABELS, PII_SLUGS
from gwtui.embedded.simulator.catalog import Catalog
from gwtui.embedded.simulator.chance import between, hex_text, uuid_text
from gwtui.embedded.simulator.people import WorkspaceSlug
from gwtui.embedded.simulator.world import SeedGuardrail, SeedUser, SeedWorkspace


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    workspace: WorkspaceSlug
    name: str = ""
    """Empty for the workspace's default guardrail."""
    age: float
    changed: float | None = None
    """Days ago, None for never."""
    keys: tuple[str, ...] = ()
    """Names."""
    members: tuple[int, ...] = ()
    """Indexes of people; one person is bound by one guardrail at most."""
    settings: Mapping[str, Any] = field(default_factory=dict)


def _builtin(slug: str, action: str, **others: str) -> dict[str, str]:
    label = {"label": BUILTIN_LABELS[slug]} if slug in BUILTIN_LABELS else {}
    return {"slug": slug, "action": action, **others, **label}


def _custom(pattern: str, action: str, label: str | None = None) -> dict[str, str | None]:
    return {"pattern": pattern, "action": action, "label": label}


_NO_RETENTION = {
    "enforce_zdr_vendor_a": True,
    "enforce_zdr_vendor_b": True,
    "enforce_zdr_vendor_c": True,
    "enforce_zdr_other": True,
}
_INJECTION = "regex-prompt-injection"

_ROWS = (
    _Row(
        workspace="default",
        name="No secrets, no cards",
        age=210.3,
        changed=12.1,
        keys=("slack-bot", "ci-review-bot", "terraform-smoke-test"),
        settings={
            "description": "What people paste into chats by accident.",
            "content_filter_builtins": (
                _builtin("credit-card", "block"),
                _builtin("ssn", "block"),
                _builtin("email", "redact"),
            ),
            "content_filters": (
                _custom(r"\b(?:ghp|gho|ghs)_[A-Za-z0-9]{36}\b", "redact", "[TOKEN]"),
                _custom(r"-----BEGIN [A-Z ]{1,40}PRIVATE KEY-----", "block"),
            ),
        },
    ),
    _Row(workspace="default", name="Draft", age=1.2),
    _Row(
        workspace="production",
        age=180.4,
        changed=33.2,
        settings={
            "ignored_providers": ("paperboat",),
            "content_filter_builtins": (_builtin(_INJECTION, "flag", scan_scope="user_only"),),
        },
    ),
    _Row(
        workspace="production",
        name="Customer data leaves no trace",
        age=176.0,
        changed=20.7,
        keys=("support-assistant", "returns-photo-check", "invoice-reader"),
        settings={
            "description": "Zero retention everywhere; personal data is redacted before it leaves.",
            **_NO_RETENTION,
            "content_filter_builtins": tuple(_builtin(slug, "redact") for slug in PII_SLUGS),
        },
    ),
    _Row(
        workspace="production",
        name="Approved models",
        age=120.5,
        keys=("checkout-fraud-screen", "search-ranking", "product-descriptions"),
        settings={
            "allowed_models": (
                "northwind/atlas-large",
                "northwind/atlas-mini",
                "meridian/lens-flash",
                "tessera/vector-3",
                "tessera/rank-2",
            ),
            "ignored_providers": ("paperboat", "quasar"),
        },
    ),
    _Row(
        workspace="production",
        name="Partners: 20 USD a day",
        age=66.0,
        changed=64.1,
        keys=("partner:acorn-travel", "partner:birch-insurance"),
        settings={
            "limit_usd": Decimal(20),
            "reset_interval": "daily",
            "include_byok_in_budgets": True,
            "allowed_providers": ("northwind", "tidepool"),
        },
    ),
    _Row(
        workspace="research",
        name="Notebooks: 40 USD a week",
        age=95.6,
        keys=("kenji notebook", "ngozi notebook"),
        settings={"limit_usd": Decimal(40), "reset_interval": "weekly"},
    ),
    _Row(
        workspace="research",
        name="Red team: flag, never block",
        age=40.2,
        keys=("red-team",),
        settings={
            "content_filter_builtins": (_builtin(_INJECTION, "flag", scan_scope="all_messages"),),
            "content_filters": (
                _custom(r"(?i)\bproject\s+(?:osprey|lantern)\b", "flag", "codename"),
            ),
        },
    ),
    _Row(
        workspace="research",
        name="No previews",
        age=21.9,
        changed=2.0,
        members=(3, 6, 7),
        settings={
            "description": "Previews change under a running evaluation.",
            "ignored_models": ("osprey-labs/hatchling-preview", "tessera/mosaic-tiny-preview"),
        },
    ),
    _Row(
        workspace="data-pipelines",
        name="Archive stays in Europe",
        age=150.8,
        keys=("archive-embeddings", "call-transcripts", "contracts-extraction"),
        settings={
            "allowed_providers": ("bitforge", "fjordcloud", "helioscope"),
            "enforce_zdr": True,
            **_NO_RETENTION,
        },
    ),
    _Row(
        workspace="data-pipelines",
        name="Paperboat pilot",
        age=9.3,
        settings={
            "description": "Nothing of this is served there yet, so no request could pass.",
            "allowed_models": ("helioscope/scribe-2",),
            "allowed_providers": ("paperboat",),
        },
    ),
)

_MODEL_LISTS = ("allowed_models", "ignored_models")


def build_guardrails(
    seed: int,
    now: datetime,
    users: Sequence[SeedUser],
    workspaces: Sequence[SeedWorkspace],
    catalog: Catalog,
) -> tuple[SeedGuardrail, ...]:
    """The guardrails, oldest first."""
    made = [
        _guardrail(seed, now, row, workspace, users, catalog)
        for row in _ROWS
        for workspace in workspaces
        if workspace.slug == row.workspace
    ]
    return tuple(sorted(made, key=lambda guardrail: guardrail.created_at))


def _guardrail(
    seed: int,
    now: datetime,
    row: _Row,
    workspace: SeedWorkspace,
    users: Sequence[SeedUser],
    catalog: Catalog,
) -> SeedGuardrail:
    is_default = not row.name
    settings = {
        name: tuple(catalog.canonical_slug(slug) for slug in value)
        if name in _MODEL_LISTS
        else value
        for name, value in row.settings.items()
    }
    born = timedelta(days=row.age, seconds=int(between(0, 9000, seed, "rail", row.name)))
    created_at = (now - born).replace(microsecond=0)
    return SeedGuardrail(
        id=workspace.default_guardrail_id if is_default else uuid_text(seed, "rail", row.name),
        workspace_id=workspace.id,
        name=f"Workspace {workspace.id} Default" if is_default else row.name,
        settings=settings,
        created_at=created_at,
        updated_at=None
        if row.changed is None
        else (now - timedelta(days=row.changed)).replace(microsecond=0),
        key_hashes=tuple(hex_text(64, seed, "key", name) for name in row.keys),
        user_ids=tuple(users[index].id for index in row.members),
        assigned_by=users[0].id,
        assigned_at=created_at + timedelta(minutes=7),
    )
