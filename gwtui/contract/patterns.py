"""Which regular expressions a content filter may use: extended contract section 5.

No lookaround, no backreference, no nested quantifier: with those, matching one message can take
for ever. The check reads the parsed expression, it never runs it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

_REPEATS = frozenset({_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT})
_LOOKAROUNDS = frozenset({_constants.ASSERT, _constants.ASSERT_NOT})
_BACKREFERENCES = frozenset({_constants.GROUPREF, _constants.GROUPREF_EXISTS})
_FEW = 8
"""A bounded repeat up to this many times multiplies the work by a constant only."""
_SMALL_RANGE = 256


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern cannot be a content filter, None when it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"is not a valid regular expression: {error.msg}{where}"
    except (OverflowError, RecursionError, ValueError):
        # ValueError: a count of more digits than Python makes a number of.
        return "is not a valid regular expression: too large"
    return next(_problems(parsed, repeated=False), None)


def _problems(node: Any, *, repeated: bool) -> Iterator[str]:
    for operation, argument in node:
        if operation in _LOOKAROUNDS:
            yield "must not look ahead or behind"
        elif operation in _BACKREFERENCES:
            yield "must not refer back to a group"
        elif operation in _REPEATS:
            low, high, inner = argument
            many = high is _constants.MAXREPEAT or high > _FEW
            if many and repeated:
                yield "must not repeat a repetition"
            yield from _problems(inner, repeated=repeated or (many and low != high))
        else:
            if operation is _constants.BRANCH and repeated and _overlap(argument[1]):
                yield "must not repeat alternatives that can begin alike"
            for inner in _inside(operation, argument):
                yield from _problems(inner, repeated=repeated)


def _overlap(alternatives: Any) -> bool:
    """Whether two alternatives may begin with the same character, or one may be empty."""
    seen: set[int] = set()
    for alternative in alternatives:
        first = _first(alternative)
        if first is None or seen & first:
            return True
        seen |= first
    return False


def _first(node: Any) -> set[int] | None:
    """The characters that a sequence can begin with; None for unknown, many or none at all."""
    if not len(node):
        return None
    operation, argument = node[0]
    if operation is _constants.LITERAL:
        return {argument}
    if operation is _constants.SUBPATTERN:
        return _first(argument[3])
    if operation is _constants.IN:
        found: set[int] = set()
        for kind, value in argument:
            if kind is _constants.LITERAL:
                found.add(value)
            elif kind is _constants.RANGE and value[1] - value[0] < _SMALL_RANGE:
                found.update(range(value[0], value[1] + 1))
            else:
                return None
        return found
    return None


def _inside(operation: Any, argument: Any) -> Iterator[Any]:
    """The expressions inside a group or an alternative."""
    if operation is _constants.SUBPATTERN:
        yield argument[3]
    elif operation is _constants.ATOMIC_GROUP:
        yield argument
    elif operation is _constants.BRANCH:
        yield from argument[1]
