"""``--fault``: things that go wrong in the embedded gateway on demand."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gwtui.cli import exits
from gwtui.cli.output import data_on_stdout

if TYPE_CHECKING:
    from gwtui.embedded.faults import FaultInjector

_LIST = "list"


def add_fault_option(parser: argparse._ActionsContainer, *, only: str = "") -> None:
    """Add the option; ``only`` says what it goes with, to begin its help."""
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="FAULT",
        help=f"{only}let things go wrong, such as 'reset-after:POST /keys x1'; may be repeated; "
        "'list' lists what there is",
    )


def wants_list(faults: Sequence[str]) -> bool:
    """Whether the person only asks what there is."""
    return _LIST in faults


def list_faults() -> int:
    """Print every fault that can be asked for; returns the exit code."""
    from gwtui.embedded.faults import catalogue  # noqa: PLC0415 - loads the server

    with data_on_stdout():
        print(*catalogue(), sep="\n")
    return exits.OK


def fault_injector(faults: Sequence[str]) -> FaultInjector | None:
    """The faults that were asked for, None for none. Raises FaultSyntaxError."""
    if not faults:
        return None
    from gwtui.embedded.faults import FaultInjector  # noqa: PLC0415 - loads the server

    return FaultInjector(faults)
