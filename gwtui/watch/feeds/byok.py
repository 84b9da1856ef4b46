"""BYOK credentials of a workspace or of every one: contract "BYOK provider credential"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from gwtui.client.errors import GatewayError
from gwtui.contract.byok import ByokCredential
from gwtui.contract.workspaces import Workspace
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.base_reads import PEOPLE
from gwtui.watch.feeds.concurrent_reads import fetch_of_workspaces, open_workspaces
from gwtui.watch.feeds.keys import read_keys
from gwtui.watch.feeds.workspaces import shown_person
from gwtui.watch.hub import FeedReader, FeedSpec, Scope, of_workspace

FEEDS = "byok"
"""The feeds that a write to a credential makes out of date begin so."""
_NAME = 60


@dataclass(frozen=True, slots=True)
class ByokRow:
    """A credential, the workspace it was listed in, and its place in the order of trial."""

    credential: ByokCredential
    workspace: Workspace | None = None
    place: int | None = None
    """1 is tried first among the enabled ones of the provider; None while it is not tried."""
    rank: int = 0
    """Place among all credentials of the provider, disabled ones included; from 0."""
    tried: int = 0
    """How many of the provider are tried."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Key hash or user id -> name, as far as they are known."""

    @property
    def identity(self) -> str:
        """The id; for a credential that came without one, what else tells it from others."""
        one = self.credential
        return one.id or f"?{one.provider}|{one.label}|{one.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The workspace by name, else by the best identifier there is."""
        space = self.workspace
        return self.credential.workspace_id if space is None else space.shown_name

    @property
    def order(self) -> str:
        """Sorts by provider and workspace, and within them in the order of trial."""
        provider = (self.credential.provider or "\uffff").casefold()
        return f"{provider}\0{(self.workspace_name or '').casefold()}\0{self.rank:06}"


def ranked(rows: Iterable[ByokRow]) -> tuple[ByokRow, ...]:
    """The rows with their places in the order of trial.

    Per provider and workspace: fallbacks last, else by ``sort_order``; disabled ones are not
    tried (contract "BYOK provider credential").
    """
    found: list[ByokRow] = []
    ordered = sorted(rows, key=lambda row: (*_group(row), *_trial(row)))
    for _, group in groupby(ordered, key=_group):
        members = list(group)
        tried = [row for row in members if row.credential.disabled is False]
        places = {row.identity: place for place, row in enumerate(tried, start=1)}
        found += [
            replace(row, place=places.get(row.identity), rank=rank, tried=len(tried))
            for rank, row in enumerate(members)
        ]
    return tuple(found)


def _group(row: ByokRow) -> tuple[str, str]:
    return row.credential.provider or "", row.credential.workspace_id or ""


def _trial(row: ByokRow) -> tuple[bool, bool, int, str]:
    order = row.credential.sort_order
    return row.credential.is_fallback is True, order is None, order or 0, row.identity


async def read_byok(reader: FeedReader, scope: Scope) -> Sequence[ByokRow]:
    """The credentials of one workspace, or of every one, in the order in which they are tried.

    Raises GatewayError: a list that lacks a workspace's credentials is never given out as whole.
    """
    workspace = scope.workspace
    known = await open_workspaces(reader, every=workspace is None)

    async def of_workspace(identity: str | None) -> tuple[ByokCredential, ...]:
        return (await reader.client.byok.list(workspace_id=identity)).items

    rows: dict[str, ByokRow] = {}
    for _, found in await fetch_of_workspaces(known, workspace, of_workspace):
        for credential in found:
            row = ByokRow(credential, known.get(credential.workspace_id or ""))
            rows.setdefault(row.identity, row)
    return ranked(rows.values())


byok_feed = FeedSpec(FEEDS, read_byok, cadence.WORKSPACES, of_workspace)
"""The credentials of a scope: "byok" for all workspaces, "byok:ID" for one."""


async def read_names(reader: FeedReader, _scope: Scope) -> Mapping[str, str]:
    """Names of keys by hash and of members by user id; what cannot be read is left out."""
    names: dict[str, str] = {}
    try:
        for row in await read_keys(reader, None):
            if row.key.hash and (row.key.name or row.key.label):
                names[row.key.hash] = safe_line(row.key.name or row.key.label, _NAME)
    except GatewayError:
        pass
    try:
        for person in await reader.get(PEOPLE):
            if person.id:
                names[person.id] = shown_person(person, person.id)
    except GatewayError:
        pass
    return names


names_feed = FeedSpec("names", read_names, cadence.PROVIDERS)
"""Names of what restrictions list by identifier; they change seldom."""
