"""The BYOK credentials of the first day. The provider keys themselves never existed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from gwtui.embedded.simulator.chance import between, hex_text, uuid_text
from gwtui.embedded.simulator.people import WorkspaceSlug
from gwtui.embedded.simulator.world import SeedCredential, SeedUser, SeedWorkspace


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    workspace: WorkspaceSlug
    provider: str
    name: str | None
    age: float
    prefix: str = "sk-"
    keys: tuple[str, ...] | None = None
    """Names of the keys that may use it; None for all."""
    users: tuple[int, ...] | None = None
    """Indexes of the people who may use it; None for all."""
    terms: Mapping[str, Any] = field(default_factory=dict)


_ROWS = (
    _Row(
        workspace="default",
        provider="northwind",
        name="Team account",
        age=298.2,
        prefix="nw_",
    ),
    _Row(
        workspace="default",
        provider="quasar",
        name="Trial (ended in spring)",
        age=240.9,
        terms={"disabled": True},
    ),
    _Row(
        workspace="production",
        provider="tidepool",
        name="Invoice reader, own contract",
        age=119.4,
        prefix="tp-",
        keys=("invoice-reader",),
        terms={"allowed_models": ("meridian/lens-pro",), "declared_zdr": True},
    ),
    _Row(
        workspace="production",
        provider="tidepool",
        name="Overflow",
        age=88.0,
        prefix="tp-",
        terms={"is_fallback": True},
    ),
    _Row(
        workspace="production",
        provider="northwind",
        name="Primary, EU contract",
        age=170.3,
        prefix="nw_",
        terms={"declared_region": "europe", "declared_zdr": True, "is_byok_only": True},
    ),
    _Row(
        workspace="production",
        provider="northwind",
        name="Backup",
        age=169.9,
        prefix="nw_",
        terms={"is_fallback": True, "declared_region": "us", "declared_zdr": False},
    ),
    _Row(
        workspace="production",
        provider="helioscope",
        name=None,
        age=52.7,
        prefix="hs-",
        terms={"is_required": True, "declared_region": "europe"},
    ),
    _Row(
        workspace="research",
        provider="northwind",
        name="BYOK pilot",
        age=37.5,
        prefix="nw_",
        keys=("BYOK pilot (own quota)",),
    ),
    _Row(
        workspace="research",
        provider="kestrel",
        name="University grant — Kenji & Ngozi",
        age=30.1,
        prefix="ki-",
        users=(3, 4),
        terms={"declared_region": "global"},
    ),
    _Row(
        workspace="research",
        provider="bitforge",
        name="Credits of the hackathon",
        age=12.6,
        terms={"disabled": True, "is_fallback": True},
    ),
    _Row(
        workspace="data-pipelines",
        provider="quasar",
        name="Nightly batches",
        age=201.0,
        terms={"allowed_models": ("tessera/mosaic-8b-instruct", "osprey-labs/ponder-32b")},
    ),
    _Row(
        workspace="data-pipelines",
        provider="quasar",
        name="Held back: nobody may use it",
        age=14.8,
        users=(),
    ),
)


def build_credentials(
    seed: int, now: datetime, users: Sequence[SeedUser], workspaces: Sequence[SeedWorkspace]
) -> tuple[SeedCredential, ...]:
    """The credentials, oldest first."""
    made = [
        _credential(seed, now, row, workspace, users)
        for row in _ROWS
        for workspace in workspaces
        if workspace.slug == row.workspace
    ]
    return tuple(sorted(made, key=lambda credential: credential.created_at))


def _credential(
    seed: int, now: datetime, row: _Row, workspace: SeedWorkspace, users: Sequence[SeedUser]
) -> SeedCredential:
    identity = ("credential", row.workspace, row.provider, row.name)
    born = timedelta(days=row.age, seconds=int(between(0, 9000, seed, *identity)))
    hashes = None if row.keys is None else tuple(hex_text(64, seed, "key", k) for k in row.keys)
    people = None if row.users is None else tuple(users[index].id for index in row.users)
    return SeedCredential(
        id=uuid_text(seed, *identity),
        workspace_id=workspace.id,
        provider=row.provider,
        label=f"{row.prefix}...{hex_text(4, seed, 'label', *identity)}",
        created_at=(now - born).replace(microsecond=0),
        terms={
            "name": row.name,
            "allowed_api_key_hashes": hashes,
            "allowed_user_ids": people,
            **row.terms,
        },
    )
