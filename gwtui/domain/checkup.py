"""A look at what the program stands on: one line for each thing, what was found, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

CheckupVerdict = Literal["wrong", "unknown", "advice", "well"]
VERDICTS: tuple[CheckupVerdict, ...] = get_args(CheckupVerdict)
"""The gravest first."""


@dataclass(frozen=True, slots=True)
class CheckupLine:
    """One thing that was looked at; ``found`` and ``advice`` are sentences without any secret."""

    id: str
    title: str
    verdict: CheckupVerdict
    found: str
    advice: str = ""


def is_wrong(lines: Iterable[CheckupLine]) -> bool:
    """Whether something is wrong; advice and what cannot be known is not."""
    return any(line.verdict == "wrong" for line in lines)
