"""Guardrails with their assignments, as rows of lists."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints
from gwtui.watch.feeds.guardrails import Bindings, Bound, GuardrailRow
from resource_samples import NOW, WORKSPACE_ID, wire_time, workspace

GUARDRAIL_ID = "3b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d13"
DEFAULT_ID = "4b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d14"
SPACE = workspace(default_guardrail_id=DEFAULT_ID)


def body(**changes: Any) -> dict[str, Any]:
    results = {
        "id": GUARDRAIL_ID,
        "name": "Only approved",
        "workspace_id": WORKSPACE_ID,
        "description": "What support may use",
        "allowed_models": ["a/b", "c/d", "e/f"],
        "ignored_models": None,
        "allowed_providers": None,
        "ignored_providers": ["slow-house"],
        "limit_usd": Decimal(100),
        "reset_interval": "weekly",
        "include_byok_in_budgets": False,
        "enforce_zdr_vendor_a": True,
        "enforce_zdr_vendor_b": False,
        "enforce_zdr_vendor_c": None,
        "enforce_zdr_other": None,
        "enforce_zdr": True,
        "content_filter_builtins": [
            {"slug": "email", "action": "redact", "label": "[EMAIL]"},
            {"slug": "regex-prompt-injection", "action": "flag", "scan_scope": "user_only"},
        ],
        "content_filters": [{"pattern": "gw-[0-9]+", "action": "block", "label": None}],
        "created_at": wire_time(NOW - timedelta(days=10)),
        "updated_at": None,
    }
    results.update(changes)
    return {name: value for name, value in results.items() if value is not ...}


def row(
    *, dialect: Dialect = GENERIC, bound: Bound | None = None, exists: bool = True, **changes: Any
) -> GuardrailRow:
    return GuardrailRow(Guardrail.model_validate(body(**changes)), SPACE, bound, exists, dialect)


def on_key(name: str = "ci", guardrail: str = GUARDRAIL_ID) -> KeyAssignment:
    return KeyAssignment.model_validate(
        {
            "id": f"id-{name}",
            "guardrail_id": guardrail,
            "key_hash": "a" * 64,
            "key_name": name,
            "key_label": "gw-v1-abc...123",
            "assigned_by": "user_1",
            "created_at": wire_time(NOW - timedelta(days=2)),
        }
    )


def on_member(user: str = "user_7") -> MemberAssignment:
    return MemberAssignment.model_validate(
        {
            "id": f"id-{user}",
            "guardrail_id": GUARDRAIL_ID,
            "user_id": user,
            "organization_id": "org_1",
            "assigned_by": None,
            "created_at": wire_time(NOW - timedelta(days=1)),
        }
    )


BOUND = Bound((on_key("ci"), on_key("cd")), (on_member(),))


# The guardrail of a key ---------------------------------------------------------------------------


def bindings(**changes: Any) -> Bindings:
    default = row(id=DEFAULT_ID)
    rows = {
        "guardrails": {GUARDRAIL_ID: row(), DEFAULT_ID: default},
        "keys": (on_key(),),
        "members": (),
    }
    return Bindings(**{**rows, **changes})


# What remains -------------------------------------------------------------------------------------


GOOD = {"uptime_last_5m": 100, "uptime_last_30m": 100, "uptime_last_1d": 100, "status": 0}


def catalog() -> CatalogView:
    def endpoint(tag: str) -> Endpoint:
        return Endpoint.model_validate(
            {"model_id": "a/b-1", "tag": tag, "provider_name": tag.title(), **GOOD}
        )

    def model(name: str) -> Model:
        return Model.model_validate({"id": name, "canonical_slug": f"{name}-1", "name": name})

    return CatalogView(
        (
            ModelWithEndpoints(model("a/b"), (endpoint("one"), endpoint("two/fast"))),
            ModelWithEndpoints(model("c/d"), (endpoint("one"),)),
            ModelWithEndpoints(model("e/f"), None),
        ),
        {},
        frozenset(),
    )
