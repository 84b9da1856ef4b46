"""The write declaration of a resource: create, update, disable and enable, delete.

The plans are built here for all resources. Hooks of the declaration add what is special: effects,
further reads for the plan, and obstacles.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ValidationError

from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem, RequestModel, problems
from gwtui.contract.response import ResponseModel
from gwtui.crud.fields import Field, Fields, FormContext, PlanContext
from gwtui.crud.form import FormSpec, request_fields
from gwtui.crud.plan import Danger, Plan, Undo, UndoPlanner
from gwtui.crud.plan_text import NAME_LIMIT, Names, as_read, identity_of, quoted
from gwtui.crud.undo import CannotUndoError, fields_to_restore, made_identity
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient
    from gwtui.crud.resource import ResourceSpec
    from gwtui.watch.feed import Feed
    from gwtui.watch.hub import FeedHub

M = TypeVar("M", bound=ResponseModel)

Lines = Iterable[str]
"""Sentences of a plan."""


def _nothing(*_arguments: Any) -> Lines:
    return ()


_WARNING = 200
"""Maximum length of a warning in a plan."""


async def _no_warning(_hub: FeedHub, _request: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """The creation of a resource; ``title``, ``effects`` and ``warnings`` are texts of the plan.

    ``gateway_warning`` checks a request against the gateway's data; it returns a warning for the
    plan, or "".

    ``always`` are fields that the plan displays even if they are not set. ``resource`` extracts the
    new resource from the response, or None if the response lacks it. ``reveals``: the response
    holds a value that the gateway returns only once.

    In the form, ``heading`` is the title, ``submit`` the button, ``initial`` the initial values,
    and ``unknown_help`` the advice after a lost response.
    """

    request: type[RequestModel]
    title: Callable[[Any], str]
    help: str
    heading: str = ""
    submit: str = ""
    initial: Mapping[str, Any] = field(default_factory=dict)
    unknown_help: str = ""
    done: Callable[[Any], str] | None = None
    """The success message; defaults to "Key “ci” created"."""
    effects: Callable[[Any, PlanContext], Lines] = _nothing
    warnings: Callable[[Any, PlanContext], Lines] = _nothing
    always: tuple[str, ...] = ()
    button: str = "Create it"
    gateway_warning: Callable[[FeedHub, Any], Awaitable[str]] = _no_warning
    secret: str = ""
    """The field whose value the command line reads from stdin."""
    resource: Callable[[Any], Any] = lambda answer: answer
    reveals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """An update of fields.

    ``effects`` and ``warnings`` are called with the resource as just read, and the request.

    A resource has one update for its edit form, and may have further verbs that change only
    ``fields``. An update with danger "high" cannot be undone.
    """

    request: type[RequestModel]
    effects: Callable[[Any, Any, PlanContext], Lines] = _nothing
    warnings: Callable[[Any, Any, PlanContext], Lines] = _nothing
    action: str = "edit"
    command: str = "update"
    """The verb on the command line."""
    help: str = "change fields"
    title: str = "Edit"
    button: str = "Apply changes"
    done: Callable[[Any, Any], str] | None = None
    """Returns the success message, from before and after; defaults to "Key “ci” changed"."""
    fields: tuple[str, ...] = ()
    """The fields that it changes; defaults to all editable fields."""
    secret: str = ""
    """The field whose value the command line reads from stdin."""
    danger: Danger = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """Disabling and enabling a resource, by its field ``disabled``.

    ``effects`` is called with the resource as just read, whether to disable, and the result of
    ``Writes.read_related`` (None when enabling).
    """

    effects: Callable[[Any, bool, Any, PlanContext], Lines]
    disable_help: str
    enable_help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """The deletion of a resource.

    ``effects`` is called with the resource as just read and the result of
    ``Writes.read_related``.
    """

    effects: Callable[[Any, Any, PlanContext], Lines]
    help: str = "delete permanently"
    done: str = "deleted"
    button: str = "Delete for good"
    kept: tuple[str, ...] = ("name",)
    """The fields that are recorded in the ledger before deletion."""


async def _no_uses(_client: GatewayClient, _fresh: Any, _context: PlanContext) -> tuple[str, ...]:
    return ()


async def _nothing_related(_client: GatewayClient, _fresh: Any, _context: PlanContext) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes(Generic[M]):
    """The writes of one kind of resource.

    ``resource`` is its id, ``noun`` its name in sentences. ``service`` returns the client service
    with ``get``, ``list``, ``create``, ``update`` and ``delete``. ``called`` are the fields that
    name a resource in a sentence, the best one first. ``names`` is a feed of names by id, besides
    workspace names. ``feeds`` are prefixes of the feeds to refresh after a write.

    ``uses`` reads who or what uses a resource, as sentences for the plan of an update.
    ``read_related`` reads the other data, such as assignments, that ``Switch.effects`` and
    ``Delete.effects`` need to describe what disabling or deleting the resource affects.
    """

    resource: str
    noun: str
    model: type[M]
    fields: Fields
    identity: Callable[[M], str | None]
    of_row: Callable[[Any], M]
    """Extracts the resource from a list row."""
    service: Callable[[GatewayClient], Any]
    operand: str = "id, unique beginning of an id, or name"
    """The operand in command-line help; empty if there is only one such resource."""
    identifier: str = "id"
    """The name of the identity field: "id" or "hash"."""
    called: tuple[str, ...] = ("name", "id")
    feeds: tuple[str, ...] = ()
    names: Callable[[FeedHub], Feed[Names]] | None = None
    uses: Callable[[GatewayClient, Any, PlanContext], Awaitable[tuple[str, ...]]] = _no_uses
    read_related: Callable[[GatewayClient, Any, PlanContext], Awaitable[Any]] = _nothing_related
    create: Create | None = None
    update: Update | None = None
    further: tuple[Update, ...] = ()
    """Further verbs that change fields, besides the edit form."""
    switch: Switch | None = None
    delete: Delete | None = None
    implied: tuple[str, ...] = ()
    """Fields that become null if a creation omits them."""
    by_row: bool = False
    """Whether a change needs the list row besides the resource."""

    # Hooks that a resource may override -----------------------------------------------------------

    def for_row(self, _row: Any, _dialect: Dialect) -> Writes[M]:
        """Return the declaration for a row of the list, in the gateway's dialect.

        ``_row`` is None for a creation, and if the row is not known.
        """
        return self

    async def read(self, client: GatewayClient, identity: str) -> M:
        """Read a resource from the gateway. Raises GatewayError."""
        resource: M = await self.service(client).get(identity)
        return resource

    def check(self, _request: RequestModel, _dialect: Dialect) -> Sequence[Problem]:
        """Return problems of a request that its model does not detect."""
        return ()

    def form_fields(self, _context: FormContext, _resource: M | None) -> Iterable[Field]:
        """Return the fields of a form; ``_resource`` is the edited one, None for a creation."""
        return self.fields

    # Forms --------------------------------------------------------------------------------------

    def create_form(self, context: FormContext) -> FormSpec:
        """Return the creation form, preset to the workspace that the list is limited to."""
        declaration = _declared(self.create, "create")
        scoped = (
            context.workspace is not None and "workspace_id" in declaration.request.model_fields
        )
        return FormSpec(
            title=declaration.heading or f"New {self.noun}",
            model=declaration.request,
            fields=request_fields(self.form_fields(context, None), declaration.request, context),
            submit=declaration.submit or f"Create {self.noun}",
            sends="creates",
            initial={
                **declaration.initial,
                **({"workspace_id": context.workspace} if scoped else {}),
            },
            check=lambda request: self.check(request, context.dialect),
            unknown_help=declaration.unknown_help
            or f"The {self.noun} may have been created. Look at the list before you try again.",
        )

    def edit_form(self, resource: M, context: FormContext, verb: Update | None = None) -> FormSpec:
        """Return the form for ``update``, or for ``verb``, which is one of ``further``."""
        verb = verb or _declared(self.update, "update")
        known, at = self.known(resource), PlanContext(context.now)

        def shown(field: Field) -> Iterable[Field]:
            if field.mask and field.name in verb.fields:
                mask = safe_line(getattr(resource, field.mask) or "the stored one", NAME_LIMIT)
                yield Field(
                    field.mask, f"Current {field.label.lower()}", fixed=(mask, _OVERWRITTEN)
                )
                yield replace(field, label=f"New {field.label.lower()}", group="")
            elif field.name in (verb.fields or self.fields.editable):
                yield field
            elif field.fixed_because and not verb.fields:
                text = field.text(known[field.name], at) if field.name in known else UNKNOWN
                yield replace(field, fixed=(text, field.fixed_because))

        fields = [part for field in self.form_fields(context, resource) for part in shown(field)]
        return FormSpec(
            title=f"{verb.title} {self.noun} {self.name(resource)}",
            model=verb.request,
            fields=request_fields(fields, verb.request, context),
            submit="Review changes",
            sends="reviews",
            initial={} if verb.fields else self.fields.known(resource),
            partial=True,
            check=lambda request: self.check(request, context.dialect),
            unknown_help="The change may have been applied. "
            f"Look at the {self.noun} before you try again.",
        )

    # Names ----------------------------------------------------------------------------------------

    def name(self, resource: Any) -> str:
        """Return a resource's name in quotes, or else its best identifier."""
        first, *rest = self.called
        return quoted(getattr(resource, first), *(getattr(resource, name) for name in rest))

    def title(self, resource: Any) -> str:
        """Return a resource's name to start a sentence: "Key “ci”"."""
        return f"{self.noun.capitalize()} {self.name(resource)}"

    def _id(self, resource: Any) -> str:
        return identity_of(self.identity(resource), self.noun, self.identifier)

    def known(self, resource: M) -> dict[str, Any]:
        """Return the values of the declared fields, without missing or malformed ones.

        An optional field that the response omits is None. A secret field has its mask as value.
        """
        readable = (name for name in self.fields.labels if name in self.model.model_fields)
        values = self.fields.read(resource, readable)
        return values | {
            asked: getattr(resource, shown) for asked, shown in self.fields.masks.items()
        }

    def sent_by_gateway(self, resource: M) -> dict[str, Any]:
        """Return the values of the declared fields that the response contains.

        Unlike ``known``, this leaves out optional fields that the response omits.
        """
        masks = {name: getattr(resource, shown) for name, shown in self.fields.masks.items()}
        return {
            name: value
            for name, value in self.known(resource).items()
            if (name in resource.raw if name not in masks else masks[name] is not None)
        }

    # Plans --------------------------------------------------------------------------------------

    def plan_create(
        self, request: RequestModel, context: PlanContext, warning: str = ""
    ) -> Plan[Any]:
        """Plan one POST with the fields that were set."""
        declaration = _declared(self.create, "create")

        def identify(answer: Any) -> str | None:
            resource = declaration.resource(answer)
            return None if resource is None else self.identity(resource)

        return Plan(
            action=f"{self.resource}.create",
            title=declaration.title(request),
            resource=self.resource,
            identity=None,
            send=lambda client: self.service(client).create(request),
            changes=self.fields.creation_changes(request, context, declaration.always),
            effects=(
                *declaration.effects(request, context),
                *self.fields.effects(request, request, context),
            ),
            warnings=(
                *((safe_line(warning, _WARNING),) if warning else ()),
                *declaration.warnings(request, context),
                *self.fields.limit_warnings({}, request),
            ),
            summary=request.body(),
            identify=identify,
            reveals=declaration.reveals,
            undo=lambda answer: self._delete_again(identify(answer), context),
        )

    def _delete_again(self, identity: str | None, context: PlanContext) -> UndoPlanner:
        async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
            at = PlanContext(now, context.names, context.dialect)
            fresh = await self.read(client, made_identity(identity, self.noun))
            return self.plan_delete(fresh, at, await self.read_related(client, fresh, at))

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
        """Return the plan of one PATCH that sets the fields of ``request``.

        ``fresh`` is the resource as just read, and must have an id. ``uses`` are sentences about
        who or what uses the resource, as returned by ``Writes.uses``. ``verb`` is the declared
        update to plan; by default, the first of ``Writes.further`` that declares a requested field,
        or ``Writes.update`` if none does.
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
            warnings=(
                *verb.warnings(fresh, request, context),
                *self.fields.limit_warnings(self.known(fresh), request),
            ),
            danger=verb.danger,
            summary=request.body(),
            before=as_read(fresh, {*given, *masks}),
            undo=None if final else self._put_back(fresh, request, context),
        )

    def _way_to_change(self, given: set[str]) -> Update:
        further_updates = (
            further for further in self.further if given.intersection(further.fields)
        )
        return next(further_updates, None) or _declared(self.update, "update")

    def plan_switch(
        self, fresh: M, disabled: bool, context: PlanContext, related: Any = None
    ) -> Plan[M]:
        """Return the plan of one PATCH that disables or enables the resource.

        ``fresh`` is the resource as just read, and must have an id. ``related`` is the result of
        ``read_related``, None when enabling.
        """
        declaration, identity = _declared(self.switch, "enable and disable"), self._id(fresh)
        request = _declared(self.update, "update").request.model_validate({"disabled": disabled})
        return Plan(
            action=f"{self.resource}.toggle",
            title=f"{'Disable' if disabled else 'Enable'} {self.noun} {self.name(fresh)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.changes(self.known(fresh), request, context),
            effects=tuple(declaration.effects(fresh, disabled, related, context)),
            summary=request.body(),
            before=as_read(fresh, request.model_fields_set),
            undo=self._put_back(fresh, request, context),
        )

    def _put_back(self, fresh: M, request: RequestModel, context: PlanContext) -> Undo[M] | None:
        identity, names = self._id(fresh), request.model_fields_set
        before = self.fields.read(fresh, names)
        if len(before) < len(names):
            return None
        sent = {name: getattr(request, name) for name in names}

        def undo(answer: M) -> UndoPlanner:
            after = {**sent, **self.fields.read(answer, names)}

            async def plan_undo(client: GatewayClient, now: datetime) -> Plan[Any]:
                present, at = await self.read(client, identity), replace(context, now=now)
                known, words = self.fields.read(present, names), self.fields.formatter(context)
                changes = fields_to_restore(after, before, known, self.fields.labels, words)
                uses = () if "disabled" in changes else await self.uses(client, present, at)
                return self._plan_back(present, changes, at, uses)

            return plan_undo

        return undo

    def _plan_back(
        self, present: M, changes: Mapping[str, Any], at: PlanContext, uses: tuple[str, ...]
    ) -> Plan[Any]:
        if "disabled" in changes:
            return self.plan_switch(present, changes["disabled"], at)
        model = _declared(self.update, "update").request
        try:
            return self.plan_update(present, model.model_validate(changes), at, uses)
        except ValidationError as error:
            why = safe_line("; ".join(map(str, problems(error))))
        raise CannotUndoError(f"The gateway no longer accepts the previous value: {why}.")

    def plan_delete(self, fresh: M, context: PlanContext, related: Any = None) -> Plan[None]:
        """Return the plan of one DELETE.

        ``fresh`` is the resource as just read, and must have an id. ``related`` is the result of
        ``read_related``.
        """
        declaration, identity = _declared(self.delete, "delete"), self._id(fresh)
        return Plan(
            action=f"{self.resource}.delete",
            title=f"Delete {self.noun} {self.name(fresh)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).delete(identity),
            effects=tuple(declaration.effects(fresh, related, context)),
            danger="high",
            summary={name: getattr(fresh, name) for name in declaration.kept},
        )


V = TypeVar("V")
_OVERWRITTEN = "It is erased as soon as you confirm."


def _declared(verb: V | None, name: str) -> V:
    if verb is None:
        raise TypeError(f"this resource declares no way to {name} one")
    return verb


def declared_writes(spec: ResourceSpec[Any]) -> Writes[Any]:
    """Return the write declaration of a resource. Raises TypeError if it has none."""
    if spec.writes is None:
        raise TypeError(f"nothing can be written to {spec.id}")
    return spec.writes()
