"""Choices for form fields: providers, models, members, keys.

Each function returns the ``Choices`` of a field, which are read when the field is opened. They
raise GatewayError if the list cannot be read; the field then accepts any input. All texts have
passed ``safe_line``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeVar

from gwtui.client.errors import GatewayError
from gwtui.contract.models import Model
from gwtui.crud.fields import Choices, FormContext, PickOption
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.keys import fetch_keys
from gwtui.watch.feeds.models import models_feed, providers_feed
from gwtui.watch.feeds.workspaces import shown_person
from gwtui.watch.hub import Scope

T = TypeVar("T")

PATIENCE = 1.5
"""Seconds that a form waits for optional names."""
_NAME = 60


async def value_soon(feed: Feed[T], patience: float = PATIENCE) -> T | None:
    """Return the feed's value; None if it does not arrive within ``patience`` seconds."""
    if feed.state.value is None:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await feed.refresh()
    return feed.state.value


async def value_now(feed: Feed[T]) -> T:
    """Return the feed's cached value, or read it if there is none. Raises GatewayError."""
    state = feed.state if feed.state.value is not None else await feed.refresh()
    if state.value is None:
        raise state.error or GatewayError("There is no response yet.")
    return state.value


def providers(context: FormContext) -> Choices:
    """Return the providers of the catalog; the slug is the value of a choice."""

    async def read() -> Sequence[PickOption]:
        listed = await value_now(providers_feed(context.hub, Scope()))
        return [
            PickOption(
                provider.slug,
                safe_line(provider.slug, _NAME),
                safe_line(provider.name or "", _NAME),
            )
            for provider in listed
            if provider.slug
        ]

    return read


def models(context: FormContext, *, giving: str | None = None) -> Choices:
    """Return the models of the catalog; the identifier is the value of a choice.

    ``giving`` limits them to an output type ("text", "image"); models of unknown output stay.
    """

    async def read() -> Sequence[PickOption]:
        listed = await value_now(models_feed(context.hub, Scope()))
        return [
            PickOption(model.id, safe_line(model.id, _NAME), safe_line(model.name or "", _NAME))
            for model in listed
            if model.id and (giving is None or _gives(model, giving))
        ]

    return read


def _gives(model: Model, output: str) -> bool:
    outputs = model.architecture.output_modalities if model.architecture else None
    return outputs is None or output in outputs


def members(context: FormContext) -> Choices:
    """Return the members of the organization; the user id is the value of a choice."""

    async def read() -> Sequence[PickOption]:
        return [
            PickOption(item.id, shown_person(item, item.id), safe_line(item.email or "", _NAME))
            for item in (await context.client.organization.members()).items
            if item.id
        ]

    return read


def keys(context: FormContext) -> Choices:
    """Return the API keys of all workspaces; the hash is the value of a choice."""

    async def read() -> Sequence[PickOption]:
        return [
            PickOption(
                row.key.hash,
                safe_line(row.key.name or row.key.label or row.key.hash, _NAME),
                safe_line(row.workspace_name or "", _NAME),
            )
            for row in await fetch_keys(context.client, None)
            if row.key.hash
        ]

    return read
