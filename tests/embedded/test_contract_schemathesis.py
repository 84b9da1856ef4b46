"""Requests made from the served description, right ones and wrong ones, against every operation.

Whatever comes, the answer is documented, fits its schema and is never the gateway's own fault; what
the description forbids is refused. Derived from a fixed seed, so that every run sends the same.
"""

from __future__ import annotations

from importlib import import_module

import pytest

from gwtui.contract.dialects import DIALECTS
from gwtui.embedded.operations import Operation
from gwtui.embedded.routes import all_operations


def can_be_wrong(operation: Operation) -> bool:
    """Whether the description forbids anything; of a parameter that is any text it does not."""
    return operation.body is not None or any(
        parameter.schema["type"] != "string" or set(parameter.schema) - {"type", "default"}
        for parameter in operation.query
    )


CASES = [
    (dialect, operation, mode)
    for dialect in sorted(DIALECTS)
    for operation in all_operations()
    for mode in ("positive", "negative")
    # Dialects differ in names, which right bodies show best.
    if dialect == "generic" or (operation.body is not None and mode == "positive")
    if mode == "positive" or can_be_wrong(operation)
]


@pytest.mark.parametrize(
    ("dialect", "operation", "mode"),
    CASES,
    ids=[f"{dialect}-{operation.operation_id}-{mode}" for dialect, operation, mode in CASES],
)
def test_any_request_gets_a_documented_answer(dialect: str, operation: Operation, mode: str):
    import_module("described_requests").drive(dialect, operation, mode)
