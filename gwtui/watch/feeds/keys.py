"""API keys and their guardrails.

See "API key" in the contract and section 1 of the extended contract.

Each read of the list also records the usage and last request of keys that are being rotated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.client.answers import LARGE_LIST, run_by_size
from gwtui.client.errors import GatewayError
from gwtui.contract.keys import ApiKey, limit_used_share
from gwtui.contract.workspaces import Workspace
from gwtui.watch import cadence
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope, single_use_reader
from gwtui.watch.reads import GrowingList, fetch_of_workspaces, keys_of, read_workspaces

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.contract.keys import CurrentKey
    from gwtui.watch.feeds.guardrails import GuardrailRow


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """The guardrails of a key.

    ``own_id`` is the id of its own guardrail, None for none; ``known`` is False if that was not
    read. ``own`` and the workspace ``default`` are None if unknown or absent.
    """

    own_id: str | None = None
    own: GuardrailRow | None = None
    default: GuardrailRow | None = None
    known: bool = True

    @property
    def target(self) -> str | None:
        """The id of the guardrail to open: the key's own, else the workspace default."""
        if self.own_id is not None:
            return self.own_id
        exists = self.default is not None and self.default.exists
        return self.default.identity if exists and self.default is not None else None


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key with its workspace and guardrails; ``binding`` is None until it is read."""

    key: ApiKey
    workspace: Workspace | None = None
    binding: KeyBinding | None = None

    @property
    def identity(self) -> str:
        """The hash, or other fields if there is none."""
        key = self.key
        return key.hash or f"?{key.label}|{key.name}|{key.created_at}"

    @property
    def workspace_name(self) -> str | None:
        """The name of the workspace, else its id."""
        space = self.workspace
        return self.key.workspace_id if space is None else space.shown_name

    @property
    def used_share(self) -> Decimal | None:
        """The used share of the limit, 0 to 1 and above."""
        return limit_used_share(self.key.limit, self.key.limit_remaining)


async def read_keys(
    reader: FeedReader, workspace: str | None, *, shown: bool = False
) -> Sequence[KeyRow]:
    """The keys of one workspace or of all, including disabled and expired ones.

    ``shown``: for the list screen, which reads again and shows the rows as they arrive. Raises
    GatewayError.
    """
    known = await read_workspaces(reader, every=workspace is None)
    rows_of = partial(_rows, known)
    growing = GrowingList(reader, "keys", rows_of, parts=len(known) if workspace is None else 1)

    def keys_in(identity: str | None) -> Awaitable[tuple[ApiKey, ...]]:
        what = keys_of(identity)
        return growing.read(identity, reader.fresh, what) if shown else reader.get(what)

    listed = dict(await fetch_of_workspaces(known, workspace, keys_in))
    return await run_by_size(partial(rows_of, listed), sum(map(len, listed.values())), LARGE_LIST)


def _rows(
    known: Mapping[str, Workspace], listed: Mapping[str | None, Sequence[ApiKey]]
) -> Sequence[KeyRow]:
    rows: dict[str, KeyRow] = {}
    for workspace_id, keys in listed.items():
        for key in keys:
            row = KeyRow(key, known.get(key.workspace_id or workspace_id or ""))
            rows.setdefault(row.identity, row)
    return tuple(rows.values())


async def fetch_keys(client: GatewayClient, workspace: str | None) -> Sequence[KeyRow]:
    """The keys of one workspace or of all, read without a feed. Raises GatewayError."""
    return await read_keys(single_use_reader(client), workspace)


async def record_rotated_keys(hub: FeedHub, keys: Iterable[ApiKey]) -> None:
    """Record the usage and last request of keys that are being rotated. Never fails.

    Does nothing for a hub without a ledger.
    """
    if hub.ledger is not None:
        by_hash = {key.hash: key for key in keys if key.hash}
        path, now = hub.ledger.path, hub.clock.now()
        with suppress(OSError):
            await asyncio.to_thread(_record_rotated, path, hub.connection.base_url, by_hash, now)


def _record_rotated(ledger: Path, gateway: str, keys: dict[str, ApiKey], now: datetime) -> None:
    from gwtui.local.rotations import (  # noqa: PLC0415 - not before the first rows
        FILE_NAME,
        RotationFile,
        record_old_key,
    )

    file = RotationFile(ledger.with_name(FILE_NAME))
    for rotation in file.rotations(gateway):
        if rotation.ended is None and rotation.old_hash in keys:
            record_old_key(file, rotation, keys[rotation.old_hash], now)


async def _keys(reader: FeedReader, scope: Scope) -> Sequence[KeyRow]:
    rows = await read_keys(reader, scope.workspace, shown=True)
    await record_rotated_keys(reader.hub, (row.key for row in rows))
    return rows


keys_feed = FeedSpec("keys", _keys, cadence.KEYS, workspace=True)
"""The keys of a scope: "keys" for all workspaces, "keys:ID" for one."""


# The key that is used here: GET /key --------------------------------------------------------------

NOT_MANAGEMENT = "this key is not a management key"
"""Why nothing can be changed, as the end of a sentence."""


async def fetch_current_key(client: GatewayClient) -> CurrentKey:
    """Read the key in use; if it is not a management key, block writes from now on.

    Raises GatewayError.
    """
    current = await client.keys.current()
    if current.is_management_key is False:
        client.gate.close(NOT_MANAGEMENT)
    return current


current_key_feed = FeedSpec(
    "key", lambda reader, _scope: fetch_current_key(reader.client), cadence.KEYS
)
"""The key in use."""


@dataclass(frozen=True, slots=True)
class KeyRights:
    """How many models the key in use may call: ``models``, of the catalog's ``of``.

    Either number is None if it could not be read.
    """

    models: int | None = None
    of: int | None = None


async def _key_rights(reader: FeedReader, _scope: Scope) -> KeyRights:
    models: int | None = None
    of: int | None = None
    with suppress(GatewayError):
        models = len((await reader.client.catalog.user_models()).items)
    with suppress(GatewayError):
        of = await reader.client.catalog.count()
    return KeyRights(models, of)


key_rights_feed = FeedSpec("models:reach", _key_rights, cadence.MODELS)
"""The number of models that the key in use may call."""


async def _current_rows(reader: FeedReader, _scope: Scope) -> Sequence[CurrentKey]:
    return (await fetch_current_key(reader.client),)


current_key_rows_feed = FeedSpec("key:list", _current_rows, cadence.KEYS)
"""The key in use as a list of one."""
