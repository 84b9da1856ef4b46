"""The fields of a BYOK credential: contract "BYOK provider credential"; extended section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext

RESTRICTIONS: Mapping[str, tuple[str, str]] = {
    "allowed_models": ("model", "models"),
    "allowed_user_ids": ("member", "members"),
    "allowed_api_key_hashes": ("key", "keys"),
}
"""Field -> what one and several of its entries are called. An empty list lets nothing use it."""


def _key(value: Any, context: PlanContext) -> str:
    # The mask of a stored key is text; a new key is a SecretStr and never shown.
    return fields.text(value, context) if isinstance(value, str) else "a new key, as typed"


def _declared(name: str, label: str) -> Field:
    return Field(
        name, label, fields.yes_no if name == "declared_zdr" else fields.text, "not declared"
    )


FIELDS = Fields(
    Field("name", "Name"),
    Field("provider", "Provider", editable=False),
    fields.workspace_field(editable=False),
    Field("key", "Key", _key, "the stored key", editable=False),
    Field("disabled", "State", fields.disabled_enabled, editable=False),
    Field("is_fallback", "Fallback", fields.yes_no),
    Field("is_byok_only", "Own key only", fields.yes_no),
    Field("is_required", "Required", fields.yes_no),
    Field("allowed_models", "Only for models", fields.entries, "no restriction"),
    Field("allowed_user_ids", "Only for members", fields.entries, "no restriction"),
    Field("allowed_api_key_hashes", "Only for keys", fields.entries, "no restriction"),
    _declared("declared_region", "Declared region"),
    _declared("declared_zdr", "Declared ZDR"),
)
