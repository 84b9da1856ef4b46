"""The plan of each write to BYOK credentials: contract "PATCH /byok/{id}"; extended section 6.

A raw key is a secret of the request: plans, journals and screens get the masked body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import SecretStr

from gwtui.actions.byok import RESOURCE
from gwtui.actions.plan import Plan, Undo, WayBack
from gwtui.actions.undo import known, put_back
from gwtui.actions.uses import Uses, credential_uses, items_soon
from gwtui.actions.wording import (
    DEFAULT_WORKSPACE,
    MOST_NAMED,
    NAME_LIMIT,
    Names,
    Words,
    as_read,
    changes,
    count,
    first_values,
    identity_of,
    known_fields,
    quoted,
    several,
    workspace_in_words,
)
from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.providers import Provider
from gwtui.domain.safe_text import safe_line
from gwtui.domain.suggestions import closest

LABELS: Mapping[str, str] = {
    "name": "Name",
    "provider": "Provider",
    "workspace_id": "Workspace",
    "key": "Key",
    "disabled": "State",
    "is_fallback": "Fallback",
    "is_byok_only": "Own key only",
    "is_required": "Required",
    "allowed_models": "Only for models",
    "allowed_user_ids": "Only for members",
    "allowed_api_key_hashes": "Only for keys",
    "declared_region": "Declared region",
    "declared_zdr": "Declared ZDR",
}
"""What people call the fields, the same in forms and plans."""

EDITABLE = tuple(
    name for name in LABELS if name not in {"provider", "workspace_id", "key", "disabled"}
)
"""Fields of a credential that its form changes; key and state have actions of their own."""

EMPTY: Mapping[str, str] = {
    "workspace_id": DEFAULT_WORKSPACE,
    "allowed_models": "no restriction",
    "allowed_user_ids": "no restriction",
    "allowed_api_key_hashes": "no restriction",
    "declared_region": "not declared",
    "declared_zdr": "not declared",
}
"""What it means that a field is null."""

_NOTHING = "none at all"
"""An empty restriction: it differs from no restriction."""
_RESTRICTIONS = ("allowed_models", "allowed_user_ids", "allowed_api_key_hashes")
_DOUBT = 200
"""Characters of what is said of a provider."""
_STORED = "The key is stored encrypted; it is never shown again."


def shown_name(credential: ByokCredential) -> str:
    """The credential in a sentence: its name in quotes, else its masked key."""
    return quoted(credential.name, credential.label, credential.id)


def known_values(credential: ByokCredential) -> dict[str, Any]:
    """The editable fields as the gateway gave them; those it left out or garbled are missing."""
    return known_fields(credential, EDITABLE)


def in_words(names: Names) -> Words:
    """Gives the function that words a field's value; ``names`` names whatever has an identifier.

    Never words a new key, which is a secret; the label that stands for a stored one is text.
    """

    def words(field: str, value: Any) -> str:
        if field == "key":
            return value if isinstance(value, str) else "a new key, as typed"
        if field == "workspace_id":
            return workspace_in_words(value, names)
        if value is None:
            return EMPTY.get(field, "none")
        if field in _RESTRICTIONS:
            entries = [safe_line(names.get(entry) or entry, NAME_LIMIT) for entry in value]
            return several(entries, MOST_NAMED) if entries else _NOTHING
        return _WORDS.get(field, _plain)(value)

    return words


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return safe_line(value, 200)


_WORDS: Mapping[str, Callable[[Any], str]] = {
    "disabled": lambda value: "disabled" if value else "enabled",
}


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """Whether the gateway lists a provider; None when that is not known. ``said`` says so."""

    listed: bool | None
    said: str = ""


def check_provider(provider: str, known: Sequence[Provider] | None) -> ProviderCheck:
    """Compare a provider with those of the gateway, None when they could not be read.

    A gateway that lists none tells nothing about any.
    """
    names = {name: one.slug for one in known or () for name in (one.slug, one.name) if name}
    slugs = [one.slug for one in known or () if one.slug]
    shown = safe_line(provider, NAME_LIMIT)
    if not slugs:
        return ProviderCheck(None, f"Whether the gateway has a provider {shown!r} is not known.")
    if provider in slugs:
        return ProviderCheck(True)
    meant = names.get(closest(provider, [*slugs, *names]) or "")
    hint = f"; did you mean {safe_line(meant, NAME_LIMIT)!r}?" if meant else "."
    return ProviderCheck(False, f"The gateway lists no provider {shown!r}{hint}")


def plan_create(
    request: CreateByokRequest, names: Names | None = None, doubt: str = ""
) -> Plan[ByokCredential]:
    """One POST /byok. ``doubt`` says what is not sure about its provider."""
    provider = safe_line(request.provider, NAME_LIMIT)
    return Plan(
        action="byok.create",
        title=f"Store a key of your own for {provider}",
        resource=RESOURCE,
        identity=None,
        send=lambda client: client.byok.create(request),
        changes=first_values(
            request, LABELS, in_words(names or {}), ("provider", "workspace_id", "key")
        ),
        effects=(
            *([safe_line(doubt, _DOUBT)] if doubt else []),
            _STORED,
            *_role_effects(request, provider),
        ),
        summary=request.body(),
        identify=lambda made: made.id,
        undo=_delete_again,
    )


def _delete_again(made: ByokCredential) -> WayBack:
    """The way back from a creation."""
    identity = made.id

    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        fresh = await client.byok.get(known(identity, "credential"))
        others = await items_soon(
            client.byok.list(workspace_id=fresh.workspace_id, provider=fresh.provider)
        )
        return plan_delete(fresh, others, await credential_uses(client, fresh))

    return way


def plan_update(
    fresh: ByokCredential, request: UpdateByokRequest, names: Names | None = None
) -> Plan[ByokCredential]:
    """One PATCH /byok/{id} with the fields that were given. ``fresh`` has an id."""
    identity = identity_of(fresh.id, "credential")
    rotates = "key" in request.model_fields_set
    known = {
        **known_fields(fresh, ("disabled",)),
        **known_values(fresh),
        "key": safe_line(fresh.label, NAME_LIMIT) if fresh.label else "the stored key",
    }
    return Plan(
        action="byok.rotate" if rotates else "byok.edit",
        title=f"{'Rotate' if rotates else 'Change'} credential {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.byok.update(identity, request),
        changes=changes(known, request, LABELS, in_words(names or {})),
        effects=(*(_ROTATION if rotates else ()), *_role_effects(request, _provider(fresh))),
        danger="high" if rotates else "low",
        summary=request.body(),
        before=as_read(fresh, {*request.model_fields_set, *(["label"] if rotates else [])}),
        undo=None if rotates else _put_back(fresh, request, names or {}),
    )


def _put_back(
    fresh: ByokCredential, request: UpdateByokRequest, names: Names
) -> Undo[ByokCredential] | None:
    def plan(present: ByokCredential, wanted: Mapping[str, Any], _now: datetime) -> Plan[Any]:
        if "disabled" in wanted:
            return plan_set_disabled(present, wanted["disabled"])
        return plan_update(present, UpdateByokRequest.model_validate(wanted), names)

    return put_back(
        fresh,
        request,
        LABELS,
        in_words(names),
        read=lambda client: client.byok.get(fresh.id or ""),
        plan=plan,
    )


_ROTATION = (
    "The old key is overwritten at once: this cannot be undone.",
    "Requests use the new key from now on. Do not revoke the old one before it works.",
    _STORED,
)


def plan_rotate(fresh: ByokCredential, key: SecretStr) -> Plan[ByokCredential]:
    """One PATCH /byok/{id} that carries the new key alone. ``fresh`` has an id."""
    return plan_update(fresh, UpdateByokRequest(key=key))


def plan_set_disabled(
    fresh: ByokCredential,
    disabled: bool,
    others: Sequence[ByokCredential] | None = None,
    uses: Uses = (),
) -> Plan[ByokCredential]:
    """One PATCH /byok/{id} that disables or enables. ``fresh`` has an id.

    ``others`` are the provider's other credentials in its workspace, None where not known;
    ``uses`` says who may use it, as ``credential_uses`` found it.
    """
    identity = identity_of(fresh.id, "credential")
    request = UpdateByokRequest(disabled=disabled)
    if disabled:
        effects = [
            "Requests no longer use it; its key stays stored.",
            *uses,
            *_remaining(fresh, others),
        ]
    else:
        effects = [f"Requests to {_provider(fresh)} use it again at once."]
    return Plan(
        action="byok.toggle",
        title=f"{'Disable' if disabled else 'Enable'} credential {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.byok.update(identity, request),
        changes=changes(known_fields(fresh, ("disabled",)), request, LABELS, in_words({})),
        effects=tuple(effects),
        summary=request.body(),
        before=as_read(fresh, request.model_fields_set),
        undo=_put_back(fresh, request, {}),
    )


def plan_delete(
    fresh: ByokCredential, others: Sequence[ByokCredential] | None = None, uses: Uses = ()
) -> Plan[None]:
    """One DELETE /byok/{id}. ``fresh`` has an id; ``others`` and ``uses`` as for disabling."""
    identity = identity_of(fresh.id, "credential")
    return Plan(
        action="byok.delete",
        title=f"Delete credential {shown_name(fresh)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: client.byok.delete(identity),
        effects=(
            "Its key is wiped at the gateway; only a record that it existed remains.",
            "This cannot be undone; disabling can.",
            *uses,
            *_remaining(fresh, others),
            *([f"Its key looks like {safe_line(fresh.label, NAME_LIMIT)}."] if fresh.label else []),
        ),
        danger="high",
        summary={"name": fresh.name, "label": fresh.label, "provider": fresh.provider},
    )


def _provider(credential: ByokCredential) -> str:
    return safe_line(credential.provider or "its provider", NAME_LIMIT)


def _role_effects(request: CreateByokRequest | UpdateByokRequest, provider: str) -> list[str]:
    given = request.model_fields_set
    effects = []
    if "is_byok_only" in given and request.is_byok_only:
        effects.append(f"When it fails, {provider} is not tried on the gateway's own key.")
    if "is_required" in given and request.is_required:
        effects.append(f"Requests reach {provider} with this credential only.")
    if "is_fallback" in given and request.is_fallback:
        effects.append(f"It is tried only after the other credentials of {provider}.")
    effects += [
        f"{LABELS[name]}: an empty list is no longer “no restriction”, nothing may use it."
        for name in _RESTRICTIONS
        if name in given and getattr(request, name) == []
    ]
    return effects


def _remaining(fresh: ByokCredential, others: Sequence[ByokCredential] | None) -> list[str]:
    """What requests to the provider use when this credential is gone."""
    if fresh.disabled:
        return []
    if others is None:
        return [f"Whether another credential of {_provider(fresh)} remains could not be read."]
    enabled = [one for one in others if one.id != fresh.id and one.disabled is False]
    if enabled:
        names = several([shown_name(one) for one in enabled])
        left = count(len(enabled), "enabled credential")
        verb = "remains" if len(enabled) == 1 else "remain"
        return [f"{left} of {_provider(fresh)} {verb}: {names}."]
    return [
        f"No other enabled credential of {_provider(fresh)} remains: "
        "requests use the gateway's own key, for credits."
    ]
