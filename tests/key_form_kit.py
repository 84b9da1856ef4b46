"""The form of a key, new and existing, at a moment."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gwtui.contract.keys import ApiKey
from gwtui.crud.fields import Facts
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_state import FormState
from plan_kit import form_context

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
TOKYO = "Asia/Tokyo"
SPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
FACTS = Facts(now=lambda: NOW, zone=UTC, workspaces={SPACE: "Research"})


def creating(**typed: Any) -> FormState:
    state = FormState(WRITES.create_form(form_context()), FACTS)
    for name, text in typed.items():
        state.put(name, text)
    return state


def api_key(**changes: Any) -> ApiKey:
    given = {
        "hash": "h" * 64,
        "name": "ci",
        "label": "gw-v1-abc...123",
        "disabled": False,
        "limit": 100,
        "limit_remaining": 60,
        "limit_reset": "monthly",
        "include_byok_in_limit": False,
        "workspace_id": SPACE,
        "expires_at": "2026-12-31T00:00:00Z",
        **changes,
    }
    return ApiKey.model_validate({k: v for k, v in given.items() if v is not ...})


def editing(key: ApiKey | None = None) -> FormState:
    return FormState(WRITES.edit_form(key or api_key(), form_context(NOW)), FACTS)
