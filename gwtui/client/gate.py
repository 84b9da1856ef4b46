"""The gate that every write passes in the transport, below every screen and command."""

from __future__ import annotations

from gwtui.client.connection import Connection

READ_ONLY_PROFILE = "this profile is read-only"


class WriteGate:
    """Open, or closed for a reason. Once closed it stays so for as long as the connection lives."""

    def __init__(self, connection: Connection) -> None:
        self._closed = READ_ONLY_PROFILE if connection.read_only else None

    @property
    def closed(self) -> str | None:
        """Why no write is sent, to end a sentence with; None while writes are sent."""
        return self._closed

    def close(self, why: str) -> None:
        """Send no write from now on. The first reason stays."""
        self._closed = self._closed or why
