"""Errors that prevent the embedded gateway from starting. All are a ``GatewayStartError``."""

from __future__ import annotations


class GatewayStartError(Exception):
    """Base class; ``message`` is a sentence for the user."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class DatabaseInUseError(GatewayStartError):
    """Another gateway process holds the database."""


class DatabaseBusyError(GatewayStartError):
    """Another process keeps writing to the database; nothing was changed."""


class DatabaseMissingError(GatewayStartError):
    """The database does not exist yet."""


class DatabaseUnusableError(GatewayStartError):
    """The file cannot serve as the gateway's database."""


class DatabaseVersionError(DatabaseUnusableError):
    """Another version of gwtui wrote the database."""


class NoWorkspaceError(GatewayStartError):
    """The workspace for a new inference key does not exist."""


class AddressError(GatewayStartError):
    """The address is in use, not permitted, or not an address."""


class FaultSyntaxError(GatewayStartError):
    """The text of a fault cannot be parsed."""
