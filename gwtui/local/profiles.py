"""Profiles: named gateways in ``profiles.toml``, and which one a start of the program means.

    default = "work"

    [profiles.work]
    base_url = "https://gateway.example/api/v1"
    token_command = ["pass", "gateway/management"]
    critical = true

``profile_text`` reads the file, ``profile_file`` changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from gwtui.client.connection import Connection, InvalidConnectionError, normalise_base_url
from gwtui.contract.dialects import DIALECTS, DialectName
from gwtui.domain.suggestions import among
from gwtui.local.check_thresholds import CheckThresholds

FILE_NAME = "profiles.toml"

TokenSource = Literal["token command", "token file", "keyring"]
"""What a profile can name; the environment goes before it, a prompt comes after it."""


class ProfileError(Exception):
    """A profile cannot be used; the message names the file, the line, the key and the fault."""


class Profile(BaseModel):
    """One gateway as a person configured it. Holds no token, only where to find one."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field("", description="empty for a gateway given by address alone")
    base_url: Annotated[str, AfterValidator(normalise_base_url)]
    dialect: DialectName = "generic"
    read_only: bool = Field(False, strict=True)
    critical: bool = Field(False, strict=True, description="look different, ask twice")
    allow_plain_http: bool = Field(False, strict=True)
    use_proxy: bool = Field(False, strict=True)
    token_command: tuple[str, ...] | None = Field(
        None, min_length=1, description="program and arguments that print the token; no shell"
    )
    token_file: Path | None = Field(None, description="file of mode 0600 that holds the token")
    check: CheckThresholds = Field(
        CheckThresholds(), description="when gwtui check warns, see check_thresholds"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.token_command is not None and self.token_file is not None:
            raise ValueError("token_command and token_file exclude each other")
        return self

    @property
    def label(self) -> str:
        """What the screens call it: the name, else the host."""
        return self.name or self.host

    @property
    def host(self) -> str:
        """Host and port of the gateway."""
        return urlsplit(self.base_url).netloc

    @property
    def token_source(self) -> TokenSource:
        """Where its token is looked for when the environment has none."""
        if self.uses_keyring:
            return "keyring"
        return "token command" if self.token_file is None else "token file"

    @property
    def uses_keyring(self) -> bool:
        """Whether its token is looked for in the keyring."""
        return self.token_command is None and self.token_file is None

    def connection(self, token: SecretStr | None, token_source: str) -> Connection:
        """The connection that this profile describes. Raises ProfileError when it is unsafe."""
        try:
            return Connection(
                base_url=self.base_url,
                token=token,
                dialect=DIALECTS[self.dialect],
                read_only=self.read_only,
                allow_plain_http=self.allow_plain_http,
                use_proxy=self.use_proxy,
                label=self.label,
                token_source=token_source,
                critical=self.critical,
            )
        except InvalidConnectionError as error:
            raise ProfileError(f"profile {self.label}: {error}") from None


FIELDS = frozenset(Profile.model_fields) - {"name"}
"""Keys that a profile's table may have."""
CHECK = "check"
CHECK_FIELDS = frozenset(CheckThresholds.model_fields)
"""Keys that the table of this name inside of it may have."""


@dataclass(frozen=True, slots=True)
class ProfileBook:
    """Every profile of the file, by name; empty when there is no file."""

    profiles: Mapping[str, Profile] = field(default_factory=dict)
    default: str | None = None
    unknown: tuple[str, ...] = ()
    """What was passed over, each with its line; empty unless that was asked for."""


def resolve(
    profile_name: str | None,
    base_url: str | None,
    dialect: str | None,
    read_only: bool,
    environ: Mapping[str, str],
    *,
    book: ProfileBook,
) -> Profile:
    """The gateway that is meant: arguments win over the environment, both over the file.

    An address given beside a profile keeps the profile's rules. Where it leads to another host
    the profile's token is not used: it belongs to the profile's own gateway. A profile named by
    argument is not redirected by GWTUI_BASE_URL. Raises ProfileError.
    """
    address = base_url or (None if profile_name else environ.get("GWTUI_BASE_URL"))
    name = profile_name or environ.get("GWTUI_PROFILE") or (None if address else book.default)
    chosen = _named_profile(book, name) if name else None
    if address:
        chosen = _at_address(chosen, address)
    if dialect is not None and dialect not in DIALECTS:
        raise ProfileError(f"there is no dialect {dialect!r}{among(dialect, DIALECTS)}")
    if chosen is None:
        raise ProfileError(
            "no gateway is given: run 'gwtui login' once, or look around with --demo; "
            "--profile NAME, --base-url URL, GWTUI_PROFILE and GWTUI_BASE_URL name one, too"
        )
    return chosen.model_copy(
        update={
            "dialect": dialect or chosen.dialect,
            "read_only": read_only or chosen.read_only,
        }
    )


def _named_profile(book: ProfileBook, name: str) -> Profile:
    if name in book.profiles:
        return book.profiles[name]
    raise ProfileError(f"there is no profile {name!r}{among(name, sorted(book.profiles))}")


def ad_hoc_profile(address: str) -> Profile:
    """A gateway given by address alone. Raises ProfileError."""
    try:
        return Profile(base_url=normalise_base_url(address))
    except InvalidConnectionError as error:
        raise ProfileError(str(error)) from None


def _at_address(profile: Profile | None, address: str) -> Profile:
    alone = ad_hoc_profile(address)
    url = alone.base_url
    if profile is None:
        return alone
    if _origin(url) == _origin(profile.base_url):
        return profile.model_copy(update={"base_url": url})
    foreign = {"base_url": url, "name": "", "token_command": None, "token_file": None}
    return profile.model_copy(update={**foreign, "allow_plain_http": False})


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}[parts.scheme]
