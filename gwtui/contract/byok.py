"""BYOK provider credentials.

See "BYOK provider credential" in the contract and section 6 of the extended contract.
"""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from gwtui.contract.request import RequestModel, SecretText
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Timestamp, Uuid, Whole
from gwtui.contract.values import Region

KEY_HASH = r"^[0-9a-f]{64}$"
MAX_ENTRIES = 100
"""The maximum number of models, users or key hashes in one restriction."""

Entry = Annotated[str, Field(min_length=1)]
Entries = Annotated[list[Entry], Field(max_length=MAX_ENTRIES)]


def _key_hash(value: str) -> str:
    if not re.fullmatch(KEY_HASH, value):
        raise PydanticCustomError("key_hash", "must be the hash of a key: 64 digits 0-9, a-f")
    return value


KeyHash = Annotated[str, Field(json_schema_extra={"pattern": KEY_HASH}), AfterValidator(_key_hash)]
KeyHashes = Annotated[list[KeyHash], Field(min_length=1, max_length=MAX_ENTRIES)]


class ByokCredential(ResponseModel):
    """A provider key that belongs to the customer. Responses never contain the raw key."""

    id: str | None = wire("uuid of the credential")
    name: str | None = wire("display name", nullable=True, optional=True)
    label: str | None = wire("masked form of the stored key")
    provider: str | None = wire("provider identifier")
    disabled: bool | None = wire("whether it is left out of routing")
    is_fallback: bool | None = wire("tried only after the provider's other credentials")
    sort_order: Whole | None = wire("position in which the credentials of a provider are tried")
    allowed_models: list[str] | None = wire("only for these; null for all", nullable=True)
    allowed_user_ids: list[str] | None = wire("only for these; null for all", nullable=True)
    allowed_api_key_hashes: list[str] | None = wire("only for these; null for all", nullable=True)
    workspace_id: str | None = wire("null is usable everywhere", nullable=True)
    created_at: Timestamp | None = wire("when it was stored")
    declared_region: str | None = wire(
        "region, self-declared", nullable=True, optional=True, known=("global", "europe", "us")
    )
    declared_zdr: bool | None = wire("zero retention, self-declared", nullable=True, optional=True)
    is_byok_only: bool | None = wire(
        "never use the gateway's key at this provider, for any model", optional=True
    )
    is_required: bool | None = wire(
        "never use the gateway's key at this provider for this credential's models",
        optional=True,
    )


class _ByokFields(RequestModel):
    name: Annotated[str, Field(max_length=255)] | None = Field(None, description="display name")
    disabled: bool = Field(False, description="leave it out of routing")
    is_fallback: bool = Field(
        False, description="try it only after the provider's other credentials"
    )
    allowed_models: Entries | None = Field(
        None, description="only for these models; null is no restriction"
    )
    allowed_user_ids: Entries | None = Field(
        None, description="only for these users; null is no restriction"
    )
    allowed_api_key_hashes: KeyHashes | None = Field(
        None, description="only for these keys, by hash; null is no restriction"
    )
    declared_region: Region | None = Field(
        None, description="region in which the provider serves requests, as declared by you"
    )
    declared_zdr: bool | None = Field(
        None, description="the provider retains no data, as declared by you"
    )
    is_byok_only: bool = Field(
        False, description="never use the gateway's key at this provider, for any model"
    )
    is_required: bool = Field(
        False,
        description="never use the gateway's key at this provider for this credential's models",
    )

    @model_validator(mode="after")
    def _roles_agree(self) -> Self:
        if self.is_byok_only and self.is_fallback:
            raise PydanticCustomError(
                "byok_roles", "is_byok_only and is_fallback exclude each other"
            )
        return self


class CreateByokRequest(_ByokFields):
    """Body of POST /byok."""

    provider: Annotated[str, Field(min_length=1)] = Field(description="provider identifier")
    key: SecretText = Field(description="the provider key; stored encrypted, never shown again")
    workspace_id: Uuid = Field(
        "", description="workspace of the credential; the default workspace if empty"
    )


class UpdateByokRequest(_ByokFields):
    """Body of PATCH /byok/{id}. Contains only changed fields; ``key`` replaces the key."""

    key: SecretText = Field(
        SecretStr("unchanged"),
        description="the new provider key; it overwrites the current one",
    )
