"""Detail sections on schema drift: fields missing from a response, fields not in the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from gwtui.contract.response import ResponseModel
from gwtui.crud.resource import Cell, DetailRow, Section
from gwtui.domain.safe_text import safe_text

T = TypeVar("T")
M = TypeVar("M", bound=ResponseModel)

_NAME = 80
_VALUE = 200


def all_gaps(model: ResponseModel, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for each missing or unreadable field, nested models included."""
    for name, reason in model.gaps.items():
        yield prefix + name, reason
    for path, part in _parts(model, prefix):
        yield from all_gaps(part, path)


def all_unknown_fields(model: ResponseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, value) for each field not in the contract, nested models included."""
    for name in model.unknown_fields:
        yield prefix + name, model.raw[name]
    for path, part in _parts(model, prefix):
        yield from all_unknown_fields(part, path)


def drift_sections(model: Callable[[T], ResponseModel]) -> tuple[Section[T], Section[T]]:
    """Return the last two sections of a detail pane; without drift both are empty."""

    def gaps(item: T, _now: datetime) -> Sequence[DetailRow]:
        return [
            DetailRow("", Cell(safe_text(path, _NAME), "warn"), safe_text(reason, _VALUE))
            for path, reason in all_gaps(model(item))
        ]

    def unknown(item: T, _now: datetime) -> Sequence[DetailRow]:
        return [
            DetailRow("", Cell(safe_text(path, _NAME)), _compact(value))
            for path, value in all_unknown_fields(model(item))
        ]

    return Section("Gaps", gaps), Section("Unknown fields", unknown)


def own_drift_sections(_kind: type[M]) -> tuple[Section[M], Section[M]]:
    """Return the drift sections of a resource whose rows are responses of the gateway."""
    return drift_sections(lambda item: item)


def _parts(model: ResponseModel, prefix: str) -> Iterator[tuple[str, ResponseModel]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, ResponseModel):
            yield f"{prefix}{name}.", value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, ResponseModel):
                    yield f"{prefix}{name}.{key}.", item
        elif isinstance(value, list):
            for position, item in enumerate(value):
                if isinstance(item, ResponseModel):
                    yield f"{prefix}{name}[{position}].", item


def _compact(value: Any) -> str:
    return safe_text(json.dumps(value, default=str, ensure_ascii=False), _VALUE)
