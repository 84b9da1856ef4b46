"""Why the embedded gateway could not start, in words for the person who started it.

GatewayStartError
+- DatabaseInUseError     another process serves this database
+- DatabaseBusyError      another process goes on writing to this database
+- DatabaseMissingError   there is no such database yet
+- DatabaseUnusableError  not a database of ours, from a newer version, or not readable
+- NoWorkspaceError       an ordinary key has nowhere to belong
+- AddressError           the port, host or socket path cannot be used
+- FaultSyntaxError       words that describe no fault
"""

from __future__ import annotations


class GatewayStartError(Exception):
    """Base of all; ``message`` is one plain sentence, fit to print."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class DatabaseInUseError(GatewayStartError):
    """Another gateway process holds the database."""


class DatabaseBusyError(GatewayStartError):
    """Another process is writing to the database; nothing was done."""


class DatabaseMissingError(GatewayStartError):
    """A database was named that does not exist yet."""


class DatabaseUnusableError(GatewayStartError):
    """The file cannot serve as the gateway's database."""


class NoWorkspaceError(GatewayStartError):
    """An ordinary key is to be made without a workspace to belong to."""


class AddressError(GatewayStartError):
    """Nothing can listen there: in use, not permitted, or not an address."""


class FaultSyntaxError(GatewayStartError):
    """Words that describe no fault."""
