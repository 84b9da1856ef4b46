"""A generation as a list of one, for commands; the dashboard has a screen of its own for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.activity import Generation
from gwtui.domain.safe_text import safe_line
from gwtui.ui.resources.columns import (
    count_column,
    flag_column,
    moment_column,
    text_column,
    usd_column,
)
from gwtui.ui.resources.generation import SECTIONS, shown_name
from gwtui.ui.resources.spec import Column, ResourceSpec, Scope
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

_NAME = 60


async def _look_up(client: GatewayClient, identity: str) -> Sequence[Generation]:
    try:
        return (await client.generations.get(identity),)
    except NotFoundError as error:
        named = safe_line(identity, _NAME)
        why = f"There is no generation “{named}”: unknown, or no longer kept."
        raise GatewayError(why, request_id=error.request_id) from None


def _feed(hub: FeedHub, scope: Scope) -> Feed[Sequence[Generation]]:
    """The one whose id is the scope's parent."""
    identity = scope.parent or ""
    name = f"generation:{identity}"
    return hub.feed(name, lambda client: _look_up(client, identity), cadence.KEYS)


COLUMNS: tuple[Column[Generation], ...] = (
    text_column("id", "Generation", lambda one: one.id, 36, 0, help="its id"),
    moment_column("began", "Began", lambda one: one.created_at, 11, 1, "when it began"),
    text_column("model", "Model", lambda one: one.model, 28, 2, help="model that was asked"),
    text_column("provider", "Provider", lambda one: one.provider_name, 16, 3, help="who ran it"),
    usd_column("cost", "Cost", lambda one: one.total_cost, 10, 4, "what it cost"),
    count_column(
        "in", "Tokens in", lambda one: one.tokens_prompt, 9, 5, "normalised tokens of the prompt"
    ),
    count_column(
        "out",
        "Tokens out",
        lambda one: one.tokens_completion,
        10,
        6,
        "normalised tokens of the completion",
    ),
    text_column("finished", "Finished", lambda one: one.finish_reason, 10, 7, help="why it ended"),
    flag_column("byok", "BYOK", lambda one: one.is_byok, 4, 8, "an own provider key was used"),
)

ONE_GENERATION: ResourceSpec[Generation] = ResourceSpec(
    id="generation",
    title="Generation",
    singular="generation",
    identity=lambda one: one.id or "",
    name=shown_name,
    columns=COLUMNS,
    sections=SECTIONS,
    feed=_feed,
    raw=lambda one: one.raw,
    empty="The gateway said nothing about it.",
    default_sort=("id", False),
)
