"""An answer as the gateway sent it, as lines of JSON with what is odd about it marked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from textual.content import Content

from gwtui.contract.response import ResponseModel
from gwtui.crud.schema_drift import all_gaps, all_unknown_fields
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import MASK, looks_secret
from gwtui.ui.text import toned

_INDENT = "  "
_TEXT = 4000


def raw_lines(raw: Any, item: Any) -> list[Content]:
    """Pretty JSON of ``raw``; ``item`` tells which fields are unknown and which are missing."""
    unknown: set[str] = set()
    notes: list[Content] = []
    if isinstance(item, ResponseModel):
        unknown = {path for path, _value in all_unknown_fields(item)}
        gaps = list(all_gaps(item))
        if gaps:
            notes = [toned("Gaps against the contract", "warn", bold=True)]
            notes += [
                toned(f"{_INDENT}{safe_text(path, 120)}: {safe_text(why, 300)}", "warn")
                for path, why in gaps
            ]
            notes.append(Content(""))
        if unknown:
            notes += [
                toned("◂ marks fields that the contract does not know", "accent"),
                Content(""),
            ]
    return [*notes, *_Writer(unknown).write(raw)]


class _Writer:
    """Writes JSON line by line, so that a single field can be marked."""

    def __init__(self, unknown: set[str]) -> None:
        self._unknown = unknown
        self._lines: list[Content] = []

    def write(self, value: Any) -> list[Content]:
        self._value(value, path="", depth=0, head="", tail="")
        return self._lines

    def _value(self, value: Any, *, path: str, depth: int, head: str, tail: str) -> None:
        mark = "  ◂" if path in self._unknown else ""
        if isinstance(value, Mapping) and value:
            self._line(depth, f"{head}{{", mark)
            last = len(value) - 1
            for number, (name, part) in enumerate(value.items()):
                self._value(
                    MASK if looks_secret(name, part) else part,
                    path=f"{path}.{name}" if path else str(name),
                    depth=depth + 1,
                    head=f"{_scalar(str(name))}: ",
                    tail="," if number < last else "",
                )
            self._line(depth, f"}}{tail}", "")
        elif isinstance(value, list | tuple) and value:
            self._line(depth, f"{head}[", mark)
            last = len(value) - 1
            for number, part in enumerate(value):
                self._value(
                    part,
                    path=f"{path}[{number}]",
                    depth=depth + 1,
                    head="",
                    tail="," if number < last else "",
                )
            self._line(depth, f"]{tail}", "")
        else:
            self._line(depth, f"{head}{_scalar(value)}{tail}", mark)

    def _line(self, depth: int, text: str, mark: str) -> None:
        self._lines.append(
            Content.assemble(_INDENT * depth, toned(text), toned(mark, "accent", bold=True))
        )


def _scalar(value: Any) -> str:
    """A value as JSON; numbers exactly as they came, text with its control characters visible."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return json.dumps(value.isoformat())
    if isinstance(value, str):
        return safe_text(json.dumps(value, ensure_ascii=False), _TEXT)
    return safe_text(json.dumps(value, default=str), _TEXT)
