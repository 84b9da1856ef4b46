"""Queries to a Prometheus server. Calls block, so call from a thread, not from the event loop."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from gwtui import __version__
from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from pydantic import SecretStr

TIMEOUT = 3.0
"""Timeout of each step of a request in seconds. Short, because quitting may wait for it."""
PAUSE = 10.0
"""Seconds after a failed request during which further queries fail without a request."""
_MESSAGE = 160


class PrometheusError(Exception):
    """The server gave no usable response; the message contains no token."""


@dataclass(frozen=True, slots=True)
class PrometheusServer:
    """The address of a Prometheus server with recorded history.

    ``match`` are label matchers added to every query, such as ``job="gwtui"``.
    """

    url: str
    match: str
    find_token: Callable[[], Awaitable[SecretStr | None]]
    allow_plain_http: bool = False
    use_proxy: bool = False


class PrometheusSeries(NamedTuple):
    """The labels of a series, and its values by Unix time."""

    labels: Mapping[str, str]
    values: Mapping[int, Decimal]


class PrometheusClient:
    """Sends queries to one server; they raise PrometheusError.

    The constructor raises it for a token that plain http would expose. With a ``fault``, every
    query fails with that message and nothing is sent.
    """

    def __init__(self, server: PrometheusServer, token: SecretStr | None, fault: str = "") -> None:
        self.match = server.match
        parts = urlsplit(server.url)
        self._where = parts.netloc
        local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        if token and parts.scheme == "http" and not local and not server.allow_plain_http:
            raise PrometheusError(f"Prometheus at {self._where}: plain http would send its token")
        self._http = httpx.Client(
            base_url=f"{server.url.rstrip('/')}/api/v1/",
            headers={"User-Agent": f"gwtui/{__version__}"}
            | ({"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}),
            timeout=TIMEOUT,
            trust_env=server.use_proxy,
        )
        self._fault = fault
        self._failed_at = math.inf

    def query(self, expression: str, at: int | None) -> Sequence[PrometheusSeries]:
        """Query an expression at a Unix time; None means now by the server's clock."""
        return self._get("query", expression, **({} if at is None else {"time": at}))

    def query_range(
        self, expression: str, begin: int, end: int, step: int
    ) -> Sequence[PrometheusSeries]:
        """Query an expression every ``step`` seconds between two Unix times, both included."""
        return self._get("query_range", expression, start=begin, end=end, step=step)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _get(self, path: str, expression: str, **times: int) -> Sequence[PrometheusSeries]:
        if self._fault and time.monotonic() - self._failed_at < PAUSE:
            raise PrometheusError(self._fault)
        try:
            response = self._http.get(path, params={"query": expression, **times})
            response.raise_for_status()
            series = [_series(entry) for entry in response.json()["data"]["result"]]
        except (httpx.HTTPError, ValueError, LookupError, TypeError, InvalidOperation) as error:
            self._fault = f"Prometheus at {self._where}: {_reason(error)}"
            self._failed_at = time.monotonic()
            raise PrometheusError(self._fault) from None
        self._fault = ""
        return series


def _series(entry: Any) -> PrometheusSeries:
    pairs = entry["values"] if "values" in entry else [entry["value"]]
    values = {int(at): Decimal(text) for at, text in pairs}
    return PrometheusSeries(entry["metric"], {at: v for at, v in values.items() if v.is_finite()})


def _reason(error: Exception) -> str:
    """The failure in a few words, without any header."""
    match error:
        case httpx.HTTPStatusError():
            return f"it responded with {error.response.status_code}"
        case httpx.TimeoutException():
            return f"no response in {TIMEOUT:g} s"
        case httpx.HTTPError():
            return (
                f"it cannot be reached ({safe_line(str(error) or type(error).__name__, _MESSAGE)})"
            )
    return "its response cannot be read"
