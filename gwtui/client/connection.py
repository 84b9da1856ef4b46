"""How to reach a gateway and what is allowed on it, and the write gate. No I/O."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.domain.known_secrets import remember
from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gwtui.client.prometheus import PrometheusServer
    from gwtui.domain.history_source import HistorySource

READ_ONLY_SESSION = "this session is read-only"
API_PATH = "/api/v1"
"""Path of the API on the host. See "Versioning" in the contract."""

_TOKEN = re.compile(r"[\x21-\x7e]+\Z")
_NAME = 60
"""Maximum length of the name that a user types to confirm a change."""
_UNPRINTABLE = re.compile(r"[\s\x00-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of a request, in seconds."""

    connect: float = 3.0
    read: float = 15.0
    write: float = 10.0
    pool: float = 5.0
    whole: float = 30.0
    """Maximum seconds for one attempt, however slowly the response arrives."""


class InvalidConnectionError(ValueError):
    """The connection cannot work or is unsafe; the message contains no secret."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A gateway, the token for it, and settings for its use.

    Raises InvalidConnectionError for an unusable address or token, and for plain http to another
    machine unless ``allow_plain_http``.
    """

    base_url: str
    """Address with path; ``/api/v1`` is added to an address without one."""
    token: SecretStr | None = None
    dialect: Dialect = GENERIC
    read_only: bool = False
    socket_path: Path | None = None
    """Unix socket of the embedded gateway; only the path of ``base_url`` is used."""
    allow_plain_http: bool = False
    use_proxy: bool = False
    """Whether to use the proxy of the environment variables such as HTTPS_PROXY."""
    label: str = ""
    """Profile name for display."""
    token_source: str = ""
    """Source of the token, for display."""
    named_by: tuple[str, ...] = field(default=(), compare=False)
    """Command-line arguments that select this gateway, such as ("--profile", "staging")."""
    critical: bool = False
    """Whether the user must type the profile's name to confirm a write."""
    faults: bool = False
    """Whether errors and delays are injected into the gateway (``--fault``), for display."""
    unused_days: int | None = None
    """Days without a request after which a key counts as unused; None for the default."""
    history: PrometheusServer | None = field(default=None, compare=False)
    """The Prometheus server to read history from; None reads the file on this machine."""
    past: Callable[[], HistorySource | None] | None = field(default=None, compare=False)
    """Returns the simulated past of the demo gateway; None for every other gateway."""

    def __post_init__(self) -> None:
        remember(self.token)
        object.__setattr__(self, "base_url", normalise_base_url(self.base_url))
        if self.token is not None and not _TOKEN.match(self.token.get_secret_value()):
            raise InvalidConnectionError(
                "the key is not usable: it must be printable ASCII without spaces"
            )
        if self.is_plain and not (self.socket_path or self.is_loopback or self.allow_plain_http):
            raise InvalidConnectionError(
                f"plain http to {self.host_and_port} would send the key in clear: use https, "
                "or allow it with 'gwtui login --allow-plain-http'"
            )

    @property
    def is_plain(self) -> bool:
        """Whether the address is http."""
        return self.base_url.startswith("http://")

    @property
    def is_loopback(self) -> bool:
        """Whether the address is on this machine."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def critical_name(self) -> str:
        """The name that the user types to confirm a change; empty if not critical."""
        return safe_line(self.label or self.host_and_port, _NAME) if self.critical else ""

    @property
    def host_and_port(self) -> str:
        """Host and port of the address, for messages."""
        return urlsplit(self.base_url).netloc


def normalise_base_url(text: str) -> str:
    """Strip spaces and trailing slashes from a base URL; add /api/v1 if it has no path.

    Raises InvalidConnectionError. Its message never quotes the URL, which may hold a password.
    """
    parts = _split(text)
    path = parts.path.rstrip("/") or API_PATH
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _split(text: str) -> SplitResult:
    parts = _parsed(text.strip())
    if parts is None or _UNPRINTABLE.search(text.strip()):
        raise InvalidConnectionError("the base URL is not a valid address")
    if parts.scheme not in {"http", "https"}:
        raise InvalidConnectionError("the base URL must begin with https:// or http://")
    if "@" in parts.netloc:
        raise InvalidConnectionError("the base URL must not hold a user name or password")
    if not parts.hostname:
        raise InvalidConnectionError("the base URL must name a host")
    if parts.query or parts.fragment:
        raise InvalidConnectionError("the base URL must not have a query or a fragment")
    return parts


def _parsed(text: str) -> SplitResult | None:
    """Parse an address. Returns None instead of raising: the error could quote a password."""
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0
    except ValueError:
        return None
    return parts if has_port else None


class WriteGate:
    """Allows writes until it is closed with a reason; it never opens again."""

    def __init__(self, connection: Connection) -> None:
        self._closed = READ_ONLY_SESSION if connection.read_only else None

    @property
    def closed(self) -> str | None:
        """Why writes are blocked, such as "this session is read-only"; None if allowed."""
        return self._closed

    def close(self, why: str) -> None:
        """Block all further writes. A later call does not change the reason."""
        self._closed = self._closed or why
