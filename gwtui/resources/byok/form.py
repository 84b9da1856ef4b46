"""The fields and forms of a BYOK credential: contract "BYOK provider credential".

Extended contract section 6. Bounds and choices come from the request models; here is what a field
is called and how it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.crud import fields
from gwtui.crud.fields import Field, Fields, PlanContext
from gwtui.crud.form import (
    Choices,
    Facts,
    FieldGroup,
    FormContext,
    FormField,
    FormSpec,
    ModelField,
    MultiPickField,
    SecretField,
    ThreeWaySwitch,
)
from gwtui.crud.plan_text import quoted
from gwtui.crud.resource import Cell
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices

_LOOK = "Look at the credential before you try again."


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


def create_form(context: FormContext) -> FormSpec:
    """The form of a new credential, in the workspace that the list is narrowed to."""
    return FormSpec(
        title="New provider key of your own",
        model=CreateByokRequest,
        fields=(
            FieldGroup(
                "Key",
                (
                    ModelField(
                        "provider",
                        FIELDS.labels["provider"],
                        choices=choices.providers(context),
                        placeholder="such as openai",
                        help="whose key it is; the slug of the provider",
                    ),
                    SecretField(
                        "key",
                        FIELDS.labels["key"],
                        placeholder="paste or type; nothing of it is shown",
                    ),
                    FormField("name", FIELDS.labels["name"], "text", placeholder="what it is for"),
                    FormField(
                        "workspace_id",
                        FIELDS.labels["workspace_id"],
                        "workspace",
                        help="the workspace that the credential belongs to; it cannot be moved",
                        empty=FIELDS.empty("workspace_id"),
                    ),
                ),
            ),
            *_shared(context, creating=True),
        ),
        submit="Store key",
        initial=context.initial_workspace,
        unknown_help="The key may have been stored. Look at the list before you try again.",
    )


def edit_form(credential: ByokCredential, context: FormContext) -> FormSpec:
    """The form of an existing credential; its key is rotated in a form of its own."""
    provider = safe_line(credential.provider or "unknown", 60)
    return FormSpec(
        title=f"Edit credential {_name(credential)}",
        model=UpdateByokRequest,
        fields=(
            FieldGroup(
                "General",
                (
                    FormField("name", FIELDS.labels["name"], "text"),
                    FormField(
                        "provider",
                        FIELDS.labels["provider"],
                        "text",
                        fixed=(provider, "fixed at creation; R in the list rotates the key"),
                    ),
                ),
            ),
            *_shared(context, creating=False),
        ),
        submit="Review changes",
        initial=FIELDS.known(credential),
        partial=True,
        unknown_help=f"The change may have been made or not. {_LOOK}",
    )


def rotate_form(credential: ByokCredential, _context: FormContext) -> FormSpec:
    """The form that takes the new key of a credential, and nothing else."""
    label = safe_line(credential.label or "the stored key", 60)
    return FormSpec(
        title=f"Rotate credential {_name(credential)}",
        model=UpdateByokRequest,
        fields=(
            FormField(
                "provider",
                "Key now",
                "text",
                fixed=(label, "The old material is gone at once: the gateway overwrites it."),
            ),
            SecretField(
                "key",
                "New key",
                placeholder="paste or type; nothing of it is shown",
                help="takes the place of the old one; restrictions and name stay",
            ),
        ),
        submit="Review",
        partial=True,
        unknown_help=f"The key may have been replaced or not. {_LOOK}",
    )


def _name(credential: ByokCredential) -> str:
    return quoted(credential.name, credential.label, credential.id)


def _shared(context: FormContext, *, creating: bool) -> tuple[FieldGroup, ...]:
    """The parts that creation and change have in common."""
    disabled = (FormField("disabled", "Disabled", "switch"),) if creating else ()
    return (
        FieldGroup(
            "Routing",
            (
                FormField("is_fallback", FIELDS.labels["is_fallback"], "switch", preview=_fallback),
                FormField(
                    "is_byok_only", FIELDS.labels["is_byok_only"], "switch", preview=_own_only
                ),
                FormField("is_required", FIELDS.labels["is_required"], "switch"),
                *disabled,
            ),
        ),
        FieldGroup(
            "Limits",
            (
                _restriction("allowed_models", "models", choices.models(context), free=True),
                _restriction("allowed_user_ids", "members", choices.members(context), free=True),
                _restriction("allowed_api_key_hashes", "keys", choices.keys(context), free=False),
            ),
        ),
        FieldGroup(
            "Declared",
            (
                FormField(
                    "declared_region",
                    FIELDS.labels["declared_region"],
                    "choice",
                    empty=FIELDS.empty("declared_region"),
                ),
                ThreeWaySwitch(
                    "declared_zdr",
                    FIELDS.labels["declared_zdr"],
                    empty=FIELDS.empty("declared_zdr"),
                    yes="yes",
                    no="no",
                ),
            ),
        ),
    )


def _restriction(name: str, noun: str, offered: Choices, *, free: bool) -> MultiPickField:
    return MultiPickField(
        name,
        FIELDS.labels[name],
        choices=offered,
        empty=FIELDS.empty(name),
        chosen=f"only these {noun}",
        noun=noun,
        free=free,
        help=f"which {noun} may use it",
        preview=_nobody,
    )


def _nobody(value: list[str] | None, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    if value is not None and not value:
        return Cell("an empty list is not “no restriction”: nothing may use the key", "warn")
    return None


def _fallback(value: bool | None, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    return Cell("tried after the provider's other credentials") if value else None


def _own_only(value: bool | None, _values: Mapping[str, Any], _facts: Facts) -> Cell | None:
    return Cell("when it fails, the gateway's own key is not tried") if value else None
