"""Exit codes, the same for every command."""

from __future__ import annotations

OK = 0
FAILED = 1
"""The command could not do its work; stderr says why."""
USAGE = 2
"""The command line or the configuration is wrong; nothing was tried."""
IN_USE = 3
"""Another process holds what is needed: a database, a port."""
INTERRUPTED = 130
"""Ended by SIGINT, as shells count it."""
