"""Exit codes of all commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

OK = 0
FAILED = 1
USAGE = 2
IN_USE = 3
INCOMPLETE = 4
UNKNOWN = 5
BLOCKED = 6
FOUND = 7
INTERRUPTED = 130
TERMINATED = 143

MEANINGS = {
    OK: "success",
    FAILED: "the command failed or the gateway refused it; stderr says why",
    USAGE: "the command line or the configuration is wrong; nothing was sent",
    IN_USE: "another process uses the database or the port",
    INCOMPLETE: "part of the data could not be read, or part of the changes was not applied; "
    "stderr says which",
    UNKNOWN: "a request was sent and its response was lost: it may or may not have taken effect",
    BLOCKED: "a guardrail blocked the test request",
    FOUND: "there are findings of the severity given with --fail-on, or worse",
    INTERRUPTED: "interrupted (SIGINT)",
    TERMINATED: "terminated (SIGTERM)",
}
"""The meaning of each code. ``gwtui check`` uses the codes of monitoring plugins instead."""


class CommandError(Exception):
    """Ends a command with a message on stderr and an exit code."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def reporting(*errors: type[Exception], code: int = USAGE, context: str = "") -> Iterator[None]:
    """Turn these errors into a CommandError; ``context`` is put in front of the message.

    A context manager, also usable as a decorator.
    """
    try:
        yield
    except errors as error:
        raise CommandError(f"{context}{error}", code) from None
