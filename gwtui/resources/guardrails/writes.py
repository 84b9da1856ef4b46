"""The writes of guardrails.

See "POST /guardrails" in the contract and section 5 of the extended contract.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import Dialect
from gwtui.contract.guardrails import (
    ZDR_FIELDS,
    ZDR_XAI,
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
    Field,
    FormContext,
    PickOption,
    PlanContext,
    Preview,
    PreviewContext,
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
from gwtui.watch.hub import FeedHub, Scope

_HINT = Cell("F2 lists the allowed endpoints", "muted")


def form_fields(context: FormContext, present: Guardrail | None) -> Iterator[Field]:
    """Yield the form fields; ``present`` is the edited guardrail, None for a creation.

    Below each rule with a value, a note counts the endpoints that all rules together allow.
    """
    catalog = catalog_feed(context.hub)
    effect = LiveEffect(lambda: catalog.state.value, context.dialect)
    offers = {"models": _models(context, present), "providers": choices.providers(context)}
    for declared in fields_of(context.dialect):
        if declared.name in LISTS:
            always = declared.name == "allowed_models"
            yield replace(
                declared, choices=offers[declared.noun], preview=_live(effect, always=always)
            )
        elif declared.group == "Retention":
            yield replace(declared, preview=_switch(effect))
        else:
            yield declared


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
    """Return one option for each model, shared by its variants, with the slug as value.

    The gateway always answers with the slug. An entry that names a model by another identifier
    keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", NAME_LIMIT)
        note = safe_line(model.id or "", NAME_LIMIT)
        if shared:
            options.setdefault(shared, PickOption(shared, title, note))
        if model.id in present and model.id:
            by_id = PickOption(model.id, title, f"{note}, by its identifier")
            options.setdefault(model.id, by_id)
    return sorted(options.values(), key=lambda option: option.title.casefold())


def _live(effect: LiveEffect, *, always: bool) -> Preview:
    def preview(value: Any, values: Mapping[str, Any], _context: PreviewContext) -> Cell | None:
        if value is None and not always:
            return None
        return effect.note(values) or (_HINT if always else None)

    return preview


def _switch(effect: LiveEffect) -> Preview:
    return lambda value, values, _facts: effect.note(values) if value else None


@dataclass(frozen=True, slots=True)
class BoundBy:
    """The keys and members that a guardrail is assigned to; None if unreadable.

    ``workspace`` is set if this is the default guardrail of a workspace; ``people`` has the names
    of users.
    """

    keys: Sequence[KeyAssignment] | None = None
    members: Sequence[MemberAssignment] | None = None
    workspace: Workspace | None = None
    people: Names = field(default_factory=dict)

    def in_words(self, what: str) -> Uses:
        """Return sentences on what the guardrail applies to, each starting with ``what``.

        Empty if it is not assigned.
        """
        lines = []
        if self.workspace is not None:
            lines.append(f"all requests in workspace {_space(self.workspace)}")
        if self.keys:
            names = [quoted(key.key_name, key.key_label, key.key_hash) for key in self.keys]
            lines.append(f"{count(len(names), 'key')}: {several(names)}")
        if self.members:
            names = [named(member.user_id, self.people) for member in self.members]
            lines.append(f"{count(len(names), 'member')}: {several(names)}")
        sentences = [f"{what} {line}." for line in lines]
        unread = [
            noun
            for noun, bound in (("keys", self.keys), ("members", self.members))
            if bound is None
        ]
        if unread:
            nouns = several(unread)
            sentences.append(f"Assignments to {nouns} could not be read: {nouns} may be affected.")
        return tuple(sentences)

    @property
    def uses(self) -> Uses:
        """Sentences on the keys and members that a change affects."""
        nobody = ("The guardrail is not assigned to any key or member, so no request is affected.",)
        return self.in_words("The guardrail applies to") or nobody


def _create_effects(request: CreateGuardrailRequest, _context: PlanContext) -> Iterator[str]:
    yield "The guardrail enforces nothing until it is assigned to keys or members."
    if request.limit_usd is not None:
        yield "The cap applies to each key and each member separately."


async def _models_warning(hub: FeedHub, request: CreateGuardrailRequest) -> str:
    listed = await choices.value_soon(models_feed(hub, Scope())) or ()
    known = {name for model in listed for name in (model.id, model.canonical_slug)}
    unknown = [entry for entry in request.allowed_models or () if entry not in known]
    names = several([quoted(entry) for entry in unknown])
    return f"The gateway lists no model {names}." if known and unknown else ""


def _update_effects(
    fresh: Guardrail, request: UpdateGuardrailRequest, _context: PlanContext
) -> Iterator[str]:
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


def _update_warnings(
    fresh: Guardrail, request: UpdateGuardrailRequest, context: PlanContext
) -> Iterator[str]:
    for name in (*ZDR_FIELDS, ZDR_XAI):
        if name in request.model_fields_set and getattr(fresh, name) and not getattr(request, name):
            label = fields_of(context.dialect).labels[name]
            yield f"This guardrail will no longer enforce “{label}”."


def _delete_effects(
    _fresh: Guardrail, related: BoundBy | None, _context: PlanContext
) -> Iterator[str]:
    lost = (related or BoundBy()).in_words("The guardrail will no longer apply to")
    yield from lost or ("The guardrail is not assigned to any key or member.",)


def _space(workspace: Workspace) -> str:
    return quoted(workspace.name, workspace.slug, workspace.id)


_FIXED_NAME = "The name of a default guardrail cannot be changed."
_UPDATE = Update(
    request=UpdateGuardrailRequest,
    effects=_update_effects,
    warnings=_update_warnings,
    help="change fields; creates a default guardrail that is not set up yet",
)


@dataclass(frozen=True, kw_only=True)
class _GuardrailWrites(Writes[Guardrail]):
    """Writes of guardrails. A workspace's default guardrail cannot be renamed.

    If a workspace has no default guardrail yet, the first edit creates it. Whether a guardrail is a
    default one is only known from its row in the list (``row``), not from the guardrail itself.
    """

    row: GuardrailRow | None = None

    def for_row(self, row: GuardrailRow | None, dialect: Dialect) -> Writes[Guardrail]:
        here = replace(self, fields=fields_of(dialect), row=row)
        if row is None:
            return replace(here, read_related=here._bound)
        update = _UPDATE
        if not row.exists:
            update = replace(update, done=lambda _before, changed: f"{here.title(changed)} set up")
        return replace(here, update=update, uses=here._bound_at_once, read_related=here._bound)

    def title(self, resource: Any) -> str:
        return super().title(resource) if self.row is None else f"Guardrail {self.row.quoted_name}"

    async def read(self, client: GatewayClient, identity: str) -> Guardrail:
        """A default guardrail that does not exist yet is read as one without restrictions."""
        try:
            return await super().read(client, identity)
        except NotFoundError:
            if self.row is None or self.row.exists:
                raise
            return self.row.guardrail

    def form_fields(self, context: FormContext, resource: Guardrail | None) -> Iterator[Field]:
        for rule in form_fields(context, resource):
            if rule.name == "name" and self.row is not None and self.row.is_default:
                yield replace(rule, fixed=(self.row.display_name, _FIXED_NAME))
            else:
                yield rule

    def edit_form(
        self, resource: Guardrail, context: FormContext, verb: Update | None = None
    ) -> FormSpec:
        form = super().edit_form(resource, context, verb)
        if self.row is None or not self.row.is_default:
            return form
        heading = "Edit" if self.row.exists else "Set up"
        return replace(form, title=f"{heading} guardrail {self.row.display_name}")

    def check(self, request: Any, dialect: Dialect) -> Sequence[Problem]:
        return never_sent(request, dialect)

    def sent_by_gateway(self, resource: Guardrail) -> dict[str, Any]:
        """An omitted rule is null, so every readable field counts as sent."""
        known = self.known(resource)
        return {
            name: known[name] for name in known if name != "workspace_id" or name in resource.raw
        }

    def plan_update(
        self,
        fresh: Guardrail,
        request: RequestModel,
        context: PlanContext,
        uses: Uses = (),
        *,
        verb: Update | None = None,
    ) -> Plan[Guardrail]:
        """Plan one PATCH; for a default guardrail that does not exist yet, from its list row."""
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
        # Plan the PATCH that creates a default guardrail; the gateway sets its name.
        identity = identity_of(workspace.default_guardrail_id, "default guardrail")
        return Plan(
            action="guardrails.edit",
            title=f"Set up the default guardrail of workspace {_space(workspace)}",
            resource=self.resource,
            identity=identity,
            send=lambda client: self.service(client).update(identity, request),
            changes=self.fields.creation_changes(request, context),
            effects=(
                f"The guardrail will apply immediately to all requests in workspace "
                f"{_space(workspace)}.",
            ),
            warnings=tuple(self.fields.limit_warnings({}, request)),
            summary=request.body(),
        )

    # Affected keys and members ------------------------------------------------------------------

    async def _bound_by(self, client: GatewayClient, identity: str) -> BoundBy:
        if self.row is None:
            return BoundBy(*await guardrail_bindings(client, identity))
        (keys, members), people = await asyncio.gather(
            guardrail_bindings(client, identity), people_names(client)
        )
        default = self.row.workspace if self.row.is_default else None
        return BoundBy(keys, members, default, people)

    async def _bound(self, client: GatewayClient, fresh: Guardrail, _at: PlanContext) -> BoundBy:
        return await self._bound_by(client, fresh.id or "")

    async def _bound_at_once(
        self, client: GatewayClient, fresh: Guardrail, at: PlanContext
    ) -> Uses:
        # The plan of a first edit has its own sentence on the affected traffic.
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
        gateway_warning=_models_warning,
        help="create a guardrail",
    ),
    update=_UPDATE,
    delete=Delete(effects=_delete_effects, kept=("name", "workspace_id")),
    implied=("limit_usd", *LISTS),
    by_row=True,
)
