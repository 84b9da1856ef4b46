"""BYOK credentials of one workspace or of all. See "BYOK provider credential" in the contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby

from gwtui.client.errors import GatewayError
from gwtui.contract.byok import ByokCredential
from gwtui.contract.workspaces import Workspace
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.feeds.keys import read_keys
from gwtui.watch.feeds.workspaces import read_person_names
from gwtui.watch.hub import FeedReader, FeedSpec, Scope
from gwtui.watch.reads import fetch_of_workspaces, read_workspaces

FEEDS = "byok"
"""Prefix of the feeds to refresh after a write to a credential."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class ByokRow:
    """A credential with its workspace and its place in the order of use."""

    credential: ByokCredential
    workspace: Workspace | None = None
    place: int | None = None
    """The place among the enabled credentials of the provider, from 1; None if disabled."""
    rank: int = 0
    """The place among all credentials of the provider, including disabled ones, from 0."""
    tried: int = 0
    """The number of enabled credentials of the provider."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Known names by key hash or user id."""

    @property
    def identity(self) -> str:
        """The id, or other fields if there is none."""
        credential = self.credential
        return credential.id or f"?{credential.provider}|{credential.label}|{credential.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The name of the workspace, else its id."""
        space = self.workspace
        return self.credential.workspace_id if space is None else space.shown_name

    @property
    def order(self) -> str:
        """The sort key: provider, workspace, order of use."""
        provider = (self.credential.provider or "\uffff").casefold()
        return f"{provider}\0{(self.workspace_name or '').casefold()}\0{self.rank:06}"


def ranked(rows: Iterable[ByokRow]) -> tuple[ByokRow, ...]:
    """Sort credentials and set their places in the order of use.

    Within a provider and workspace, credentials are in the order of ``sort_order``, with fallbacks
    last. Only enabled credentials have a place, because the gateway uses no others; the rest are
    returned too. See "BYOK provider credential" in the contract.
    """
    placed: list[ByokRow] = []
    ordered = sorted(rows, key=lambda row: (*_group(row), *_trial(row)))
    for _, group in groupby(ordered, key=_group):
        members = list(group)
        tried = [row for row in members if row.credential.disabled is False]
        places = {row.identity: place for place, row in enumerate(tried, start=1)}
        placed += [
            replace(row, place=places.get(row.identity), rank=rank, tried=len(tried))
            for rank, row in enumerate(members)
        ]
    return tuple(placed)


def _group(row: ByokRow) -> tuple[str, str]:
    return row.credential.provider or "", row.credential.workspace_id or ""


def _trial(row: ByokRow) -> tuple[bool, bool, int, str]:
    order = row.credential.sort_order
    return row.credential.is_fallback is True, order is None, order or 0, row.identity


async def read_byok(reader: FeedReader, scope: Scope) -> Sequence[ByokRow]:
    """The credentials of one workspace or of all, in the order of use. Raises GatewayError."""
    workspace = scope.workspace
    known = await read_workspaces(reader, every=workspace is None)

    async def of_workspace(identity: str | None) -> tuple[ByokCredential, ...]:
        return (await reader.client.byok.list(workspace_id=identity)).items

    rows: dict[str, ByokRow] = {}
    for _, credentials in await fetch_of_workspaces(known, workspace, of_workspace):
        for credential in credentials:
            row = ByokRow(credential, known.get(credential.workspace_id or ""))
            rows.setdefault(row.identity, row)
    return ranked(rows.values())


byok_feed = FeedSpec(FEEDS, read_byok, cadence.WORKSPACES, workspace=True)
"""The credentials of a scope: "byok" for all workspaces, "byok:ID" for one."""


async def read_names(reader: FeedReader, _scope: Scope) -> Mapping[str, str]:
    """Names of keys by hash and of members by user id; empty if they cannot be read."""
    names = await read_person_names(reader)
    with suppress(GatewayError):
        for row in await read_keys(reader, None):
            if row.key.hash and (row.key.name or row.key.label):
                names[row.key.hash] = safe_line(row.key.name or row.key.label, _NAME)
    return names


names_feed = FeedSpec("names", read_names, cadence.PROVIDERS)
"""Names for the ids in restrictions; they rarely change."""
