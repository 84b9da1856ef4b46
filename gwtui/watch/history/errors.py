"""What can be wrong with a history; never a reason to end the program."""

from __future__ import annotations


class HistoryError(Exception):
    """Base of this package's errors; the message is for a person."""


class HistoryUnusableError(HistoryError):
    """The file cannot be opened, belongs to another program or to a newer version of this one."""


class HistoryDamagedError(HistoryUnusableError):
    """The file is damaged; ``Archive.reopen`` sets it aside and begins anew."""


class HistoryMissingError(HistoryError):
    """Nothing was recorded for this gateway yet."""


class LeaseLostError(HistoryError):
    """Another instance records now; nothing of this transaction was written."""
