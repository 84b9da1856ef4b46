"""BYOK provider credentials.

See "BYOK provider credential" in the contract and section 6 of the extended contract.

Bounds and choices come from the request models. The raw key is only in the request: plans, the
audit log and screens get a masked body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.models import Provider
from gwtui.crud import cells
from gwtui.crud.cells import moment_column, text_column, word_column
from gwtui.crud.fields import (
    Field,
    Fields,
    ListColumn,
    PlanContext,
    PreviewContext,
    entries,
    workspace_field,
)
from gwtui.crud.plan_text import DISABLE_INSTEAD, NAME_LIMIT, count, quoted, several
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ReadBy, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.crud.writes import (
    Create,
    Delete,
    Switch,
    Update,
    Writes,
)
from gwtui.domain.lookup import closest
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.uses import Uses, can_be_used, credential_uses, items_or_none
from gwtui.watch.feeds.byok import ByokRow, byok_feed, names_feed
from gwtui.watch.feeds.models import providers_feed
from gwtui.watch.hub import FeedHub, Scope

_STORED = "The new key will be stored encrypted and never shown again."

# Fields -------------------------------------------------------------------------------------------

RESTRICTIONS: Mapping[str, str] = {
    "allowed_models": "model",
    "allowed_user_ids": "member",
    "allowed_api_key_hashes": "key",
}
"""Restriction field -> noun for its entries. An empty list blocks all use of the credential."""


_WHOSE = {
    "allowed_models": "only requests to these models can use it",
    "allowed_user_ids": "only requests of these members can use it",
    "allowed_api_key_hashes": "only requests made with these keys can use it",
}


def _nobody(
    value: list[str] | None, _values: Mapping[str, Any], _context: PreviewContext
) -> Cell | None:
    if value is not None and not value:
        return Cell(
            "an empty list: no request can use it; leave it unset for no restriction", "warn"
        )
    return None


def _restriction(name: str, **more: Any) -> Field:
    nouns = f"{RESTRICTIONS[name]}s"
    return Field(
        name,
        f"Usable for {nouns}",
        lambda value, context: entries(value, context) or f"no {RESTRICTIONS[name]} (empty list)",
        f"every {RESTRICTIONS[name]}",
        group="Usable for",
        chosen=f"only these {nouns}",
        noun=nouns,
        help=_WHOSE[name],
        short=nouns,
        preview=_nobody,
        **more,
    )


FIELDS = Fields(
    Field(
        "provider",
        "Provider",
        editable=False,
        group="Key",
        offers=choices.providers,
        placeholder="such as openai",
        column=ListColumn(14, "slug of the provider"),
        help="slug of the provider that issued the key",
        fixed_because="fixed at creation; to replace the key, press {byok.replace_key} in the list",
    ),
    Field(
        "key",
        "Key",
        lambda value, _context: (
            safe_line(value, NAME_LIMIT) if isinstance(value, str) else "the new key that you typed"
        ),
        "the stored key",
        editable=False,
        mask="label",
        group="Key",
        placeholder="paste or type; the input is hidden",
    ),
    Field("name", "Name", group="Key", placeholder="what it is for"),
    workspace_field(
        editable=False,
        group="Key",
        help="the workspace that the credential belongs to; it cannot be moved",
    ),
    Field(
        "is_fallback",
        "Fallback",
        empty="not set",
        group="Routing",
        note=("", "comes after all others"),
        effect="As a fallback, it is tried only after every other {provider} credential and the "
        "gateway's key.",
    ),
    Field(
        "is_byok_only",
        "BYOK only",
        empty="not set",
        group="Routing",
        note=(
            "requests to the provider may also use the gateway's key",
            "requests to the provider never use the gateway's key",
        ),
        effect="Requests to {provider} will never use the gateway's key.",
    ),
    Field(
        "is_required",
        "Required",
        empty="not set",
        group="Routing",
        note=(
            "requests for the credential's models may also use the gateway's key",
            "requests for the credential's models never use the gateway's key",
        ),
        column=ListColumn(
            8,
            "yes: requests for its models never fall back to the gateway's key",
            id="required",
            kind="flag",
        ),
        effect="Requests for the credential's models will fail if no {provider} credential can be "
        "used.",
    ),
    Field(
        "disabled",
        "State",
        words=("enabled", "disabled"),
        editable=False,
        group="Routing",
        help="disabled: left out of routing",
    ),
    _restriction("allowed_models", offers=choices.models, free=True),
    _restriction("allowed_user_ids", offers=choices.members, free=True),
    _restriction("allowed_api_key_hashes", offers=choices.keys),
    Field(
        "declared_region",
        "Declared region",
        column=ListColumn(
            12, "region of the provider, as declared by you", id="region", title="Region"
        ),
        group="Declared",
        short="region",
    ),
    Field(
        "declared_zdr",
        "Declared ZDR",
        empty="not set",
        group="Declared",
        short="ZDR",
        note=("keeps data", "zero data retention"),
    ),
)

# Columns and detail sections ----------------------------------------------------------------------


def name_cell(row: ByokRow) -> Cell:
    """The name, or the masked key if there is no name."""
    credential = row.credential
    return cells.text(credential.name) if credential.name else cells.text(credential.label, "muted")


def state_cell(row: ByokRow) -> Cell:
    """The state of a credential: enabled, blocked or disabled."""
    credential = row.credential
    if credential.disabled is None:
        return cells.NOTHING
    if credential.disabled:
        return Cell("disabled", "muted")
    if any(getattr(credential, name) == [] for name in RESTRICTIONS):
        return Cell("blocked", "warn")
    return Cell("enabled", "good")


_WHY_STATE = {
    "disabled": "left out of routing",
    "blocked": "no request can use it: a list under “Usable for” is empty",
    "enabled": "used by requests",
}


def place_cell(row: ByokRow) -> Cell:
    """The position in the order in which credentials are tried."""
    return cells.NOTHING if row.place is None else Cell(str(row.place))


def role_cell(row: ByokRow) -> Cell:
    """The role in routing: regular, BYOK only or fallback."""
    credential = row.credential
    if credential.is_fallback is None:
        return cells.NOTHING
    if credential.is_fallback:
        return Cell("fallback")
    return Cell("BYOK only") if credential.is_byok_only else Cell("regular")


def order_sentence(row: ByokRow) -> str:
    """Describe the position in a sentence: "number 1 of 3 for openai"."""
    provider = cells.text(row.credential.provider).text
    if row.credential.disabled is None or row.credential.provider is None:
        return cells.DASH
    if row.place is None:
        return "not tried: disabled"
    last = ", as a fallback" if row.credential.is_fallback else ""
    return f"number {row.place} of {row.tried} for {provider}{last}"


def restriction_summary(row: ByokRow) -> Cell:
    """A summary of all restrictions; null, an empty list and unknown look different."""
    parts = []
    for name, noun in RESTRICTIONS.items():
        listed = getattr(row.credential, name)
        if listed is None:
            if not row.credential.sent_null(name):
                return cells.NOTHING
        elif not listed:
            return Cell(f"no {noun} at all", "bad")
        else:
            parts.append(count(len(listed), noun))
    return Cell(", ".join(parts)) if parts else Cell("all requests", "muted")


def _workspace_cell(row: ByokRow) -> Cell:
    if row.workspace_name is not None:
        return cells.text(row.workspace_name)
    return cells.missing(row.credential, "workspace_id", "every workspace")


_OF_FIELDS: Mapping[str, Column[ByokRow]] = FIELDS.columns(lambda row: row.credential)

COLUMNS: tuple[Column[ByokRow], ...] = (
    Column(
        "name",
        "Name",
        lambda row, _now: name_cell(row),
        lambda row, _now: row.credential.name or row.credential.label or None,
        18,
        grow=True,
        help="display name, else the masked key",
    ),
    _OF_FIELDS["provider"],
    text_column(
        "workspace",
        "Workspace",
        lambda row: row.workspace_name,
        16,
        help="workspace that the credential belongs to",
        missing=_workspace_cell,
        most=32,
    ),
    Column(
        "order",
        "Order",
        lambda row, _now: place_cell(row),
        lambda row, _now: row.order,
        6,
        right=True,
        help="position in the order of use; sorts by provider, workspace, position",
    ),
    word_column(
        "state",
        "State",
        state_cell,
        8,
        "enabled, disabled, or blocked by an empty restriction",
    ),
    word_column(
        "role",
        "Role",
        role_cell,
        12,
        "fallbacks are tried after the other credentials of the provider",
    ),
    word_column(
        "only",
        "Usable for",
        restriction_summary,
        20,
        "restrictions to models, members and keys",
    ),
    text_column(
        "label",
        "Masked key",
        lambda row: row.credential.label,
        18,
        help="first and last characters",
    ),
    moment_column(
        "created", "Created", lambda row: row.credential.created_at, 12, "when it was stored"
    ),
    _OF_FIELDS["region"],
    _OF_FIELDS["required"],
)


def _identity_rows(row: ByokRow, now: datetime) -> Sequence[DetailRow]:
    credential = row.credential
    return [
        DetailRow("name", cells.text(credential.name)),
        DetailRow("provider", cells.text(credential.provider)),
        DetailRow("masked key", cells.text(credential.label), "never shown in full"),
        DetailRow("workspace", _workspace_cell(row)),
        DetailRow("id", cells.text(credential.id)),
        cells.moment_row("created", credential.created_at, now),
    ]


def _routing_rows(row: ByokRow, _now: datetime) -> Sequence[DetailRow]:
    state = state_cell(row)
    return [
        DetailRow("state", state, _WHY_STATE.get(state.text, "")),
        DetailRow("order", Cell(order_sentence(row))),
        *FIELDS.rows(row.credential, ("is_fallback", "is_byok_only", "is_required")),
    ]


BYOK: ResourceSpec[ByokRow] = ResourceSpec(
    id="byok",
    title="BYOK",
    singular="credential",
    plural="credentials",
    identity=lambda row: row.identity,
    name=lambda row: name_cell(row).text,
    columns=COLUMNS,
    sections=(
        Section("Identity", _identity_rows),
        Section("Routing", _routing_rows),
        Section(
            "Usable for",
            lambda row, now: FIELDS.rows(row.credential, RESTRICTIONS, PlanContext(now, row.names)),
        ),
        Section(
            "Declared by you, not verified",
            lambda row, _now: FIELDS.rows(row.credential, ("declared_region", "declared_zdr")),
        ),
        *drift_sections(lambda row: row.credential),
    ),
    feed=byok_feed,
    writes=lambda: CREDENTIALS,
    raw=lambda row: row.credential.raw,
    read_by=lambda row: ReadBy("byok.get", (row.identity,)),
    empty="No credentials yet: press {byok.create} to add one.",
    scoped=True,
    default_sort=("order", False),
    facets={
        "state": lambda row, _now: state_cell(row).text,
        "model": lambda row, _now: " ".join(row.credential.allowed_models or ()),
        "key": lambda row, _now: " ".join(row.credential.allowed_api_key_hashes or ()),
    },
    completion=Completion(names_feed, lambda row, names: replace(row, names=names)),
)

# Writes -------------------------------------------------------------------------------------------


Others = Sequence[ByokCredential] | None
"""The credentials of the same provider and workspace; None if they could not be read."""


async def _read_others(
    client: GatewayClient, fresh: ByokCredential, _context: PlanContext
) -> Others:
    listing = client.byok.list(workspace_id=fresh.workspace_id, provider=fresh.provider)
    return await items_or_none(listing)


async def _uses(_client: GatewayClient, fresh: ByokCredential, _context: PlanContext) -> Uses:
    return credential_uses(fresh)


def _provider(credential: ByokCredential | CreateByokRequest) -> str:
    return safe_line(credential.provider or "its provider", NAME_LIMIT)


def _after(
    name: str,
    fresh: ByokCredential | CreateByokRequest,
    request: CreateByokRequest | UpdateByokRequest,
) -> Any:
    return getattr(request if name in request.model_fields_set else fresh, name)


def _update_warnings(
    fresh: ByokCredential | CreateByokRequest,
    request: CreateByokRequest | UpdateByokRequest,
    _context: PlanContext,
) -> Iterator[str]:
    given = request.model_fields_set
    for name, noun in RESTRICTIONS.items():
        if name in given and getattr(request, name) is None and getattr(fresh, name) is not None:
            yield f"The credential will no longer be restricted by {noun}."
    only = _after("is_byok_only", fresh, request)
    blocked = any(_after(name, fresh, request) == [] for name in RESTRICTIONS)
    if only and blocked and not given.isdisjoint({"is_byok_only", *RESTRICTIONS}):
        yield (
            f"Without another usable {_provider(fresh)} credential, requests to "
            f"{_provider(fresh)} will fail: no request can use this one or the gateway's key."
        )


def _update_effects(
    fresh: ByokCredential | CreateByokRequest,
    request: CreateByokRequest | UpdateByokRequest,
    _context: PlanContext,
) -> Iterator[str]:
    for name in RESTRICTIONS:
        if name in request.model_fields_set and getattr(request, name) == []:
            label = FIELDS.labels[name]
            yield f"“{label}” will be an empty list, so no request can use the credential."
    flags = ("is_byok_only", "is_required")
    allowed = any(
        name in request.model_fields_set and getattr(request, name) is False for name in flags
    )
    if fresh is not request and allowed and not any(_after(name, fresh, request) for name in flags):
        yield f"The gateway's own key may serve requests to {_provider(fresh)} too."


def _switch_effects(
    fresh: ByokCredential,
    disabled: bool,
    others: Others,
    _context: PlanContext,
) -> Iterator[str]:
    usable = can_be_used(fresh)
    if not disabled:
        again = f"Requests to {_provider(fresh)} will use it again immediately."
        yield from (again,) if usable else credential_uses(fresh)
        return
    if usable:
        yield "Requests will stop using it."
    yield "The provider key remains stored."
    yield from _left_without(fresh, others)


def _delete_effects(fresh: ByokCredential, others: Others, _context: PlanContext) -> Iterator[str]:
    yield "The gateway will erase the credential and keep only an audit record."
    if not fresh.disabled:
        yield DISABLE_INSTEAD
    yield from _left_without(fresh, others)
    if fresh.label:
        yield f"Provider {_provider(fresh)}, masked key {safe_line(fresh.label, NAME_LIMIT)}"


def _left_without(fresh: ByokCredential, others: Others) -> Iterator[str]:
    yield from credential_uses(fresh)
    if fresh.disabled or not can_be_used(fresh):
        return
    if others is None:
        yield f"Could not check for other enabled {_provider(fresh)} credentials."
        return
    enabled = [other for other in others if other.id != fresh.id and other.disabled is False]
    if not enabled:
        yield (
            f"This is the last enabled {_provider(fresh)} credential. "
            "Requests will use the gateway's key and be charged to your credits."
        )
        return
    names = several([CREDENTIALS.name(credential) for credential in enabled])
    verb = "remains" if len(enabled) == 1 else "remain"
    left = count(len(enabled), f"other enabled {_provider(fresh)} credential")
    yield f"{left} {verb}: {names}."


async def _provider_warning(hub: FeedHub, request: CreateByokRequest) -> str:
    known = await choices.value_soon(providers_feed(hub, Scope()))
    return provider_warning(request.provider, known or ())


def provider_warning(provider: str, known: Sequence[Provider]) -> str:
    """Return a warning if the gateway lists providers, but not this one; else ""."""
    names = {name: listed.slug for listed in known for name in (listed.slug, listed.name) if name}
    slugs = [listed.slug for listed in known if listed.slug]
    if not slugs or provider in slugs:
        return ""
    meant = names.get(closest(provider, [*slugs, *names]) or "")
    hint = f"; did you mean {safe_line(meant, NAME_LIMIT)!r}?" if meant else "."
    return f"The gateway lists no provider {safe_line(provider, NAME_LIMIT)!r}{hint}"


_KEY_REPLACEMENT = Update(
    request=UpdateByokRequest,
    effects=lambda fresh, request, context: (
        "The gateway will erase the old key immediately: to go back, you need your own copy.",
        "Requests will use the new key immediately. Revoke the old key at the provider "
        "only once the new one works.",
        _STORED,
        *_update_effects(fresh, request, context),
    ),
    action="replace_key",
    command="replace-key",
    help="replace the provider key with one read from stdin",
    title="Replace the provider key of",
    button="Replace key",
    done=lambda before, after: (
        f"Provider key of credential {CREDENTIALS.name(before)} replaced; "
        f"it is now {safe_line(after.label or 'masked', NAME_LIMIT)}"
    ),
    fields=("key",),
    secret="key",  # noqa: S106 - the name of a field
    danger="high",
)

CREDENTIALS: Writes[ByokCredential] = Writes(
    resource="byok",
    noun="credential",
    model=ByokCredential,
    fields=FIELDS,
    identity=lambda credential: credential.id,
    of_row=lambda row: row.credential,
    service=lambda client: client.byok,
    called=("name", "label", "id"),
    feeds=("byok",),
    names=names_feed,
    uses=_uses,
    read_related=_read_others,
    create=Create(
        request=CreateByokRequest,
        title=lambda request: f"Create credential {quoted(request.name)} for {_provider(request)}",
        effects=lambda request, context: (_STORED, *_update_effects(request, request, context)),
        warnings=lambda request, context: _update_warnings(request, request, context),
        always=("provider", "workspace_id", "key"),
        help="create a credential; its provider key is read from stdin",
        done=lambda created: (
            f"Credential {CREDENTIALS.name(created)} created; its key is never shown again"
        ),
        heading="New BYOK credential",
        gateway_warning=_provider_warning,
        secret="key",  # noqa: S106 - the name of a field
    ),
    update=Update(request=UpdateByokRequest, effects=_update_effects, warnings=_update_warnings),
    further=(_KEY_REPLACEMENT,),
    switch=Switch(
        effects=_switch_effects,
        disable_help="disable credentials: routing skips them",
        enable_help="enable disabled credentials",
    ),
    delete=Delete(
        effects=_delete_effects,
        help="delete credentials and erase their keys",
        kept=("name", "label", "provider"),
    ),
    implied=("name", *RESTRICTIONS),
)
