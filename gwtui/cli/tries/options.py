"""The options of test requests: the key, the cost limit, the prompt and its parameters."""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from gwtui.cli.command import FILES, Argument
from gwtui.cli.exits import USAGE, CommandError, reporting
from gwtui.cli.prompts import NoAnswerGivenError, read_token
from gwtui.contract.chat import ChatRequest
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.request import RequestModel, problems
from gwtui.domain.known_secrets import Secret, Token
from gwtui.domain.money import parse_usd, usd
from gwtui.domain.safe_text import safe_line
from gwtui.local.tokens import (
    TOKEN_VARIABLE,
    TRY_KEY_VARIABLE,
    TokenError,
    take_token,
    token_from_command,
)
from gwtui.resources.tries.plan import DEFAULT_MAX_COST

DEFAULT_MAX_TOKENS = 512
"""Default of --max-tokens, which limits the cost."""
_NONE = "none"
_ASK = "Key for the test request (not stored): "
R = TypeVar("R", bound=RequestModel)


def chat_request(arguments: argparse.Namespace) -> ChatRequest:
    """Return the chat request of the options. Raises CommandError."""
    messages = [{"role": "system", "content": arguments.system}] if arguments.system else []
    messages.append({"role": "user", "content": _prompt(arguments)})
    given = {
        "max_tokens": arguments.max_tokens or None,
        "temperature": arguments.temperature,
        "top_p": arguments.top_p,
        "seed": arguments.seed,
    }
    return _validated(ChatRequest, {**_common(arguments), "messages": messages}, given)


def embedding_request(arguments: argparse.Namespace) -> EmbeddingRequest:
    """Return the embedding request of the options. Raises CommandError."""
    texts = arguments.prompt or [_prompt(arguments)]
    if not all(text.strip() for text in texts):
        raise _empty()
    given = {"dimensions": arguments.dimensions}
    return _validated(EmbeddingRequest, {**_common(arguments), "input": texts}, given)


def _common(arguments: argparse.Namespace) -> dict[str, Any]:
    provider = getattr(arguments, "provider", None)  # a comparison has endpoints instead
    pinned = {"provider": {"only": provider}} if provider else {}
    return {"model": arguments.model, **pinned}


def _validated(model: type[R], body: dict[str, Any], given: dict[str, Any]) -> R:
    body |= {name: value for name, value in given.items() if value is not None}
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise CommandError("; ".join(map(str, problems(error))), USAGE) from None


def _prompt(arguments: argparse.Namespace) -> str:
    if arguments.prompt is not None and arguments.file is not None:
        raise CommandError("give the prompt with either --prompt or --file, not both", USAGE)
    if isinstance(arguments.prompt, str):
        text = arguments.prompt
    elif arguments.file is not None:
        file = arguments.file
        text = _read(file, partial(Path(file).read_text, encoding="utf-8"))
    elif arguments.key_stdin:
        raise CommandError(
            "--key-stdin reads the key from stdin: give the prompt with --prompt or --file", USAGE
        )
    elif sys.stdin.isatty():
        raise CommandError("give a prompt with --prompt or --file, or on stdin", USAGE)
    else:
        text = _read("stdin", sys.stdin.read)
    if not text.strip():
        raise _empty()
    return text


def _empty() -> CommandError:
    return CommandError("the prompt is empty: give one with --prompt, --file or on stdin", USAGE)


def _read(source: str, read: Callable[[], str]) -> str:
    try:
        return read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise CommandError(f"{safe_line(source, 200)}: {reason}", USAGE) from None


def try_key(arguments: argparse.Namespace, *, may_ask: bool = True) -> Secret | None:
    """Return the key from the given source, from the environment or from a prompt.

    None if there is no key and prompting is not allowed. Raises CommandError. Do not call it inside
    an event loop.
    """
    # Always removed from the environment, so that no child process inherits it.
    from_environment = take_token(os.environ, TRY_KEY_VARIABLE)
    with reporting(TokenError, NoAnswerGivenError):
        if arguments.key_command:
            return asyncio.run(token_from_command(_words(arguments.key_command), _environment()))
        if arguments.key_stdin:
            return read_token(_ASK)
        if from_environment:
            return Token(from_environment)
        if may_ask and sys.stdin.isatty():
            return read_token(_ASK)
    if may_ask:
        ways = f"--key-command, --key-stdin or {TRY_KEY_VARIABLE}"
        raise CommandError(f"there is no key for the test request: use {ways}", USAGE)
    return None


def _environment() -> dict[str, str]:
    # The environment of the key command must not contain the management token.
    return {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise CommandError("--key-command: not a valid command", USAGE)
    return words


def _max_cost(text: str) -> Decimal | None:
    if text == _NONE:
        return None
    try:
        amount = parse_usd(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}, or none") from None
    if amount < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return amount


_KEY = "key for the request"
KEY = (
    Argument(
        "--key-stdin",
        action="store_true",
        group=_KEY,
        either="source",
        help="read the key from stdin",
    ),
    Argument(
        "--key-command",
        metavar="COMMAND",
        group=_KEY,
        either="source",
        help=f"get the key from this program (default: {TRY_KEY_VARIABLE}, else a prompt)",
    ),
)
"""Options that select the key."""

COST = (
    Argument(
        "--max-cost",
        type=_max_cost,
        default=DEFAULT_MAX_COST,
        metavar="USD",
        help=f"refuse requests that may cost more; 'none' for no limit (default: "
        f"{usd(DEFAULT_MAX_COST)})",
    ),
    Argument(
        "--allow-tries",
        action="store_true",
        help="send the request even if the profile is read-only; it costs money",
    ),
)
"""Options that permit sending."""

MODEL = Argument(
    "--model", required=True, metavar="AUTHOR/SLUG", kind="models", help="id of the model"
)
PROVIDER = Argument(
    "--provider",
    action="append",
    metavar="SLUG",
    help="use only this provider, or the endpoint with this tag; may be repeated",
)
STREAM = Argument("--stream", action="store_true", help="stream the answer")
QUESTION = (
    MODEL,
    Argument("--system", metavar="TEXT", help="system prompt"),
    Argument("--prompt", metavar="TEXT", help="prompt (default: --file, else stdin)"),
    Argument("--file", metavar="FILE", kind=FILES, help="read the prompt from this file"),
    Argument(
        "--max-tokens",
        type=int,
        default=DEFAULT_MAX_TOKENS,
        metavar="N",
        help=f"max output tokens; 0 for the limit of the model (default: {DEFAULT_MAX_TOKENS})",
    ),
    Argument("--temperature", type=float, metavar="N", help="sampling temperature, 0 to 2"),
    Argument("--top-p", type=float, metavar="N", help="nucleus sampling, 0 to 1"),
    Argument("--seed", type=int, metavar="N", help="seed for reproducible answers"),
)
"""Options of a chat request."""

EMBEDDING = (
    MODEL,
    PROVIDER,
    Argument(
        "--prompt",
        action="append",
        metavar="TEXT",
        help="text to embed; may be repeated (default: --file, else stdin)",
    ),
    Argument("--file", metavar="FILE", kind=FILES, help="read the text from this file"),
    Argument("--dimensions", type=int, metavar="N", help="dimensions of the vectors"),
)
"""Options of an embedding request."""
