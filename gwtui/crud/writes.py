"""What can be written to a resource, declared once: create, update, enable and disable, delete.

The plan of each write is made here for every resource. What is special is a hook of the
declaration: what a change leads to, what else is read for the plan, what speaks against it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.crud.fields import Field, Fields, FormContext, PlanContext
from gwtui.crud.form import FormSpec, request_fields
from gwtui.crud.plan import Danger, Plan, Undo, UndoPlanner
from gwtui.crud.plan_text import NAME_LIMIT, Names, as_read, quoted
from gwtui.crud.undo import made_identity, restore_fields
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.resource import ResourceSpec
    from gwtui.watch.feed import Feed
    from gwtui.watch.hub import FeedHub

M = TypeVar("M", bound=ResponseModel)
A = TypeVar("A")
"""What is read around a resource before a write, for its plan."""

Lines = Iterable[str]
"""Sentences of a plan."""


def _nothing(*_arguments: Any) -> Lines:
    return ()


@dataclass(frozen=True, slots=True)
class RequestWarning:
    """A warning about a request before it is sent; empty if there is none.

    A ``serious`` one takes a confirmation of its own: ``--force`` on the command line.
    """

    text: str = ""
    serious: bool = False


NO_WARNING = RequestWarning()
_WARNING = 200
"""Characters of a warning in a plan."""


Read = Callable[["Feed[Any]", str], Awaitable[Any]]
"""Reads a feed that is called so in a sentence; None where its value does not come."""


async def _no_warning(_hub: FeedHub, _read: Read, _request: Any) -> RequestWarning:
    return NO_WARNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """How a resource is created: ``title``, ``effects`` and ``warnings`` word the plan.

    ``done`` is what is said after it. ``gateway_warning`` compares a request with what the gateway
    has; ``warning_field`` names the field that it is about, ``force`` words what ``--force`` lets
    through.

    ``always`` are fields that the plan shows even when they were not given. ``resource`` gives the
    new resource in the service's answer, None where the answer lacks it. ``reveals`` tells that the
    answer holds a value which the gateway gives only once.

    Of its form ``heading`` is the title, ``submit`` the button, ``initial`` what it begins from,
    and ``unknown_help`` what a person can do when the answer was lost.
    """

    request: type[RequestModel]
    title: Callable[[Any], str]
    help: str
    heading: str = ""
    submit: str = ""
    initial: Mapping[str, Any] = field(default_factory=dict)
    unknown_help: str = ""
    done: Callable[[Any], str] | None = None
    """What is said afterwards; "Key “ci” created" when None."""
    effects: Callable[[Any, PlanContext], Lines] = _nothing
    warnings: Callable[[Any, PlanContext], Lines] = _nothing
    always: tuple[str, ...] = ()
    button: str = "Create it"
    gateway_warning: Callable[[FeedHub, Read, Any], Awaitable[RequestWarning]] = _no_warning
    warning_field: str = ""
    force: str = ""
    secret: str = ""
    """The field whose value the command line reads from stdin."""
    resource: Callable[[Any], Any] = lambda answer: answer
    reveals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """How fields are changed: ``effects`` gets the fresh reading and the request.

    A resource has one that its edit form uses, and may have others: verbs that change ``fields`` in
    a way of their own. One of danger "high" cannot be taken back.
    """

    request: type[RequestModel]
    effects: Callable[[Any, Any, PlanContext], Lines] = _nothing
    action: str = "edit"
    command: str = "update"
    """The verb of the command line."""
    help: str = "update fields"
    title: str = "Change"
    button: str = "Change it"
    done: Callable[[Any, Any], str] | None = None
    """What is said afterwards, from one before and after; "Key “ci” changed" when None."""
    fields: tuple[str, ...] = ()
    """The fields that it changes; the editable ones when empty."""
    secret: str = ""
    """The field whose value the command line reads from stdin."""
    danger: Danger = "low"
    outside_change: Callable[[Any, Any], str] = lambda _before, _now: ""
    """Says in a sentence what somebody else changed between two readings; "" for nothing to
    report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """How a resource is disabled and enabled, by its field ``disabled``.

    ``effects`` gets the fresh reading, whether it is to be disabled, and what ``around`` read (None
    where it is enabled: then nothing is read).
    """

    effects: Callable[[Any, bool, Any, PlanContext], Lines]
    disable_help: str
    enable_help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """How a resource is deleted. ``effects`` gets the fresh reading and its surroundings."""

    effects: Callable[[Any, Any, PlanContext], Lines]
    help: str = "delete permanently"
    done: str = "deleted"
    button: str = "Delete for good"
    kept: tuple[str, ...] = ("name",)
    """Fields that the ledger keeps of it."""


async def _no_uses(_client: GatewayClient, _fresh: Any, _context: PlanContext) -> tuple[str, ...]:
    return ()


async def _nothing_around(_client: GatewayClient, _fresh: Any, _context: PlanContext) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes(Generic[M]):
    """The writes of one kind of resource.

    ``resource`` is its id, ``noun`` what one is called. ``service`` gives its part of the client:
    ``get``, ``list``, ``create``, ``update``, ``delete``. ``called`` are the fields that name one
    in a sentence, the best first. ``uses`` reads what uses one, as sentences for an update's plan;
    ``around`` reads what disabling and deleting must know. ``names`` is a feed of names by
    identifier, beside those of the workspaces. ``feeds`` begin the names of the feeds that a write
    makes out of date.
    """

    resource: str
    noun: str
    model: type[M]
    fields: Fields
    identity: Callable[[M], str | None]
    of_row: Callable[[Any], M]
    """The resource in a row of its list."""
    service: Callable[[GatewayClient], Any]
    operand: str = "id or its start, or name"
    """How the command line asks for one; empty where there is only one."""
    identifier: str = "id"
    """What its identity is called: "id" or "hash"."""
    called: tuple[str, ...] = ("name", "id")
    feeds: tuple[str, ...] = ()
    names: Callable[[FeedHub], Feed[Names]] | None = None
    uses: Callable[[GatewayClient, Any, PlanContext], Awaitable[tuple[str, ...]]] = _no_uses
    around: Callable[[GatewayClient, Any, PlanContext], Awaitable[Any]] = _nothing_around
    create: Create | None = None
    update: Update | None = None
    further: tuple[Update, ...] = ()
    """Verbs of its own that change fields, beside the edit form."""
    switch: Switch | None = None
    delete: Delete | None = None
    implied: tuple[str, ...] = ()
    """Fields that are null where a creation leaves them out."""
    by_row: bool = False
    """Whether a change must know the row of the list, not the resource alone."""

    # What a resource may do in a way of its own -------------------------------------------------

    def for_row(self, _row: Any, _dialect: Dialect) -> Writes[M]:
        """The declaration for one row of the list, None for none, in the gateway's dialect."""
        return self

    async def read(self, client: GatewayClient, identity: str) -> M:
        """Read the current state. Raises GatewayError."""
        found: M = await self.service(client).get(identity)
        return found

    def check(self, _request: RequestModel, _dialect: Dialect) -> Sequence[Problem]:
        """Problems of a request beyond those of its model."""
        return ()

    def form_fields(self, _context: FormContext, _one: M | None) -> Iterable[Field]:
        """The fields as the forms of this resource edit them; None for one that is made."""
        return self.fields

    # Forms --------------------------------------------------------------------------------------

    def create_form(self, context: FormContext) -> FormSpec:
        """The creation form, in the workspace that the list is narrowed to."""
        declaration = _declared(self.create, "create")
        scoped = (
            context.workspace is not None and "workspace_id" in declaration.request.model_fields
        )
        return FormSpec(
            title=declaration.heading or f"New {self.noun}",
            model=declaration.request,
            fields=request_fields(self.form_fields(context, None), declaration.request, context),
            submit=declaration.submit or f"Create {self.noun}",
            initial={
                **declaration.initial,
                **({"workspace_id": context.workspace} if scoped else {}),
            },
            check=lambda request: self.check(request, context.dialect),
            unknown_help=declaration.unknown_help
            or f"The {self.noun} may have been created. Look at the list before you try again.",
        )

    def edit_form(self, one: M, context: FormContext, verb: Update | None = None) -> FormSpec:
        """The edit form; ``verb`` is an update action with its own fields."""
        verb = verb or _declared(self.update, "update")
        known, at = self.known(one), PlanContext(context.now)

        def shown(field: Field) -> Iterable[Field]:
            if field.mask and field.name in verb.fields:
                mask = safe_line(getattr(one, field.mask) or "the stored one", NAME_LIMIT)
                yield Field(field.mask, f"{field.label} now", fixed=(mask, _OVERWRITTEN))
                yield replace(field, label=f"New {field.label.lower()}", group="")
            elif field.name in (verb.fields or self.fields.editable):
                yield field
            elif field.fixed_because and not verb.fields:
                text = field.text(known[field.name], at) if field.name in known else UNKNOWN
                yield replace(field, fixed=(text, field.fixed_because))

        fields = [each for field in self.form_fields(context, one) for each in shown(field)]
        heading = "Edit" if verb.title == "Change" else verb.title
        return FormSpec(
            title=f"{heading} {self.noun} {self.name(one)}",
            model=verb.request,
            fields=request_fields(fields, verb.request, context),
            submit="Review changes",
            initial={} if verb.fields else self.fields.known(one),
            partial=True,
            check=lambda request: self.check(request, context.dialect),
            unknown_help="The change may have been applied. "
            f"Look at the {self.noun} before you try again.",
        )

    # What one is called -------------------------------------------------------------------------

    def name(self, one: Any) -> str:
        """The resource in a sentence: its name in quotes, else its best identifier."""
        first, *rest = self.called
        return quoted(getattr(one, first), *(getattr(one, name) for name in rest))

    def title(self, one: Any) -> str:
        """The resource at the start of a sentence: "Key “ci”"."""
        return f"{self.noun.capitalize()} {self.name(one)}"

    def _id(self, one: Any) -> str:
        identity = self.identity(one)
        if not identity:
            why = f"the gateway gave this {self.noun} no {self.identifier}: it cannot be changed"
            raise ValueError(why)
        return identity

    def known(self, one: M) -> dict[str, Any]:
        """Declared fields as the gateway sent them, without malformed ones."""
        readable = (name for name in self.fields.labels if name in self.model.model_fields)
        found = self.fields.read(one, readable)
        return found | {asked: getattr(one, shown) for asked, shown in self.fields.masks.items()}

    def sent_by_gateway(self, one: M) -> dict[str, Any]:
        """Declared fields that are present in the answer.

        One that it left out is not known to be null.
        """
        masks = {name: getattr(one, shown) for name, shown in self.fields.masks.items()}
        return {
            name: value
            for name, value in self.known(one).items()
            if (name in one.raw if name not in masks else masks[name] is not None)
        }

    # Plans --------------------------------------------------------------------------------------

    def plan_create(
        self, request: RequestModel, context: PlanContext, warning: RequestWarning = NO_WARNING
    ) -> Plan[Any]:
        """One POST with the fields that were given."""
        declaration = _declared(self.create, "create")

        def identity_of(answer: Any) -> str | None:
            one = declaration.resource(answer)
            return None if one is None else self.identity(one)

        compared = tuple(filter(None, (safe_line(warning.text, _WARNING),)))
        return Plan(
            action=f"{self.resource}.create",
            title=declaration.title(request),
            resource=self.resource,
            identity=None,
            send=lambda client: self.service(client).create(request),
            changes=self.fields.first_values(request, context, declaration.always),
            effects=(
                *(() if warning.serious else compared),
                *declaration.effects(request, context),
                *self.fields.effects(request, request, context),
            ),
            warnings=(
                *(compared if warning.serious else ()),
                *declaration.warnings(request, context),
                *self.fields.limit_warnings({}, request),
            ),
            summary=request.body(),
            identify=identity_of,
            reveals=declaration.reveals,
            undo=lambda answer: self._delete_again(identity_of(answer), context),
        )

    def _delete_again(self, identity: str | None, context: PlanContext) -> UndoPlanner:
        """The undo of a creation. It keeps nothing of the answer but the identity."""

        async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
            at = PlanContext(now, context.names, context.dialect)
            fresh = await self.read(client, made_identity(identity, self.noun))
            return self.plan_delete(fresh, at, await self.around(client, fresh, at))

        return plan_undo

    def plan_update(
        self,
        fresh: M,
        request: RequestModel,
        context: PlanContext,
        uses: tuple[str, ...] = (),
        *,
        verb: Update | None = None,
    ) -> Plan[M]:
        """One PATCH with the given fields, planned from a fresh reading that has an id.

        ``verb`` is an update action; by default the one that owns the fields, else the resource's
        update.
        """
        identity, given = self._id(fresh), request.model_fields_set
        verb = verb or self._way_to_change(given)
        final = verb.danger == "high"
        masks = [mask for name, mask in self.fields.masks.items() if name in given]
        return Plan(
            action=f"{self.resource}.{verb.action}",
            title=f"{verb.title} {self.noun} {self.name(fresh)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.changes(self.known(fresh), request, context),
            effects=(
                *verb.effects(fresh, request, context),
                *self.fields.effects(request, fresh, context),
                *uses,
            ),
            warnings=tuple(self.fields.limit_warnings(self.known(fresh), request)),
            danger=verb.danger,
            summary=request.body(),
            before=as_read(fresh, {*given, *masks}),
            undo=None if final else self._put_back(fresh, request, context),
        )

    def _way_to_change(self, given: set[str]) -> Update:
        own = (further for further in self.further if given.intersection(further.fields))
        return next(own, None) or _declared(self.update, "update")

    def plan_switch(
        self, fresh: M, disabled: bool, context: PlanContext, around: Any = None
    ) -> Plan[M]:
        """One PATCH that disables or enables. ``fresh`` has an id."""
        declaration, identity = _declared(self.switch, "enable and disable"), self._id(fresh)
        request = _declared(self.update, "update").request.model_validate({"disabled": disabled})
        return Plan(
            action=f"{self.resource}.toggle",
            title=f"{'Disable' if disabled else 'Enable'} {self.noun} {self.name(fresh)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.changes(self.known(fresh), request, context),
            effects=tuple(declaration.effects(fresh, disabled, around, context)),
            summary=request.body(),
            before=as_read(fresh, request.model_fields_set),
            undo=self._put_back(fresh, request, context),
        )

    def _put_back(self, fresh: M, request: RequestModel, context: PlanContext) -> Undo[M] | None:
        identity = self._id(fresh)

        def plan(present: M, changes: Mapping[str, Any], now: datetime) -> Plan[Any]:
            at = PlanContext(now, context.names, context.dialect)
            if "disabled" in changes:
                return self.plan_switch(present, changes["disabled"], at)
            model = _declared(self.update, "update").request
            return self.plan_update(present, model.model_validate(changes), at)

        return restore_fields(
            fresh,
            request,
            self.fields.labels,
            self.fields.formatter(context),
            read=lambda client: self.read(client, identity),
            plan=plan,
            known=lambda present: self.fields.read(present, request.model_fields_set),
        )

    def plan_delete(self, fresh: M, context: PlanContext, around: Any = None) -> Plan[None]:
        """One DELETE. ``fresh`` has an id."""
        declaration, identity = _declared(self.delete, "delete"), self._id(fresh)
        return Plan(
            action=f"{self.resource}.delete",
            title=f"Delete {self.noun} {self.name(fresh)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).delete(identity),
            effects=tuple(declaration.effects(fresh, around, context)),
            danger="high",
            summary={name: getattr(fresh, name) for name in declaration.kept},
        )


V = TypeVar("V")
_OVERWRITTEN = "The gateway overwrites the old key immediately."


def _declared(verb: V | None, name: str) -> V:
    if verb is None:
        raise TypeError(f"this resource declares no way to {name} one")
    return verb


def declared_writes(spec: ResourceSpec[Any]) -> Writes[Any]:
    """The writes of a resource. Raises TypeError where nothing can be written to it."""
    if spec.writes is None:
        raise TypeError(f"nothing can be written to {spec.id}")
    return spec.writes()
