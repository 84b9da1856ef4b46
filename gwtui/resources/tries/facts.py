"""What a plan of a request is made from: the models, and what restricts the key.

The catalog is open to any key. What restricts a key, only a management key may read; without it
the plan says so.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from gwtui.client.errors import GatewayError, NotFoundError, StatusError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Workspace
from gwtui.domain.catalog import CatalogView, EndpointKey, ModelWithEndpoints, endpoint_key
from gwtui.domain.guardrail_effect import GuardrailRestrictions, restrictions_of
from gwtui.domain.known_secrets import Secret
from gwtui.domain.routing import Router, requested_model, usable_credentials


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What restricts one key, and the provider keys that its requests may use."""

    key: ApiKey | None = None
    guardrails: tuple[GuardrailRestrictions, ...] = ()
    credentials: tuple[ByokCredential, ...] = ()
    default_sort: str | None = None
    default_model: str | None = None
    gaps: tuple[str, ...] = ()
    """What was not read, in words."""
    bound: tuple[Guardrail, ...] = ()
    """The guardrails themselves, for their filters."""


@dataclass(frozen=True, slots=True)
class TryFacts:
    """Everything that a plan is made from; ``unknown`` names models that the catalog has not."""

    offers: tuple[ModelWithEndpoints, ...]
    router: Router
    key: KeyFacts
    unknown: tuple[str, ...] = ()
    known_models: tuple[str, ...] = ()
    """What there is instead; read only where a model is unknown."""


def key_hash(key: Secret) -> str:
    """By which the gateway knows a key: extended contract section 1."""
    return hashlib.sha256(key.get_secret_value().encode()).hexdigest()


async def read_try_facts(
    gateway: GatewayClient, models: Sequence[str], key: KeyFacts, dialect: Dialect
) -> TryFacts:
    """The facts of a request that names these models. Raises GatewayError."""
    found, slugs, zdr = await asyncio.gather(
        asyncio.gather(*(_offers(gateway, requested_model(model).id) for model in models)),
        gateway.providers.list(),
        _zdr(gateway),
    )
    offers = tuple(each for each in found if each is not None)
    view = CatalogView(
        offers=offers,
        provider_slugs={one.name: one.slug for one in slugs.items if one.name and one.slug},
        zdr=zdr,
    )
    unknown = tuple(name for name, each in zip(models, found, strict=True) if each is None)
    listed = (await gateway.catalog.models()).items if unknown else ()
    return TryFacts(
        offers,
        Router(view, dialect, key.guardrails, key.credentials),
        key,
        unknown,
        tuple(model.id for model in listed if model.id),
    )


async def read_key_facts(gateway: GatewayClient, hash: str) -> KeyFacts:
    """What restricts the key of this hash; asks for what only a management key may read.

    What is refused is named in ``gaps``. Raises GatewayError for other failures.
    """
    try:
        key = await gateway.keys.get(hash)
    except StatusError as error:
        if error.status not in {401, 403, 404}:
            raise
        return KeyFacts(gaps=(f"what restricts the key ({error.message})",))
    workspace = await gateway.workspaces.get(key.workspace_id) if key.workspace_id else None
    bound, credentials = await asyncio.gather(
        _guardrails(gateway, key, workspace),
        gateway.byok.list(workspace_id=key.workspace_id),
    )
    guardrails = tuple(map(restrictions_of, bound))
    usable = usable_credentials(credentials.items, key_hash=key.hash, user_id=key.creator_user_id)
    if workspace is None:
        return KeyFacts(key, guardrails, usable, gaps=("the key's workspace",), bound=bound)
    return KeyFacts(
        key,
        guardrails,
        usable,
        workspace.default_provider_sort,
        workspace.default_text_model,
        bound=bound,
    )


async def _offers(gateway: GatewayClient, model_id: str) -> ModelWithEndpoints | None:
    """A model with its endpoints; None for one that the catalog does not have."""
    try:
        model, read = await asyncio.gather(
            gateway.catalog.model(model_id), gateway.catalog.endpoints(model_id)
        )
    except NotFoundError:
        return None
    return ModelWithEndpoints(model, None if read.endpoints is None else tuple(read.endpoints))


async def _zdr(gateway: GatewayClient) -> frozenset[EndpointKey] | None:
    """The endpoints that keep no data; None when that is unknown."""
    try:
        found = await gateway.catalog.zdr_endpoints()
    except GatewayError as error:
        if error.status in {403, 404}:
            return None
        raise
    return frozenset(endpoint_key(endpoint) for endpoint in found.items)


async def _guardrails(
    gateway: GatewayClient, key: ApiKey, workspace: Workspace | None
) -> tuple[Guardrail, ...]:
    """Those of the key, of who made it, and of its workspace."""
    of_keys, of_members = await asyncio.gather(
        gateway.guardrails.key_assignments(None), gateway.guardrails.member_assignments(None)
    )
    ids = [one.guardrail_id for one in of_keys.items if one.key_hash == key.hash]
    if key.creator_user_id is not None:
        ids += [o.guardrail_id for o in of_members.items if o.user_id == key.creator_user_id]
    if workspace is not None:
        ids.append(workspace.default_guardrail_id)
    found = []
    for id in dict.fromkeys(one for one in ids if one):
        try:
            found.append(await gateway.guardrails.get(id))
        except NotFoundError:
            continue  # a default guardrail that nobody changed yet
    return tuple(found)
