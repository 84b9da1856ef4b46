"""The certificate of a gateway: looked at by itself, with the trust of every other connection."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from gwtui.client.connection import Connection

_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TlsFacts:
    """The TLS version, and the end of the certificate's validity (UTC, None if unknown)."""

    protocol: str
    until: datetime | None


class CertificateError(Exception):
    """There is no trusted connection; the message says why.

    ``distrusted``: the gateway showed a certificate that is not to be trusted.
    """

    def __init__(self, message: str, *, distrusted: bool = False) -> None:
        super().__init__(message)
        self.distrusted = distrusted


async def read_certificate(connection: Connection) -> TlsFacts:
    """Connect, look, and close; nothing is sent. Raises CertificateError."""
    from gwtui.client.transport import tls_context  # noqa: PLC0415 - loads what --help does not need

    parts = urlsplit(connection.base_url)
    try:
        async with asyncio.timeout(_SECONDS):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or 443, ssl=tls_context(connection)
            )
    except ssl.SSLCertVerificationError as error:
        why = f"its certificate is not trusted: {error.verify_message}"
        raise CertificateError(why, distrusted=True) from None
    except TimeoutError:
        raise CertificateError(f"no connection within {_SECONDS:g} s") from None
    except (OSError, ssl.SSLError) as error:
        raise CertificateError(error.strerror or type(error).__name__) from None
    try:
        found: ssl.SSLObject = writer.get_extra_info("ssl_object")
        ends = (found.getpeercert() or {}).get("notAfter")
        until = None
        if isinstance(ends, str):
            until = datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC)
        return TlsFacts(found.version() or "", until)
    finally:
        writer.close()
