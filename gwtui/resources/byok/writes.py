"""What can be written to BYOK credentials: contract "PATCH /byok/{id}"; extended section 6.

A raw key is a secret of the request: plans, journals and screens get the masked body.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.models import Provider
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan_text import NAME_LIMIT, count, several
from gwtui.crud.writes import (
    NO_WARNING,
    Create,
    Delete,
    Read,
    RequestWarning,
    Switch,
    Update,
    Writes,
)
from gwtui.domain.lookup import closest
from gwtui.domain.safe_text import safe_line
from gwtui.resources.byok.form import FIELDS, create_form, edit_form, rotate_form
from gwtui.resources.byok.resource import RESTRICTIONS
from gwtui.resources.uses import Uses, credential_uses, items_or_none
from gwtui.watch.feeds.byok import names_feed
from gwtui.watch.feeds.models import providers_feed
from gwtui.watch.hub import FeedHub, Scope

_STORED = "The key is stored encrypted; it is never shown again."


class CredentialSurroundings(NamedTuple):
    """The provider's other credentials in its workspace (None: not known), and who may use it."""

    others: Sequence[ByokCredential] | None
    uses: Uses


async def read_around(
    client: GatewayClient, fresh: ByokCredential, _context: PlanContext
) -> CredentialSurroundings:
    """What disabling and deleting a credential must know."""
    others, uses = await asyncio.gather(
        items_or_none(client.byok.list(workspace_id=fresh.workspace_id, provider=fresh.provider)),
        credential_uses(client, fresh),
    )
    return CredentialSurroundings(others, uses)


def _provider(one: ByokCredential | CreateByokRequest) -> str:
    return safe_line(one.provider or "its provider", NAME_LIMIT)


def _role_effects(request: CreateByokRequest | UpdateByokRequest, provider: str) -> Iterator[str]:
    given = request.model_fields_set
    if "is_byok_only" in given and request.is_byok_only:
        yield f"When it fails, {provider} is not tried on the gateway's own key."
    if "is_required" in given and request.is_required:
        yield f"Requests reach {provider} with this credential only."
    if "is_fallback" in given and request.is_fallback:
        yield f"It is tried only after the other credentials of {provider}."
    for name in RESTRICTIONS:
        if name in given and getattr(request, name) == []:
            label = FIELDS.labels[name]
            yield f"{label}: an empty list is no longer “no restriction”, nothing may use it."


def _update_effects(
    fresh: ByokCredential, request: UpdateByokRequest, _context: PlanContext
) -> Iterator[str]:
    return _role_effects(request, _provider(fresh))


def _rotation_effects(
    fresh: ByokCredential, request: UpdateByokRequest, _context: PlanContext
) -> Iterator[str]:
    yield "The old key is overwritten at once: this cannot be undone."
    yield "Requests use the new key from now on. Do not revoke the old one before it works."
    yield _STORED
    yield from _role_effects(request, _provider(fresh))


def _switch_effects(
    fresh: ByokCredential,
    disabled: bool,
    around: CredentialSurroundings | None,
    _context: PlanContext,
) -> Iterator[str]:
    if not disabled:
        yield f"Requests to {_provider(fresh)} use it again at once."
        return
    yield "Requests no longer use it; its key stays stored."
    yield from _left_without(fresh, around)


def _delete_effects(
    fresh: ByokCredential, around: CredentialSurroundings | None, _context: PlanContext
) -> Iterator[str]:
    yield "Its key is wiped at the gateway; only a record that it existed remains."
    yield "This cannot be undone; disabling can."
    yield from _left_without(fresh, around)
    if fresh.label:
        yield f"Its key looks like {safe_line(fresh.label, NAME_LIMIT)}."


def _left_without(fresh: ByokCredential, around: CredentialSurroundings | None) -> Iterator[str]:
    """Who used it, and what requests to the provider use when it is gone."""
    others, uses = around or CredentialSurroundings(None, ())
    yield from uses
    if fresh.disabled:
        return
    if others is None:
        yield f"Whether another credential of {_provider(fresh)} remains could not be read."
        return
    enabled = [one for one in others if one.id != fresh.id and one.disabled is False]
    if not enabled:
        yield (
            f"No other enabled credential of {_provider(fresh)} remains: "
            "requests use the gateway's own key, for credits."
        )
        return
    names = several([CREDENTIALS.name(one) for one in enabled])
    verb = "remains" if len(enabled) == 1 else "remain"
    left = count(len(enabled), "enabled credential")
    yield f"{left} of {_provider(fresh)} {verb}: {names}."


async def _uses(client: GatewayClient, fresh: ByokCredential, _context: PlanContext) -> Uses:
    return await credential_uses(client, fresh)


async def _provider_warning(hub: FeedHub, read: Read, request: CreateByokRequest) -> RequestWarning:
    known: Sequence[Provider] | None = await read(
        providers_feed(hub, Scope()), "the gateway's providers"
    )
    return check_provider(request.provider, known)


def check_provider(provider: str, known: Sequence[Provider] | None) -> RequestWarning:
    """Compare a provider with those of the gateway, None when they could not be read.

    A gateway that lists none tells nothing about any. That is said and goes on: the gateway decides
    anyway, and nobody could do anything about it but force everything.
    """
    names = {name: one.slug for one in known or () for name in (one.slug, one.name) if name}
    slugs = [one.slug for one in known or () if one.slug]
    shown = safe_line(provider, NAME_LIMIT)
    if not slugs:
        return RequestWarning(f"Whether the gateway has a provider {shown!r} is not known.")
    if provider in slugs:
        return NO_WARNING
    meant = names.get(closest(provider, [*slugs, *names]) or "")
    hint = f"; did you mean {safe_line(meant, NAME_LIMIT)!r}?" if meant else "."
    return RequestWarning(f"The gateway lists no provider {shown!r}{hint}", serious=True)


def _created_effects(request: CreateByokRequest, _context: PlanContext) -> Iterator[str]:
    yield _STORED
    yield from _role_effects(request, _provider(request))


_ROTATION = Update(
    request=UpdateByokRequest,
    form=rotate_form,
    effects=_rotation_effects,
    action="rotate",
    command="rotate",
    help="overwrite its key with another, read from stdin",
    title="Rotate",
    button="Overwrite the old key",
    done=lambda before, after: (
        f"Credential {CREDENTIALS.name(before)} rotated; "
        f"its key is now {safe_line(after.label or 'masked', NAME_LIMIT)}"
    ),
    fields=("key",),
    secret="key",  # noqa: S106 - the name of a field
    danger="high",
    outside_change=lambda before, now: (
        "" if before.label == now.label else "Somebody else rotated it while the form was open."
    ),
)

CREDENTIALS: Writes[ByokCredential] = Writes(
    resource="byok",
    noun="credential",
    model=ByokCredential,
    fields=FIELDS,
    identity=lambda one: one.id,
    of_row=lambda row: row.credential,
    service=lambda client: client.byok,
    called=("name", "label", "id"),
    feeds=("byok",),
    names=names_feed,
    uses=_uses,
    around=read_around,
    create=Create(
        request=CreateByokRequest,
        form=create_form,
        title=lambda request: f"Store a key of your own for {_provider(request)}",
        effects=_created_effects,
        always=("provider", "workspace_id", "key"),
        help="store a provider key, read from stdin",
        done=lambda made: (
            f"Credential {CREDENTIALS.name(made)} stored; its key is never shown again"
        ),
        button="Store it",
        gateway_warning=_provider_warning,
        warning_field="provider",
        force="a provider that the gateway does not list",
        secret="key",  # noqa: S106 - the name of a field
    ),
    update=Update(request=UpdateByokRequest, form=edit_form, effects=_update_effects),
    further=(_ROTATION,),
    switch=Switch(
        effects=_switch_effects,
        disable_help="leave it out of routing",
        enable_help="let requests use it again",
    ),
    delete=Delete(
        effects=_delete_effects,
        help="delete it, its key wiped",
        done="deleted, its key wiped",
        button="Delete and wipe",
        kept=("name", "label", "provider"),
    ),
    implied=("name", *RESTRICTIONS),
    stands_for={"key": "label"},
)
