"""Runs the program that a person chose for alerts: no shell, no token, a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

from gwtui.local.tokens import TOKEN_VARIABLE

LIMIT = 10.0
"""Seconds that the program may take."""


class AlertCommandError(Exception):
    """The program could not be run, failed or took too long; the message is for a person."""


async def run_alert_command(
    command: Sequence[str],
    text: str,
    *,
    limit: float = LIMIT,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run a program with ``text`` on stdin. Raises AlertCommandError.

    It runs in a session of its own: it can neither read the keyboard nor draw over the screen, and
    a time-out ends its children, too. What it prints is thrown away.
    """
    environ = os.environ if environ is None else environ
    program = command[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env={name: value for name, value in environ.items() if name != TOKEN_VARIABLE},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise AlertCommandError(f"{program}: {why or 'cannot be run'}") from None
    try:
        async with asyncio.timeout(limit):
            # One that does not read its input is no fault.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await process.communicate(text.encode())
            status = await process.wait()
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if isinstance(error, TimeoutError):
            raise AlertCommandError(f"{program}: did not end within {limit:g} s") from None
        raise
    if status != 0:
        raise AlertCommandError(f"{program}: ended with status {status}")
