"""The writes of guardrails: contract "POST /guardrails"; extended contract section 5."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
    never_sent,
)
from gwtui.contract.models import Model
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.workspaces import Workspace
from gwtui.crud.fields import (
    Choices,
    Facts,
    Field,
    FormContext,
    PickOption,
    PlanContext,
    Preview,
)
from gwtui.crud.form import FormSpec
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import (
    NAME_LIMIT,
    Names,
    count,
    identity_of,
    named,
    quoted,
    several,
)
from gwtui.crud.resource import Cell
from gwtui.crud.writes import Create, Delete, Update, Writes
from gwtui.domain.safe_text import safe_line
from gwtui.resources import choices
from gwtui.resources.choices import value_now
from gwtui.resources.guardrails.effect import LiveEffect
from gwtui.resources.guardrails.fields import FIELDS, LISTS, fields_of
from gwtui.resources.uses import Uses, guardrail_bindings, people_names
from gwtui.watch.feeds.guardrails import FEEDS, GuardrailRow
from gwtui.watch.feeds.models import catalog_feed, models_feed
from gwtui.watch.hub import Scope

_HINT = Cell("F2 lists the allowed endpoints", "muted")


def form_fields(context: FormContext, present: Guardrail | None) -> Iterator[Field]:
    """The fields as a form edits them; ``present`` is what is changed.

    Below each rule with a value stands what all rules together leave of the catalog.
    """
    catalog = catalog_feed(context.hub)
    effect = LiveEffect(lambda: catalog.state.value, context.dialect)
    offers = {"models": _models(context, present), "providers": choices.providers(context)}
    for one in fields_of(context.dialect):
        if one.name in LISTS:
            always = one.name == "allowed_models"
            yield replace(one, choices=offers[one.noun], preview=_live(effect, always=always))
        elif one.group == "Retention":
            yield replace(one, preview=_switch(effect))
        else:
            yield one


def _models(context: FormContext, present: Guardrail | None) -> Choices:
    held = frozenset(
        entry
        for entries in (present and present.allowed_models, present and present.ignored_models)
        for entry in entries or ()
    )

    async def read() -> Sequence[PickOption]:
        return model_options(await value_now(models_feed(context.hub, Scope())), held)

    return read


def model_options(models: Sequence[Model], present: frozenset[str]) -> list[PickOption]:
    """One option for each model with its variants: the slug that they share.

    The gateway answers with that slug whatever was sent. An entry that names a model by another
    identifier keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", NAME_LIMIT)
        note = safe_line(model.id or "", NAME_LIMIT)
        if shared:
            options.setdefault(shared, PickOption(shared, title, note))
        if model.id in present and model.id:
            own = PickOption(model.id, title, f"{note}, by its identifier")
            options.setdefault(model.id, own)
    return sorted(options.values(), key=lambda option: option.title.casefold())


def _live(effect: LiveEffect, *, always: bool) -> Preview:
    """The effect of all rules on the catalog, below lists with entries, or always."""

    def preview(value: Any, values: Mapping[str, Any], _facts: Facts) -> Cell | None:
        if value is None and not always:
            return None
        return effect.note(values) or (_HINT if always else None)

    return preview


def _switch(effect: LiveEffect) -> Preview:
    """While a switch is on, what all rules leave; otherwise what the field is for."""
    return lambda value, values, _facts: effect.note(values) if value else None


@dataclass(frozen=True, slots=True)
class BoundBy:
    """The keys and members of a guardrail, as the caller read them; None if unreadable.

    ``workspace`` is the workspace whose default guardrail it is, if any; ``people`` names users.
    """

    keys: Sequence[KeyAssignment] | None = None
    members: Sequence[MemberAssignment] | None = None
    workspace: Workspace | None = None
    people: Names = field(default_factory=dict)

    def in_words(self, what: str) -> Uses:
        """The effect on keys and members: a sentence per kind, starting with ``what``."""
        lines = []
        if self.workspace is not None:
            lines.append(f"all traffic of workspace {_space(self.workspace)}")
        if self.keys:
            names = [quoted(one.key_name, one.key_label, one.key_hash) for one in self.keys]
            lines.append(f"{count(len(names), 'key')}: {several(names)}")
        if self.members:
            names = [named(one.user_id, self.people) for one in self.members]
            lines.append(f"{count(len(names), 'member')}: {several(names)}")
        sentences = [f"{what} {line}." for line in lines]
        if self.keys is None or self.members is None:
            sentences.append(
                "Some assignments could not be read: more keys and members may be affected."
            )
        return tuple(sentences)

    @property
    def uses(self) -> Uses:
        """Whom a change binds."""
        nobody = ("The guardrail is not assigned: no request is affected.",)
        return self.in_words("Applies immediately to") or nobody


def _create_effects(request: CreateGuardrailRequest, _context: PlanContext) -> Iterator[str]:
    yield "The guardrail enforces nothing until it is assigned to keys or members."
    if request.limit_usd is not None:
        yield "The cap applies to each key and each member separately."


def _update_effects(
    fresh: Guardrail, request: UpdateGuardrailRequest, _context: PlanContext
) -> Iterator[str]:
    """The added and removed entries of each list, which long lists would hide."""
    known = FIELDS.read(fresh, LISTS)
    for name in LISTS:
        label, before, after = FIELDS.labels[name], known.get(name), getattr(request, name)
        if name not in request.model_fields_set or not before:
            continue
        if after is None:
            yield f"{label}: restriction removed."
            continue
        added = [entry for entry in after if entry not in before]
        removed = [entry for entry in before if entry not in after]
        for what, entries in (("Added to", added), ("Removed from", removed)):
            if entries:
                names = several([safe_line(entry, 60) for entry in entries])
                yield f"{what} {label.lower()}: {names}."


def _delete_effects(
    _fresh: Guardrail, around: BoundBy | None, _context: PlanContext
) -> Iterator[str]:
    lost = (around or BoundBy()).in_words("Protection ends immediately for")
    yield from lost or ("The guardrail is not assigned.",)
    yield "This cannot be undone."


def _space(workspace: Workspace) -> str:
    return quoted(workspace.name, workspace.slug, workspace.id)


_FIXED_NAME = "The name of a default guardrail cannot be changed."
_UPDATE = Update(
    request=UpdateGuardrailRequest,
    effects=_update_effects,
    help="update fields; creates a default guardrail that does not exist yet",
)


@dataclass(frozen=True, kw_only=True)
class _GuardrailWrites(Writes[Guardrail]):
    """A workspace's default guardrail has a fixed name, and comes to exist with its first change.

    Only the ``row`` that was chosen tells which one that is.
    """

    row: GuardrailRow | None = None

    def for_row(self, row: GuardrailRow | None, dialect: Dialect) -> Writes[Guardrail]:
        """With the fields that the dialect knows, and in view of the row."""
        here = replace(self, fields=fields_of(dialect), row=row)
        if row is None:
            return replace(here, around=here._bound)
        update = _UPDATE
        if not row.exists:
            update = replace(update, done=lambda _before, changed: f"{here.title(changed)} set up")
        return replace(here, update=update, uses=here._bound_at_once, around=here._bound)

    def title(self, one: Any) -> str:
        """The guardrail at the beginning of a sentence: a default one by its workspace."""
        return super().title(one) if self.row is None else f"Guardrail {self.row.quoted_name}"

    async def read(self, client: GatewayClient, identity: str) -> Guardrail:
        """The guardrail as it is now; one that is not made yet restricts nothing."""
        try:
            return await super().read(client, identity)
        except NotFoundError:
            if self.row is None or self.row.exists:
                raise
            return self.row.guardrail

    def form_fields(self, context: FormContext, one: Guardrail | None) -> Iterator[Field]:
        """With what the rules leave; the name of a default guardrail as it is."""
        for each in form_fields(context, one):
            if each.name == "name" and self.row is not None and self.row.is_default:
                yield replace(each, fixed=(self.row.display_name, _FIXED_NAME))
            else:
                yield each

    def edit_form(
        self, one: Guardrail, context: FormContext, verb: Update | None = None
    ) -> FormSpec:
        """The form of an existing guardrail, or of a default one that its first change makes."""
        form = super().edit_form(one, context, verb)
        if self.row is None or not self.row.is_default:
            return form
        heading = "Edit" if self.row.exists else "Set up"
        return replace(form, title=f"{heading} guardrail {self.row.display_name}")

    def check(self, request: Any, dialect: Dialect) -> Sequence[Problem]:
        """Check for fields that the dialect refuses, and for the deprecated switch."""
        return never_sent(request, dialect)

    def sent_by_gateway(self, one: Guardrail) -> dict[str, Any]:
        """Every field that came readable: a rule that an answer leaves out is null."""
        known = self.known(one)
        return {name: known[name] for name in known if name != "workspace_id" or name in one.raw}

    def plan_update(
        self,
        fresh: Guardrail,
        request: RequestModel,
        context: PlanContext,
        uses: Uses = (),
        *,
        verb: Update | None = None,
    ) -> Plan[Guardrail]:
        """One PATCH. ``fresh`` has an id; of a default one that is not made it is the row's."""
        row = self.row
        default = row.workspace if row is not None and row.is_default else None
        if default is not None and self._is_to_be_made(fresh):
            plan = self._plan_first_update(default, request, context)
        else:
            plan = super().plan_update(fresh, request, context, uses, verb=verb)
        fixed = default is not None and "name" in request.model_fields_set
        return replace(plan, obstacles=(_FIXED_NAME,)) if fixed else plan

    def _plan_first_update(
        self, workspace: Workspace, request: RequestModel, context: PlanContext
    ) -> Plan[Guardrail]:
        """The PATCH that makes a workspace's default guardrail, under the gateway's own name."""
        identity = identity_of(workspace.default_guardrail_id, "default guardrail")
        return Plan(
            action="guardrails.edit",
            title=f"Set up the default guardrail of workspace {_space(workspace)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.first_values(request, context),
            effects=(f"Applies immediately to all traffic of workspace {_space(workspace)}.",),
            warnings=tuple(self.fields.limit_warnings({}, request)),
            summary=request.body(),
        )

    # Whom it binds now --------------------------------------------------------------------------

    async def _bound_by(self, client: GatewayClient, identity: str) -> BoundBy:
        """Read the assignments; those that cannot be read in time are None."""
        if self.row is None:
            return BoundBy(*await guardrail_bindings(client, identity))
        (keys, members), people = await asyncio.gather(
            guardrail_bindings(client, identity), people_names(client)
        )
        default = self.row.workspace if self.row.is_default else None
        return BoundBy(keys, members, default, people or {})

    async def _bound(self, client: GatewayClient, fresh: Guardrail, _at: PlanContext) -> BoundBy:
        return await self._bound_by(client, fresh.id or "")

    async def _bound_at_once(
        self, client: GatewayClient, fresh: Guardrail, at: PlanContext
    ) -> Uses:
        # The plan of a first change says itself what that binds.
        return () if self._is_to_be_made(fresh) else (await self._bound(client, fresh, at)).uses

    def _is_to_be_made(self, fresh: Guardrail) -> bool:
        return self.row is not None and not self.row.exists and fresh is self.row.guardrail


WRITES: Writes[Guardrail] = _GuardrailWrites(
    resource="guardrails",
    noun="guardrail",
    model=Guardrail,
    fields=FIELDS,
    identity=lambda guardrail: guardrail.id,
    of_row=lambda row: row.guardrail,
    service=lambda client: client.guardrails,
    feeds=(FEEDS, "workspaces"),
    create=Create(
        request=CreateGuardrailRequest,
        title=lambda request: f"Create guardrail {quoted(request.name)}",
        effects=_create_effects,
        always=("name", "workspace_id"),
        help="create a guardrail",
    ),
    update=_UPDATE,
    delete=Delete(effects=_delete_effects, kept=("name", "workspace_id")),
    implied=("limit_usd", *LISTS),
    by_row=True,
)
