"""Programs that a person configured: run without a shell, on their own, for a limited time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

MOST_OUTPUT = 64 * 1024
"""Bytes of output that are read; a program that prints more does not end in time."""


class ProgramError(Exception):
    """A program could not be run, failed or took too long; the message holds none of its output."""


async def run_program(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    limit: float,
    text: str = "",
    keep_output: bool = True,
) -> bytes:
    """Run a program with ``text`` on stdin and return its output. Raises ProgramError.

    It runs in a session of its own: it can neither read the keyboard nor draw over the screen, and
    after ``limit`` seconds it is ended with its children.
    """
    try:
        return await _run(command, environ, limit, text, keep_output=keep_output)
    except TimeoutError:
        why = f"did not end within {limit:g} s"
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "cannot be run"
    raise ProgramError(f"{command[0]}: {why}")


async def _run(
    command: Sequence[str],
    environ: Mapping[str, str],
    limit: float,
    text: str,
    *,
    keep_output: bool,
) -> bytes:
    # Not a pipe of asyncio's: its end never comes while a program that was left behind holds it.
    receiving, sending = os.pipe()
    os.set_blocking(receiving, False)
    with os.fdopen(receiving, "rb", buffering=0) as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=dict(environ),
                stdin=asyncio.subprocess.PIPE,
                stdout=sending if keep_output else asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(sending)
        try:
            async with asyncio.timeout(limit):
                # One that does not read its input is no fault.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    await process.communicate(text.encode())
                status = await process.wait()
        except BaseException:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        if status != 0:
            raise ProgramError(f"{command[0]}: ended with status {status}")
        return output.read(MOST_OUTPUT) or b""
