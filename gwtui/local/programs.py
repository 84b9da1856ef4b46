"""Runs configured programs without a shell, with a time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

MOST_OUTPUT = 64 * 1024
"""The maximum bytes of output; a program that prints more blocks until the time limit."""


class ProgramError(Exception):
    """A program could not be run, failed or timed out; the message has none of its output."""


async def run_program(
    command: Sequence[str],
    environ: Mapping[str, str],
    *,
    limit: float,
    text: str = "",
    keep_output: bool = True,
) -> bytes:
    """Run a program with ``text`` on stdin and return its output. Raises ProgramError.

    It runs in its own session, so it cannot use the terminal. After ``limit`` seconds, it is killed
    together with its child processes.
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
    # A pipe of asyncio would stay open as long as a background child of the program has it.
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
                # A program need not read its input.
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
