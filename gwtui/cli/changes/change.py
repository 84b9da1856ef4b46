"""A change of the command line: how it is declared, and what its planner works with."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.cli.changes.values import validated
from gwtui.cli.lists.lookup import CommandReadings, find_row, find_workspace
from gwtui.cli.output import narrate
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import RequestModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.plan import Plan
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.diffs import ABSENT
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id, workspaces_feed

if TYPE_CHECKING:
    from gwtui.resources.session import Session

R = TypeVar("R", bound=RequestModel)
T = TypeVar("T")

_WHOLE = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""An identifier that the gateway itself understands: the hash of a key, a UUID."""
_WORKSPACE = "workspace_id"


class NothingToDoError(Exception):
    """What is wanted is so already; the message says what. Nothing is sent, and that is fine.

    ``brief`` says it of one of several, beside its name.
    """

    def __init__(self, message: str, brief: str = "like this already") -> None:
        super().__init__(message)
        self.brief = brief


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
    ``force`` words what ``--force`` lets through; empty where there is nothing to force. ``many``
    is the list whose rows the operand "id" names, where it may name several of them.
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
    many: ResourceSpec[Any] | None = None


class ChangeContext:
    """One change on its way to a plan. ``given`` are the values by field, validated."""

    def __init__(
        self, session: Session, arguments: Namespace, given: Mapping[str, Any], now: datetime
    ) -> None:
        self.session = session
        self.arguments = arguments
        self.given = dict(given)
        self.now = now
        self.readings = CommandReadings(session.hub)

    @property
    def gateway(self) -> GatewayClient:
        """The services."""
        return self.session.gateway

    @property
    def dialect(self) -> Dialect:
        """The names that the gateway uses."""
        return self.session.connection.dialect

    def named(self, identity: str) -> ChangeContext:
        """The same change of one resource; what was read is read once for all."""
        arguments = Namespace(**{**vars(self.arguments), "id": identity})
        one = ChangeContext(self.session, arguments, self.given, self.now)
        one.readings = self.readings
        return one

    # What is named ------------------------------------------------------------------------------

    async def identity(self, spec: ResourceSpec[Any], text: str) -> str:
        """The identifier of what is called so. Raises CommandError and GatewayError."""
        if _WHOLE.fullmatch(text):
            return text
        return spec.identity(await self.row(spec, text))

    async def row(self, spec: ResourceSpec[T], text: str) -> T:
        """The row of a list that is called so. Raises CommandError and GatewayError."""
        rows = await self.readings.value(spec.feed(self.session.hub, Scope()))
        return find_row(spec, rows, text)

    async def workspace(self, text: str) -> Workspace:
        """A workspace, read anew. Raises CommandError and GatewayError."""
        known = text if _WHOLE.fullmatch(text) else None
        identity = known or (await find_workspace(self.readings, text)).id or ""
        return await self.gateway.workspaces.get(identity)

    async def workspace_names(self, *, default: bool = False) -> dict[str, str]:
        """Workspace id -> name; empty where they cannot be read.

        With ``default`` also "" -> the name of the default one, where no workspace was given.
        """
        spaces = await self.readings.value_or_nothing(
            workspaces_feed(self.session.hub, Scope()), "names of workspaces"
        )
        names = {one.id: one.name or one.slug or one.id for one in spaces or () if one.id}
        if default and spaces and not self.given.get(_WORKSPACE):
            called_so = (one.id for one in spaces if one.slug == DEFAULT_SLUG and one.id)
            found = await default_workspace_id(self.gateway) or next(called_so, "")
            names[""] = names.get(found, "")
        return names

    # What is wanted -----------------------------------------------------------------------------

    async def request(self, model: type[R]) -> R:
        """The given values as a request. Raises CommandError and GatewayError."""
        workspace = self.given.get(_WORKSPACE)
        if isinstance(workspace, str) and not _WHOLE.fullmatch(workspace.lower()):
            self.given[_WORKSPACE] = (await find_workspace(self.readings, workspace)).id
        return validated(model, self.given)

    async def update(self, model: type[R], known: Mapping[str, Any]) -> R:
        """The given values that differ from what is known of a resource.

        Raises NothingToDoError where none does, CommandError and GatewayError.
        """
        request = await self.request(model)
        changed = {
            name: getattr(request, name)
            for name in request.model_fields_set
            if known.get(name, ABSENT) != getattr(request, name)
        }
        if not changed:
            raise NothingToDoError("it is like this already")
        tell_left_alone(request.model_fields_set - changed.keys())
        return validated(model, changed)


def tell_left_alone(names: Set[str]) -> None:
    """Say which of the given fields have the wanted value already: no plan shows them."""
    if names:
        narrate(f"like this already, left alone: {', '.join(sorted(names))}")
