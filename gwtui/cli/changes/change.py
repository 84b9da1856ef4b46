"""How a change of the command line is declared: what it takes, and how it is planned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gwtui.cli.changes.desk import ChangeContext
    from gwtui.contract.request import RequestModel
    from gwtui.crud.plan import Plan


class NothingToDoError(Exception):
    """What is wanted is so already; the message says what. Nothing is sent, and that is fine."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What is named on the command line. ``many`` takes one or more.

    As an ``option`` it is given as ``--name``, as often as wanted. Where it is called like a field
    of the request it is the value of that.
    """

    name: str
    help: str
    many: bool = False
    option: bool = False


@dataclass(frozen=True, slots=True)
class ChangeCommand:
    """A verb that changes something.

    ``plan`` reads what it needs and plans the requests; it raises NothingToDoError, CommandError
    and GatewayError. ``model`` has the fields that ``--set`` and ``--unset`` may name, ``fields``
    those of them that this verb changes (all of them when None). ``secret`` is a field whose value
    is read from stdin. ``makes`` says that something comes to exist: its identifier is printed.
    ``force`` words what ``--force`` lets through; empty where there is nothing to force.
    """

    name: str
    help: str
    plan: Callable[[ChangeContext], Awaitable[Plan[Any]]]
    operands: tuple[Operand, ...] = ()
    model: type[RequestModel] | None = None
    fields: tuple[str, ...] | None = None
    secret: str = ""
    makes: bool = False
    force: str = ""
    notes: tuple[str, ...] = field(default=())
    """What its help says besides, line by line."""
