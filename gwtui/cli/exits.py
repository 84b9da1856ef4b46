"""Exit codes, the same for every command."""

from __future__ import annotations

OK = 0
FAILED = 1
"""The command could not do its work; stderr says why."""
USAGE = 2
"""The command line or the configuration is wrong; nothing was tried."""
IN_USE = 3
"""Another process holds what is needed: a database, a port."""
INCOMPLETE = 4
"""A part of it was done: not all there is could be read, or some of several changes were not
applied; stderr says what is missing."""
UNKNOWN = 5
"""A change was sent and its answer was lost: it may have happened or not. Of a try: be billed."""
BLOCKED = 6
"""A guardrail blocked the request of a try: it did its work."""
FOUND = 7
"""What was looked for is there; only where an option asks for this code."""
INTERRUPTED = 130
"""Ended by SIGINT, as shells count it."""
TERMINATED = 143
"""Ended by SIGTERM."""

MEANINGS = {
    OK: "done",
    FAILED: "it could not be done, or was refused; stderr says why",
    USAGE: "the command line or the configuration is wrong; nothing was tried",
    IN_USE: "another process holds what is needed: a database, a port",
    INCOMPLETE: "a part was done or could be read; stderr says what is missing",
    UNKNOWN: "a change was sent and its answer was lost: it may have happened or not",
    BLOCKED: "a guardrail blocked the request of a try",
    FOUND: "findings as grave as --fail-on asks for",
    INTERRUPTED: "ended by SIGINT",
    TERMINATED: "ended by SIGTERM",
}
"""What each code means, for the manual pages. ``gwtui check`` has those of monitoring plugins."""


class CommandError(Exception):
    """A command ends here; the message is for stderr, ``code`` is the exit code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code
