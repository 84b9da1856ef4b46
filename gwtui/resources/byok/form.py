"""The forms of a BYOK credential. Rules come from the request models; here is what values mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.crud.form import (
    Choices,
    Facts,
    FieldGroup,
    FormField,
    FormSpec,
    ModelField,
    MultiPickField,
    SecretField,
    ThreeWayField,
)
from gwtui.crud.resource import Cell
from gwtui.domain.safe_text import safe_line
from gwtui.resources.byok.plans import EMPTY, LABELS, known_values, shown_name

_LOOK = "Look at the credential before you try again."


@dataclass(frozen=True, slots=True)
class ByokSources:
    """What can be picked in the form of a credential."""

    providers: Choices
    models: Choices
    members: Choices
    keys: Choices


def create_form(workspace: str | None, sources: ByokSources) -> FormSpec:
    """The form of a new credential; ``workspace`` is the one the list is narrowed to."""
    return FormSpec(
        title="New provider key of your own",
        model=CreateByokRequest,
        fields=(
            FieldGroup(
                "Key",
                (
                    ModelField(
                        "provider",
                        LABELS["provider"],
                        choices=sources.providers,
                        placeholder="such as openai",
                        help="whose key it is; the slug of the provider",
                    ),
                    SecretField(
                        "key", LABELS["key"], placeholder="paste or type; nothing of it is shown"
                    ),
                    FormField("name", LABELS["name"], "text", placeholder="what it is for"),
                    FormField(
                        "workspace_id",
                        LABELS["workspace_id"],
                        "workspace",
                        help="the workspace that the credential belongs to; it cannot be moved",
                        empty=EMPTY["workspace_id"],
                    ),
                ),
            ),
            *_shared(sources, creating=True),
        ),
        submit="Store key",
        initial={} if workspace is None else {"workspace_id": workspace},
        unknown_help="The key may have been stored. Look at the list before you try again.",
    )


def edit_form(credential: ByokCredential, sources: ByokSources) -> FormSpec:
    """The form of an existing credential; its key is rotated in a form of its own."""
    provider = safe_line(credential.provider or "unknown", 60)
    return FormSpec(
        title=f"Edit credential {shown_name(credential)}",
        model=UpdateByokRequest,
        fields=(
            FieldGroup(
                "General",
                (
                    FormField("name", LABELS["name"], "text"),
                    FormField(
                        "provider",
                        LABELS["provider"],
                        "text",
                        fixed=(provider, "fixed at creation; R in the list rotates the key"),
                    ),
                ),
            ),
            *_shared(sources, creating=False),
        ),
        submit="Review changes",
        initial=known_values(credential),
        partial=True,
        unknown_help=f"The change may have been made or not. {_LOOK}",
    )


def rotate_form(credential: ByokCredential) -> FormSpec:
    """The form that takes the new key of a credential, and nothing else."""
    label = safe_line(credential.label or "the stored key", 60)
    return FormSpec(
        title=f"Rotate credential {shown_name(credential)}",
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


def _shared(sources: ByokSources, *, creating: bool) -> tuple[FieldGroup, ...]:
    """The parts that creation and change have in common."""
    disabled = (FormField("disabled", "Disabled", "switch"),) if creating else ()
    return (
        FieldGroup(
            "Routing",
            (
                FormField("is_fallback", LABELS["is_fallback"], "switch", preview=_fallback),
                FormField("is_byok_only", LABELS["is_byok_only"], "switch", preview=_own_only),
                FormField("is_required", LABELS["is_required"], "switch"),
                *disabled,
            ),
        ),
        FieldGroup(
            "Limits",
            (
                _restriction("allowed_models", "models", sources.models, free=True),
                _restriction("allowed_user_ids", "members", sources.members, free=True),
                _restriction("allowed_api_key_hashes", "keys", sources.keys, free=False),
            ),
        ),
        FieldGroup(
            "Declared",
            (
                FormField(
                    "declared_region",
                    LABELS["declared_region"],
                    "choice",
                    empty=EMPTY["declared_region"],
                ),
                ThreeWayField(
                    "declared_zdr",
                    LABELS["declared_zdr"],
                    empty=EMPTY["declared_zdr"],
                    yes="yes",
                    no="no",
                ),
            ),
        ),
    )


def _restriction(name: str, noun: str, choices: Choices, *, free: bool) -> MultiPickField:
    return MultiPickField(
        name,
        LABELS[name],
        choices=choices,
        empty=EMPTY[name],
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
