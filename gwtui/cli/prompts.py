"""Prompts for a line, a token or a secret; without a terminal, secrets are read from stdin."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import sys
import warnings
from typing import TYPE_CHECKING

from gwtui.local.tokens import MAX_BYTES, TokenError, single_token

if TYPE_CHECKING:
    from pydantic import SecretStr


_MOST_BYTES = 64 * 1024


class NoAnswerGivenError(Exception):
    """There was no usable answer; the message never quotes what was typed."""


class PromptLeftError(NoAnswerGivenError):
    """The user left the prompt with Ctrl+C or Ctrl+D."""


def read_token(prompt: str) -> SecretStr:
    """Read a token without echo, or from stdin. Raises NoAnswerGivenError."""
    content = _unseen(prompt, MAX_BYTES)
    if not content.strip():
        raise NoAnswerGivenError("no key was given")
    try:
        return single_token(content, "the input")
    except TokenError as error:
        raise NoAnswerGivenError(str(error)) from None


def read_line(prompt: str) -> str:
    """Read a line from the terminal.

    Raises PromptLeftError, and NoAnswerGivenError without a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NoAnswerGivenError("there is no terminal to prompt on")
    with contextlib.suppress(ImportError):  # some builds of Python lack it
        import readline  # noqa: F401, PLC0415 - lets the line be edited

    try:
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        print(file=sys.stderr, flush=True)
        raise PromptLeftError("cancelled") from None


def read_secret(prompt: str) -> str:
    """Read a secret without echo, or from stdin, where it may have several lines.

    Raises NoAnswerGivenError.
    """
    content = _unseen(prompt, _MOST_BYTES)
    if len(content) > _MOST_BYTES:
        raise NoAnswerGivenError(f"the secret is longer than {_MOST_BYTES // 1024} KiB")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise NoAnswerGivenError("stdin is not UTF-8 text") from None
    if not text.strip():
        raise NoAnswerGivenError("stdin is empty: pass the secret there, for example with '< FILE'")
    return text.strip()


async def await_line(prompt: str) -> str:
    """Read a line from the terminal; cancelling the task ends the prompt."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    # A thread could not be stopped while it waits for a key.
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline().strip()


def _unseen(prompt: str, most: int) -> bytes:
    if not sys.stdin.isatty():
        return sys.stdin.buffer.read(most + 1)
    try:
        with warnings.catch_warnings():
            # Do not prompt if the echo cannot be turned off.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(prompt, sys.stderr).encode()
    except getpass.GetPassWarning:
        raise NoAnswerGivenError("this terminal cannot turn off the echo") from None
    except (EOFError, KeyboardInterrupt):
        raise PromptLeftError("cancelled") from None
