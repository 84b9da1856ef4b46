"""Prompts on the terminal for a line, a token or a secret; without one they are read from stdin."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gwtui.local.tokens import MAX_BYTES, TokenError, single_token

if TYPE_CHECKING:
    from gwtui.domain.known_secrets import Secret


_MOST_BYTES = 64 * 1024


class NoAnswerGivenError(Exception):
    """Nobody answered, or not with something usable; the message repeats nothing."""


class PromptLeftError(NoAnswerGivenError):
    """A person left the prompt, by Ctrl+C or Ctrl+D."""


def read_token(prompt: str, *, empty: Secret | None = None) -> Secret:
    """A token that is typed without being shown, or all of stdin when that is no terminal.

    ``empty`` is what an empty answer stands for. Raises NoAnswerGivenError.
    """
    content = _unseen(prompt, MAX_BYTES)
    if not content.strip():
        if empty is not None:
            return empty
        raise NoAnswerGivenError("no key was given")
    try:
        return single_token(content, "the input")
    except TokenError as error:
        raise NoAnswerGivenError(str(error)) from None


def read_line(prompt: str, typed: str = "") -> str:
    """A line typed on the terminal, in which ``typed`` stands already and can be edited.

    Raises PromptLeftError, and NoAnswerGivenError where there is no terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NoAnswerGivenError("there is no terminal to ask on")
    with _typed_before(typed):
        try:
            return input(prompt).strip()
        except (EOFError, KeyboardInterrupt):
            print(file=sys.stderr, flush=True)
            raise PromptLeftError("nothing was given") from None


@contextlib.contextmanager
def _typed_before(text: str) -> Iterator[None]:
    """Let the lines that are asked for begin with a text, where Python can edit lines."""
    try:
        import readline  # noqa: PLC0415 - only for who is asked; some builds have none
    except ImportError:
        yield
        return
    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook()


def read_secret(prompt: str) -> str:
    """A text that is typed without being shown, or all of stdin when that is no terminal.

    It may have several lines. Raises NoAnswerGivenError.
    """
    content = _unseen(prompt, _MOST_BYTES)
    if len(content) > _MOST_BYTES:
        raise NoAnswerGivenError("that is far more than a secret")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise NoAnswerGivenError("what came on stdin is not UTF-8 text") from None
    if not text.strip():
        raise NoAnswerGivenError("nothing came on stdin")
    return text.strip()


async def await_line(prompt: str) -> str:
    """A line typed on the terminal, empty when nothing was; an interrupt ends the waiting."""
    print(prompt, end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    # Not in a thread: nothing could end it while it waits for a key.
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline().strip()


def _unseen(prompt: str, most: int) -> bytes:
    """What is typed without being shown, or ``most`` bytes of stdin and one that is too many."""
    if not sys.stdin.isatty():
        return sys.stdin.buffer.read(most + 1)
    try:
        with warnings.catch_warnings():
            # Where typing cannot be hidden, do not ask.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(prompt, sys.stderr).encode()
    except getpass.GetPassWarning:
        raise NoAnswerGivenError("this terminal cannot hide what is typed") from None
    except (EOFError, KeyboardInterrupt):
        raise PromptLeftError("no key was given") from None
