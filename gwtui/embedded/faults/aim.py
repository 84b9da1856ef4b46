"""Which operation a request is for, and which operations a person means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache

from starlette.types import Scope

from gwtui.embedded.app import PREFIX, literal_first
from gwtui.embedded.faults.fault import Where
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import OPERATIONS

_PARAMETER = re.compile(r"\{\w*\}")
_METHODS = frozenset(operation.method for operation in OPERATIONS)
_EVERYTHING = frozenset({"", "*", "everything", "all"})


def operation_of(scope: Scope) -> str | None:
    """The identifier of the operation that a request is for; None when there is none."""
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    path = scope["path"]
    return next(
        (id_ for pattern, id_ in _routes().get(method, ()) if pattern.fullmatch(path)), None
    )


@cache
def _routes() -> Mapping[str, list[tuple[re.Pattern[str], str]]]:
    found: dict[str, list[tuple[re.Pattern[str], str]]] = {method: [] for method in _METHODS}
    for operation in sorted(OPERATIONS, key=lambda one: literal_first(one.path)):
        parts = [re.escape(part) for part in _PARAMETER.split(operation.path)]
        pattern = re.compile(re.escape(PREFIX) + "[^/]+".join(parts))
        found[operation.method].append((pattern, operation.operation_id))
    return found


def where(text: str) -> Where:
    """The requests that a person means.

    Nothing or "*" is all of them; "reads", "writes", a method, a path, both, or the identifier of
    an operation. Raises ValueError with a message for the person.
    """
    words = text.split()
    if text.strip().lower() in _EVERYTHING:
        return Where()
    meant = frozenset(one.operation_id for one in OPERATIONS if _is_meant(words, one))
    if not meant:
        raise ValueError(f"no operation is {text.strip()!r}{_likely(text.strip())}")
    return Where(" ".join(words), meant)


def _is_meant(words: list[str], operation: Operation) -> bool:
    match words:
        case [word] if word.lower() in {"reads", "writes"}:
            return operation.writes == (word.lower() == "writes")
        case [word] if word.startswith("/"):
            return _plain(word) == _plain(operation.path)
        case [word]:
            return word == operation.operation_id or word.upper() == operation.method
        case [method, path]:
            fits = method == "*" or method.upper() == operation.method
            return fits and _plain(path) == _plain(operation.path)
    return False


def _plain(path: str) -> str:
    """A path without the names of its parameters, which are nobody's business."""
    return _PARAMETER.sub("{}", path.removeprefix(PREFIX).rstrip("/"))


def _likely(text: str) -> str:
    close = get_close_matches(text, list(_names()), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _names() -> Iterator[str]:
    for operation in OPERATIONS:
        yield f"{operation.method} {operation.path}"
        yield operation.operation_id
    yield from ("reads", "writes")
